//! Unrolled: each thread first combines `N` elements as it loads them. These elements are one block width apart. A tree
//! then combines the results of the threads.
//!
//! A thread has `N` independent loads in flight, and every thread combines elements. Per element, there are only 1/`N`
//! as many barriers and blocks as with one element per thread. The operator must be commutative, as for the tree over
//! halves. The kernel is limited by the tree. In its last steps only a few threads work, and the block waits for them
//! at one barrier per step.
//!
//! Source: `reduceUnrolling2`, `4` and `8` of "Professional CUDA C Programming"; Harris's kernel 4.

use cuda_std::{Element, Global, GlobalMut, kernel, shared_array, thread};

use super::MAX_THREADS;
use super::interleaved::combine_halves;
use super::tiles::combine_segment;
use crate::operator::{Operator, Sum};

/// Combines segment *b* of `x` into `y[b]` in block *b*. Each thread combines `N` elements of a tile as it loads them.
/// The operator must be commutative.
///
/// A segment has `segment` elements. A tile is `N` elements per thread. The number of threads per block must be a power
/// of two; see the [module](crate::reduce).
#[kernel(max_threads = 1024, items_per_thread = N, instances(T = [f32, i32], O = [Sum], N = [2, 4, 8]))]
pub fn reduce_unrolled<T: Element, O: Operator<T>, const N: usize>(segment: u32, x: Global<T>, y: GlobalMut<T>) {
    let shared = shared_array![T; MAX_THREADS];
    let all =
        combine_segment::<T, O>(segment, x, N, |tile| combine_halves::<T, O>(shared, tile.combine_blocks::<O, N>()));
    if thread::thread_idx_x() == 0 {
        y.store(thread::block_idx_x() as usize, all);
    }
}
