//! The dropped tail: a reduction that takes whole tiles alone, and leaves out the elements after the last of them.
//!
//! From: J. Cheng, M. Grossman, T. McKercher, "Professional CUDA C Programming", ch. 3, `reduceUnrolling8` and
//! `reduceUnrollWarps8`, which are launched with `grid.x / 8` blocks, rounded down.
//!
//! What is wrong: where the length is no multiple of a tile, nobody reads the last elements. That breaks no rule of
//! memory, so that a launch alone cannot show it: the sum is wrong, and it takes a comparison with a reference to see
//! that. Two things can be seen in the kernels themselves.
//! - With a partial sum for each tile that there is, the last one is never written, and [`sum_partials()`] reads memory
//!   that nobody wrote.
//! - With the grid rounded up, the last block's tree reads past the end of the array.
//!
//! [`reduce_unrolled()`](crate::reduce::reduce_unrolled()) asks for each element whether the block has it.

use cuda_std::{Global, GlobalMut, kernel, thread};

/// Elements that a thread combines as it loads them.
pub const ITEMS: usize = 8;

/// `partials[b]` = the sum of tile *b* of `x`, which is [`ITEMS`] elements per thread: right for whole tiles only. In place;
/// blocks of a power of two of threads.
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

/// `y[0]` = the sum of the partial sums. One thread.
#[kernel]
pub fn sum_partials(partials: Global<i32>, y: GlobalMut<i32>) {
    let mut sum = 0_i32;
    for i in 0..partials.len() {
        sum = sum.wrapping_add(partials.load(i)); // fault: partial
    }
    y.store(0, sum);
}
