//! Completely unrolled: the tree has at most ten steps, and the code contains each step separately. A block skips the
//! steps that need more threads than it has.
//!
//! The tree has no loop. The strides are constants and become part of the addresses. The operator must be commutative.
//! The kernel is limited by shared memory: each step waits for the stores of the step before.
//!
//! Source: `reduceCompleteUnrollWarps8` of "Professional CUDA C Programming"; Harris's kernel 6, where the block's size
//! is a template parameter, so that the tests of the size disappear too.

use cuda_std::{Element, Global, GlobalMut, Shared, kernel, shared_array, thread};

use super::tiles::combine_segment;
use super::unrolled_last_warp::combine_last_warp;
use super::{BLOCKS_ON_LOAD, MAX_THREADS};
use crate::operator::{Operator, Sum};

/// Combines segment *b* of `x` into `y[b]` in block *b*, by a tree without a loop. The operator must be commutative.
///
/// A segment has `segment` elements. A tile is [`BLOCKS_ON_LOAD`] elements per thread. The number of threads per block
/// must be a power of two; see the [module](crate::reduce).
#[kernel(max_threads = 1024, items_per_thread = BLOCKS_ON_LOAD, instances(T = [f32, i32], O = [Sum]))]
pub fn reduce_completely_unrolled<T: Element, O: Operator<T>>(segment: u32, x: Global<T>, y: GlobalMut<T>) {
    let shared = shared_array![T; MAX_THREADS];
    let all = combine_segment::<T, O>(segment, x, BLOCKS_ON_LOAD, |tile| {
        combine_halves_unrolled::<T, O>(shared, tile.combine_blocks::<O, BLOCKS_ON_LOAD>())
    });
    if thread::thread_idx_x() == 0 {
        y.store(thread::block_idx_x() as usize, all);
    }
}

#[inline(always)]
fn combine_halves_unrolled<T: Element, O: Operator<T>>(shared: Shared<T>, value: T) -> T {
    shared.store(thread::thread_idx_x() as usize, value);
    let value = step::<T, O, 512>(shared, value);
    let value = step::<T, O, 256>(shared, value);
    let value = step::<T, O, 128>(shared, value);
    let value = step::<T, O, 64>(shared, value);
    thread::sync_threads();
    combine_last_warp::<T, O>(shared, value)
}

/// Executes one step of the tree if the block is large enough for it: each thread below `STRIDE` combines its element
/// with the element `STRIDE` positions above.
#[inline(always)]
fn step<T: Element, O: Operator<T>, const STRIDE: usize>(shared: Shared<T>, mut value: T) -> T {
    let thread = thread::thread_idx_x() as usize;
    if thread::block_dim_x() as usize >= 2 * STRIDE {
        thread::sync_threads();
        if thread < STRIDE {
            value = O::combine(value, shared.load(thread + STRIDE));
            shared.store(thread, value);
        }
    }
    value
}
