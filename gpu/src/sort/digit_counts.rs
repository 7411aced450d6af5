//! The counts of the digits of all passes, in one launch: the first step of the one-sweep sort.
//!
//! Each block counts in shared memory and adds its counts to those in global memory. The block that finishes last
//! computes the starts: the number of keys with smaller digits, for each digit of each pass.
//!
//! The kernel is limited by the additions in shared memory, one for each key and pass. Lanes with different digits
//! conflict where their counters are in the same bank. For many keys, a block therefore has several copies of its
//! counters, in neighbouring banks, and different lanes use different copies.

use core::marker::PhantomData;

use cuda_std::{Element, Global, GlobalMut, Shared, dynamic_shared, fence, kernel, shared_array, thread, unroll, warp};

use super::tuning::VECTORS;
use super::words::{CONSTANT, COUNTS, FINISHED, WORDS, starts_of};
use crate::collective::LANES;
use crate::collective::block::clear;
use crate::collective::ranks::{DIGIT_BITS, RADIX};
use crate::collective::warp::{warp_broadcast, warp_inclusive_scan};
use crate::operator::Sum;
use crate::sort_key::{Encoding, KeyBits, digit_mask};

/// Returns the number of bytes of dynamic shared memory for `copies` copies of the counters of keys of `key` bytes.
pub const fn count_bytes(copies: u32, key: usize) -> usize {
    4 * RADIX * key * copies as usize
}

/// 16 bytes of keys.
type Vector = [u32; 4];

/// Counts the digits of the encoded keys in the bits `begin..end`, [`DIGIT_BITS`] bits per pass, and writes the starts
/// of each pass to `words` ([`starts_of`]). It also sets the first set of `states`, which is half of them, to 0.
///
/// `encoding` must be the code of an [`Encoding`]. `words` must have [`WORDS`] elements as the last sort left them.
/// Launch a one-dimensional grid of any size, with [`count_bytes`] bytes of dynamic shared memory. `copies` must be a
/// power of two, at most 32. Blocks must be one-dimensional and have a multiple of 32 threads, at least [`RADIX`].
#[kernel(max_threads = 512, min_blocks = 1, instances(K = [u8, u16, u32, u64]), wide(loads))]
pub fn sort_digit_counts<K: KeyBits>(
    keys: Global<K>,
    encoding: u32,
    begin: u32,
    end: u32,
    words: GlobalMut<u64>,
    states: GlobalMut<u32>,
    copies: u32,
) {
    let threads = thread::block_dim_x() as usize;
    assert!(threads >= RADIX && threads.is_multiple_of(LANES) && thread::block_dim_y() * thread::block_dim_z() == 1);
    assert!(begin < end && end <= K::BITS && words.len() >= WORDS);
    let constant = shared_array![u32; 1];
    let counters = dynamic_shared::<u32>().part(0, RADIX * size_of::<K>() * copies as usize);
    let passes = (end - begin).div_ceil(DIGIT_BITS) as usize;
    let copy = warp::lane_id() % copies;
    let encoding = Encoding::from_code(encoding);
    let digits = Digits::<K> { counters, copies, copy, encoding, begin, end, keys: PhantomData };
    clear(counters);
    if thread::thread_idx_x() == 0 {
        constant.store(0, 0);
    }
    for word in thread::grid_stride(states.len() / 2) {
        states.store(word, 0);
    }
    thread::sync_threads();

    let (vectors, before) = vectors(keys);
    let tile = thread::block_dim_x() as usize * VECTORS;
    let tiles = vectors.len() / tile;
    let (block, blocks) = (thread::block_idx_x() as usize, thread::grid_dim_x() as usize);
    let mut number = block;
    while number < tiles {
        let mut loaded = [[0; 4]; VECTORS];
        unroll!(V in VECTORS => {
            let index = number * tile + V * threads + thread::thread_idx_x() as usize;
            // SAFETY: tile `number` is a whole tile of `vectors`, and this vector lies in it.
            loaded[V] = unsafe { vectors.load_unchecked(index) };
        });
        unroll!(V in VECTORS => {
            unroll!(I in 16 / size_of::<K>() => {
                digits.count(K::in_vector(loaded[V], I));
            });
        });
        number += blocks;
    }
    // This block processes the keys outside whole tiles, because it has one tile fewer than block 0.
    if block == tiles % blocks {
        let (start, end) = (before, before + tiles * tile * (16 / size_of::<K>()));
        for i in thread::block_stride(keys.len() - (end - start)) {
            digits.count(keys.load(if i < start { i } else { end - start + i }));
        }
    }
    thread::sync_threads();

    for slot in thread::block_stride(passes * RADIX) {
        let mut count = 0;
        for copy in 0..copies {
            // Each lane starts at another copy, in another bank.
            count += counters.load(slot * copies as usize + ((warp::lane_id() + copy) % copies) as usize);
        }
        if count > 0 {
            words.atomic_add(COUNTS + slot, u64::from(count));
        }
    }
    thread::sync_threads();
    let mut is_last = false;
    if thread::thread_idx_x() == 0 {
        fence();
        is_last = words.atomic_add(FINISHED, 1) + 1 == blocks as u64;
        fence();
    }
    if thread::sync_threads_count(is_last) == 0 {
        return;
    }
    write_starts(passes, keys.len() as u64, words, constant);
}

