//! The `volatile` warp tail: the last 64 elements of a tree by one warp, without any synchronisation.
//!
//! From: J. Cheng, M. Grossman, T. McKercher, "Professional CUDA C Programming", ch. 3, `reduceUnrollWarps8`, and M.
//! Harris's kernel 5. They declare the memory `volatile`, which keeps its accesses where they are written and orders no
//! lane after another; the plain accesses here are those that the GPU makes.
//!
//! What is wrong: it counts on lanes that run in step. Since Volta they need not, and a lane may read its neighbour's sum
//! before the neighbour has stored it. All 32 lanes also work at every step, so that one reads what another writes in the
//! same step.
//!
//! [`reduce_unrolled_last_warp()`](crate::reduce::reduce_unrolled_last_warp()) synchronises the warp between two steps, and
//! lets only the lanes below the stride work.

use cuda_std::{GlobalMut, kernel, thread};

/// `y[b]` = the sum of the elements of `x` of block *b*, with a race in its first warp. In place, one element per thread;
/// blocks of a power of two of threads, 64 or more.
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
