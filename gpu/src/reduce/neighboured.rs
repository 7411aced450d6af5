//! Neighboured: a tree in shared memory. First, every second thread combines its element with its neighbour's element.
//! Then every fourth thread combines the results of two pairs, and so on.
//!
//! This is the first version in the textbook named below. The kernel is limited by divergence. In the first steps,
//! every warp has active lanes, fewer in each step, but takes as long as a full warp. The tree keeps the order of the
//! elements, so the operator may be any associative one. After the step of stride *s*, thread *t* holds the combination
//! of `x[t..t + 2·s]`.
//!
//! Source: `reduceNeighbored` of "Professional CUDA C Programming", which works in place in global memory; Harris's
//! kernel 1.

use cuda_std::{Element, Global, GlobalMut, Shared, kernel, shared_array, thread};

use super::MAX_THREADS;
use super::tiles::combine_segment;
use crate::operator::{Affine, Compose, Operator, Sum};

/// Combines segment *b* of `x` into `y[b]` in block *b*, by a tree over neighbours. The operator may be any associative
/// one.
///
/// A segment has `segment` elements. A tile is one element per thread. The number of threads per block must be a power
/// of two; see the [module](crate::reduce).
#[kernel(
    max_threads = 1024, items_per_thread = 1,
    instances(T = [f32, i32], O = [Sum]),
    instances(T = [Affine], O = [Compose])
)]
pub fn reduce_neighboured<T: Element, O: Operator<T>>(segment: u32, x: Global<T>, y: GlobalMut<T>) {
    let shared = shared_array![T; MAX_THREADS];
    let all = combine_segment::<T, O>(segment, x, 1, |tile| {
        combine_neighbours::<T, O>(shared, tile.combine_blocks::<O, 1>())
    });
    if thread::thread_idx_x() == 0 {
        y.store(thread::block_idx_x() as usize, all);
    }
}

/// Combines one value per thread in thread order and returns the result in thread 0.
#[inline(always)]
fn combine_neighbours<T: Element, O: Operator<T>>(shared: Shared<T>, mut value: T) -> T {
    let (thread, block) = (thread::thread_idx_x() as usize, thread::block_dim_x() as usize);
    shared.store(thread, value);
    let mut stride = 1;
    while stride < block {
        thread::sync_threads();
        // Within a step, no thread reads an element that another thread writes. Threads write at multiples of 2·stride,
        // and read the elements `stride` above.
        if thread.is_multiple_of(2 * stride) {
            value = O::combine(value, shared.load(thread + stride));
            shared.store(thread, value);
        }
        stride *= 2;
    }
    value
}
