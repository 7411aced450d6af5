//! The dropped tail: a reduction that processes only whole tiles and ignores the elements after the last whole tile.
//!
//! From: J. Cheng, M. Grossman, T. McKercher, "Professional CUDA C Programming", ch. 3, `reduceUnrolling8` and
//! `reduceUnrollWarps8`. The book launches them with `grid.x / 8` blocks, rounded down.
//!
//! Fault: if the length is not a multiple of a tile, no thread reads the last elements. All accesses are valid, but the
//! sum is wrong, and only a comparison with a reference shows this. In two variants, the simulator's checks find the
//! fault:
//!
//! - If the number of partial sums is rounded up, no block writes the last one. [`sum_partials()`] then reads
//!   uninitialised memory.
//! - If the number of blocks is rounded up, the tree of the last block reads beyond the end of the array.
//!
//! The correct [`reduce_unrolled()`](crate::reduce::reduce_unrolled()) tests each element against the end of the
//! block's segment.

use cuda_std::{Global, GlobalMut, kernel, thread};

/// The number of elements that a thread combines as it loads them.
pub const ITEMS: usize = 8;

/// Writes the sum of tile *b* of `x` to `partials[b]`. The result is correct only for whole tiles. A tile has [`ITEMS`]
/// elements per thread. The kernel overwrites `x`. The number of threads per block must be a power of two.
#[kernel(max_threads = 1024)]
pub fn tail_dropped(x: GlobalMut<i32>, partials: GlobalMut<i32>) {
    let (thread, block) = (thread::thread_idx_x() as usize, thread::block_dim_x() as usize);
    let start = thread::block_idx_x() as usize * block * ITEMS;
    let first = start + thread;
    if first + (ITEMS - 1) * block < x.len() {
        let mut sum = x.load(first);
        for k in 1..ITEMS {
            sum = sum.wrapping_add(x.load(first + k * block));
        }
        x.store(first, sum);
    }
    thread::sync_threads();
    let mut stride = block / 2;
    while stride > 0 {
        if thread < stride {
            let above = x.load(first + stride); // fault: tree
            x.store(first, x.load(first).wrapping_add(above));
        }
        thread::sync_threads();
        stride /= 2;
    }
    if thread == 0 {
        partials.store(thread::block_idx_x() as usize, x.load(start));
    }
}

/// Writes the sum of the partial sums to `y[0]`. Launch one thread.
#[kernel]
pub fn sum_partials(partials: Global<i32>, y: GlobalMut<i32>) {
    let mut sum = 0_i32;
    for i in 0..partials.len() {
        sum = sum.wrapping_add(partials.load(i)); // fault: partial
    }
    y.store(0, sum);
}
