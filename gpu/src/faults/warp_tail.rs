//! The `volatile` warp tail: one warp combines the last 64 elements of a tree, without any synchronisation.
//!
//! From: J. Cheng, M. Grossman, T. McKercher, "Professional CUDA C Programming", ch. 3, `reduceUnrollWarps8`, and M.
//! Harris's kernel 5. Both sources declare the memory `volatile`. This keeps the accesses of a lane in program order,
//! but does not order the accesses of different lanes. This kernel uses plain accesses instead; the GPU executes the
//! same loads and stores.
//!
//! Fault: the code assumes that the lanes of a warp run in lockstep. Since Volta this is not guaranteed, and a lane may
//! read its neighbour's sum before the neighbour has stored it. All 32 lanes also work at every step, so one lane reads
//! an element that another lane writes in the same step.
//!
//! [`reduce_unrolled_last_warp()`](crate::reduce::reduce_unrolled_last_warp()) is correct: it synchronises the warp
//! between two steps, and only the lanes below the stride work.

use cuda_std::{GlobalMut, kernel, thread};

/// Writes the sum of the elements of block *b* to `y[b]`, with a race in the first warp. A block has one element of `x`
/// per thread, and the kernel overwrites `x`. The number of threads per block must be a power of two, at least 64.
#[kernel(max_threads = 1024)]
pub fn warp_tail_unsynchronised(x: GlobalMut<i32>, y: GlobalMut<i32>) {
    let (thread, block) = (thread::thread_idx_x() as usize, thread::block_dim_x() as usize);
    let tile = x.part(thread::block_idx_x() as usize * block, block);
    let mut stride = block / 2;
    while stride > 32 {
        if thread < stride {
            tile.store(thread, tile.load(thread).wrapping_add(tile.load(thread + stride)));
        }
        thread::sync_threads();
        stride /= 2;
    }
    if thread < 32 {
        let mut stride = 32;
        while stride > 0 {
            let above = tile.load(thread + stride); // fault: read
            tile.store(thread, tile.load(thread).wrapping_add(above)); // fault: write
            stride /= 2;
        }
    }
    if thread == 0 {
        y.store(thread::block_idx_x() as usize, tile.load(0));
    }
}