/// Turns the counts of each pass into starts, and sets the counts to 0. Each warp processes one pass.
///
/// `constant` must be 0. The block must execute a barrier between setting it and this call.
#[inline(always)]
fn write_starts(passes: usize, n: u64, words: GlobalMut<u64>, constant: Shared<u32>) {
    const ROWS: usize = RADIX / LANES;
    let (pass, lane) = (warp::warp_id() as usize, warp::lane_id() as usize);
    if pass < passes {
        let (first, start) = (COUNTS + pass * RADIX + lane, starts_of(pass, 0) + lane);
        let mut counts = [0; ROWS];
        unroll!(R in ROWS => { counts[R] = words.load(first + R * LANES); });
        let mut before = 0;
        unroll!(R in ROWS => {
            words.store(first + R * LANES, 0);
            let through = warp_inclusive_scan::<u64, Sum>(counts[R]);
            words.store(start + R * LANES, before + through - counts[R]);
            before += warp_broadcast(through, warp::SIZE - 1);
            if counts[R] == n {
                constant.atomic_or(0, 1 << pass);
            }
        });
    }
    thread::sync_threads();
    if thread::thread_idx_x() == 0 {
        // A pass beyond the last has no digit. It copies the keys to the other buffer.
        words.store(CONSTANT, u64::MAX << passes | u64::from(constant.load(0)));
        words.store_relaxed(FINISHED, 0);
    }
}

/// The counters of a block, and the digits that it counts.
#[derive(Clone, Copy)]
struct Digits<K> {
    counters: Shared<u32>,
    /// The number of copies of each counter, which are adjacent.
    copies: u32,
    /// The copy that the lane uses.
    copy: u32,
    encoding: Encoding,
    begin: u32,
    end: u32,
    keys: PhantomData<K>,
}

impl<K: KeyBits> Digits<K> {
    /// Adds the digits of `key` to the counters.
    #[inline(always)]
    fn count(self, key: K) {
        let key = key.encode(K::masks(self.encoding));
        for pass in 0..size_of::<K>() {
            let shift = self.begin + pass as u32 * DIGIT_BITS;
            if shift < self.end {
                let slot = (pass * RADIX) as u32 + key.digit(shift, digit_mask(self.end - shift));
                // SAFETY: a digit is below `RADIX`, and there are `RADIX` counters for each byte of a key and copy.
                unsafe { self.counters.atomic_add_unchecked((slot * self.copies + self.copy) as usize, 1) };
            }
        }
    }
}

/// Returns the whole vectors in `keys`, and the number of keys before the first vector.
#[inline(always)]
fn vectors<K: Element>(keys: Global<K>) -> (Global<Vector>, usize) {
    let size = size_of::<Vector>();
    let before = ((keys.as_ptr() as usize).wrapping_neg() % size / size_of::<K>()).min(keys.len());
    let len = (keys.len() - before) / (size / size_of::<K>());
    // SAFETY: the address `before` keys after the start is a multiple of 16 bytes, and `len` vectors follow it. If
    // there are fewer than `before` keys, `len` is 0.
    let vectors = unsafe { Global::from_raw_parts(keys.as_ptr().wrapping_add(before).cast(), len, keys.device()) };
    (vectors, before)
}
