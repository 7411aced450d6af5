//! Unrolled last warp: each thread loads eight items. One warp combines the last 64 elements of the tree, without block
//! barriers and without a loop.
//!
//! This saves six barriers, at which all warps would wait for one warp. Between two steps, the warp must synchronise
//! its lanes. The textbooks omit this synchronisation and declare the memory `volatile`. That was correct while the
//! lanes of a warp ran in lockstep. Since Volta, lanes may run separately, and a lane may read an element that another
//! lane has not written yet. In the textbooks, all 32 lanes also work at every step, so a lane reads an element that
//! another lane writes in the same step. Here only the lanes below the stride work, so one synchronisation per step is
//! enough.
//!
//! The operator must be commutative. The kernel is limited by the loop over the steps of the tree before the last warp.
//!
//! Source: `reduceUnrollWarps8` of "Professional CUDA C Programming"; Harris's kernel 5.

use cuda_std::{Element, Global, GlobalMut, Shared, kernel, shared_array, thread, warp};

use super::tiles::combine_segment;
use super::{BLOCKS_ON_LOAD, MAX_THREADS};
use crate::operator::{Operator, Sum};

/// Combines segment *b* of `x` into `y[b]` in block *b*. One warp combines the last 64 elements of the tree. The
/// operator must be commutative.
///
/// A segment has `segment` elements. A tile is [`BLOCKS_ON_LOAD`] elements per thread. The number of threads per block
/// must be a power of two; see the [module](crate::reduce).
#[kernel(max_threads = 1024, items_per_thread = BLOCKS_ON_LOAD, instances(T = [f32, i32], O = [Sum]))]
pub fn reduce_unrolled_last_warp<T: Element, O: Operator<T>>(segment: u32, x: Global<T>, y: GlobalMut<T>) {
    let shared = shared_array![T; MAX_THREADS];
    let all = combine_segment::<T, O>(segment, x, BLOCKS_ON_LOAD, |tile| {
        combine_halves_but_last::<T, O>(shared, tile.combine_blocks::<O, BLOCKS_ON_LOAD>())
    });
    if thread::thread_idx_x() == 0 {
        y.store(thread::block_idx_x() as usize, all);
    }
}

#[inline(always)]
fn combine_halves_but_last<T: Element, O: Operator<T>>(shared: Shared<T>, mut value: T) -> T {
    let (thread, block) = (thread::thread_idx_x() as usize, thread::block_dim_x() as usize);
    shared.store(thread, value);
    let mut stride = block / 2;
    while stride > 32 {
        thread::sync_threads();
        if thread < stride {
            value = O::combine(value, shared.load(thread + stride));
            shared.store(thread, value);
        }
        stride /= 2;
    }
    thread::sync_threads();
    combine_last_warp::<T, O>(shared, value)
}

/// Combines the first 64 elements of `shared` in the first warp and returns the result in thread 0. If the block has
/// fewer than 64 threads, combines one element per thread.
///
/// `value` must be the calling thread's element of `shared`. The block must execute a barrier after the stores to
/// `shared` and before this call.
#[inline(always)]
pub(super) fn combine_last_warp<T: Element, O: Operator<T>>(shared: Shared<T>, value: T) -> T {
    const { assert!(O::COMMUTATIVE, "this rung needs a commutative operator: use `neighboured` or `shuffle`") };
    if thread::thread_idx_x() >= warp::SIZE {
        return value;
    }
    let value = step_in_warp::<T, O, 32>(shared, value);
    let value = step_in_warp::<T, O, 16>(shared, value);
    let value = step_in_warp::<T, O, 8>(shared, value);
    let value = step_in_warp::<T, O, 4>(shared, value);
    let value = step_in_warp::<T, O, 2>(shared, value);
    step_in_warp::<T, O, 1>(shared, value)
}

/// Executes one step of the tree if the block has enough threads: each lane below `STRIDE` combines its element with
/// the element `STRIDE` positions above. Afterwards, the results are visible to the whole warp.
#[inline(always)]
fn step_in_warp<T: Element, O: Operator<T>, const STRIDE: usize>(shared: Shared<T>, mut value: T) -> T {
    let thread = thread::thread_idx_x() as usize;
    if thread::block_dim_x() as usize >= 2 * STRIDE {
        if thread < STRIDE {
            value = O::combine(value, shared.load(thread + STRIDE));
        }
        // No thread reads the element that the last step would write.
        if STRIDE > 1 {
            if thread < STRIDE {
                shared.store(thread, value);
            }
            warp::sync_warp(warp::FULL_MASK);
        }
    }
    value
}
