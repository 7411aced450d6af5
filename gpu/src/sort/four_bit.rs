//! Four bits: sorts by four bits at a time, in three launches per pass. The second launch is a scan.
//!
//! Each block counts the digits of its tile. The counts are in the order of the digits, and those of a digit in the
//! order of the blocks. Their exclusive scan is therefore the index of the first key of each digit and block. A block
//! then sorts its tile in shared memory, by four splits by one bit, so that its stores of one digit are adjacent.
//!
//! The speed is limited by memory. Each of the 8 passes reads all keys twice and writes them once.
//!
//! Source: N. Satish, M. Harris, M. Garland, "Designing Efficient Sorting Algorithms for Manycore GPUs", IPDPS 2009.

use cuda_std::{Global, GlobalMut, kernel, shared_array, thread};

use crate::collective::arrangement::load_blocked;
use crate::collective::block::{MAX_WARPS, block_exclusive_scan};
use crate::operator::Sum;

/// The number of bits of a digit.
pub const FOUR_BITS: u32 = 4;

/// The number of values of a digit.
pub const DIGITS: usize = 1 << FOUR_BITS;

/// The number of threads per block of both kernels.
pub const FOUR_BIT_THREADS: u32 = 256;

/// The number of keys per thread.
const ITEMS: usize = 4;

/// The number of keys in a tile, one tile per block.
pub const FOUR_BIT_TILE: usize = FOUR_BIT_THREADS as usize * ITEMS;

/// Counts the digits of each block's tile: writes the number of keys of block *b* with digit *d* to `counts[d·B + b]`
/// for a grid of *B* blocks.
///
/// The digit has the four bits from `shift` on. `counts` must have [`DIGITS`] elements per block. Launch a
/// one-dimensional grid with one block of [`FOUR_BIT_THREADS`] threads per tile of [`FOUR_BIT_TILE`] keys.
#[kernel(max_threads = 256)]
pub fn sort_four_bit_counts(keys: Global<u32>, shift: u32, counts: GlobalMut<u32>) {
    let counters = shared_array![u32; DIGITS];
    let (block, thread) = (thread::block_idx_x() as usize, thread::thread_idx_x() as usize);
    if thread < DIGITS {
        counters.store(thread, 0);
    }
    thread::sync_threads();
    let first = block * FOUR_BIT_TILE;
    for i in thread::block_stride(FOUR_BIT_TILE.min(keys.len() - first)) {
        counters.atomic_add(digit_of(keys.load(first + i), shift), 1);
    }
    thread::sync_threads();
    if thread < DIGITS {
        counts.store(thread * thread::grid_dim_x() as usize + block, counters.load(thread));
    }
}

/// Moves each key to its place in the order of the digit. `starts` must be the exclusive scan of the counts of
/// [`sort_four_bit_counts()`]. `keys_out` must be as long as `keys`. The launch must be that of
/// [`sort_four_bit_counts()`].
#[kernel(max_threads = 256)]
pub fn sort_four_bit_move(keys: Global<u32>, shift: u32, starts: Global<u32>, keys_out: GlobalMut<u32>) {
    assert!(thread::block_size() == FOUR_BIT_THREADS);
    let sorted = shared_array![u32; FOUR_BIT_TILE];
    let sums = shared_array![u32; MAX_WARPS];
    let offsets = shared_array![u32; DIGITS];
    let thread = thread::thread_idx_x() as usize;
    let first = thread::block_idx_x() as usize * FOUR_BIT_TILE;
    // Keys beyond the end have the greatest digit and come last, so they stay beyond the end.
    let mut own = load_blocked::<u32, ITEMS>(keys, first, u32::MAX);
    for bit in shift..shift + FOUR_BITS {
        let mut zeros = 0;
        for i in 0..ITEMS {
            zeros += 1 - (own[i] >> bit & 1);
        }
        let (mut before, all) = block_exclusive_scan::<u32, Sum>(sums, zeros);
        for i in 0..ITEMS {
            let is_zero = own[i] >> bit & 1 == 0;
            let position = (thread * ITEMS + i) as u32;
            sorted.store(if is_zero { before } else { all + position - before } as usize, own[i]);
            before += u32::from(is_zero);
        }
        thread::sync_threads();
        for i in 0..ITEMS {
            own[i] = sorted.load(thread * ITEMS + i);
        }
    }

    for i in thread::block_stride(FOUR_BIT_TILE) {
        let digit = digit_of(sorted.load(i), shift);
        if i == 0 || digit_of(sorted.load(i - 1), shift) != digit {
            let start = starts.load(digit * thread::grid_dim_x() as usize + thread::block_idx_x() as usize);
            offsets.store(digit, start.wrapping_sub(i as u32));
        }
    }
    thread::sync_threads();
    for i in thread::block_stride(FOUR_BIT_TILE.min(keys.len() - first)) {
        let key = sorted.load(i);
        keys_out.store(offsets.load(digit_of(key, shift)).wrapping_add(i as u32) as usize, key);
    }
}

/// Returns the digit of a key.
#[inline(always)]
fn digit_of(key: u32, shift: u32) -> usize {
    (key >> (shift & 31)) as usize % DIGITS
}
