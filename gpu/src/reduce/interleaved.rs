//! Interleaved: a tree over halves. Each thread of the first half combines its element with an element of the second
//! half. Then the first quarter does this with the second quarter, and so on.
//!
//! The active threads are always the first ones. Whole warps become idle, and no warp diverges until fewer than 32
//! threads are active. Neighbouring threads access neighbouring banks. The tree combines elements that are not
//! neighbours, so the operator must be commutative. The kernel is limited by its loads, because half of the threads
//! only load.
//!
//! Source: `reduceInterleaved` of "Professional CUDA C Programming"; Harris's kernel 3.

use cuda_std::{Element, Global, GlobalMut, Shared, kernel, shared_array, thread};

use super::MAX_THREADS;
use super::tiles::combine_segment;
use crate::operator::{Operator, Sum};

/// Combines segment *b* of `x` into `y[b]` in block *b*, by a tree over halves. The operator must be commutative.
///
/// A segment has `segment` elements. A tile is one element per thread. The number of threads per block must be a power
/// of two; see the [module](crate::reduce).
#[kernel(max_threads = 1024, items_per_thread = 1, instances(T = [f32, i32], O = [Sum]))]
pub fn reduce_interleaved<T: Element, O: Operator<T>>(segment: u32, x: Global<T>, y: GlobalMut<T>) {
    let shared = shared_array![T; MAX_THREADS];
    let all =
        combine_segment::<T, O>(segment, x, 1, |tile| combine_halves::<T, O>(shared, tile.combine_blocks::<O, 1>()));
    if thread::thread_idx_x() == 0 {
        y.store(thread::block_idx_x() as usize, all);
    }
}

/// Combines one value per thread and returns the result in thread 0. The operator must be commutative, because the
/// values are not combined in thread order.
#[inline(always)]
pub(super) fn combine_halves<T: Element, O: Operator<T>>(shared: Shared<T>, mut value: T) -> T {
    const { assert!(O::COMMUTATIVE, "this rung needs a commutative operator: use `neighboured` or `shuffle`") };
    let (thread, block) = (thread::thread_idx_x() as usize, thread::block_dim_x() as usize);
    shared.store(thread, value);
    let mut stride = block / 2;
    while stride > 0 {
        thread::sync_threads();
        // Within a step, no thread reads an element that another thread writes. Threads write below the stride, and
        // read other threads' elements at or above the stride.
        if thread < stride {
            value = O::combine(value, shared.load(thread + stride));
            shared.store(thread, value);
        }
        stride /= 2;
    }
    value
}
