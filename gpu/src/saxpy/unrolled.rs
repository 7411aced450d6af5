//! Unrolled: a thread loads `N` elements of each vector before it computes the first result, so that more loads are in
//! flight.
//!
//! A block processes the vectors in spans of `N` elements per thread. Within a span, neighbouring threads access
//! neighbouring elements. Whole spans need no bounds tests. In the last span, which may be incomplete, each thread
//! tests each element. The kernel is limited by memory.
//!
//! Source: N. Wilt, "The CUDA Handbook", ch. 11, `saxpy_unrolled<n>`. In the book, the unsigned loop bound `N −
//! n·threads` underflows if the vectors are shorter than `n·threads`. A second loop with a second copy of the body
//! processes the tail. This kernel has one loop up to the end, which tests in each pass whether a whole span remains.

use cuda_std::{Global, GlobalMut, GpuFloat, kernel, thread};

use super::Real;

/// Computes `y = a·x + y` with `N` elements of each vector in flight per thread. `x` and `y` must have the same
/// length. Launch a one-dimensional grid of any size.
#[kernel(max_threads = 512, items_per_thread = N, instances(T = [f32], N = [2, 4, 8]))]
pub fn saxpy_unrolled<T: Real, const N: usize>(a: T, x: Global<T>, y: GlobalMut<T>) {
    assert!(x.len() == y.len());
    let (n, block) = (y.len(), thread::block_dim_x() as usize);
    let (span, stride) = (N * block, N * block * thread::grid_dim_x() as usize);
    let mut start = thread::block_idx_x() as usize * span;
    while start < n {
        let first = start + thread::thread_idx_x() as usize;
        if n - start >= span {
            // SAFETY: a whole span remains, and both vectors have the same length.
            let load = |j: usize| unsafe { (x.load_unchecked(first + j * block), y.load_unchecked(first + j * block)) };
            let loaded: [(T, T); N] = core::array::from_fn(load);
            for j in 0..N {
                let (x, y_before) = loaded[j];
                // SAFETY: a whole span remains in `y`, so this index is below its length.
                unsafe { y.store_unchecked(first + j * block, GpuFloat::mul_add(a, x, y_before)) };
            }
        } else {
            for j in 0..N {
                let i = first + j * block;
                if i < n {
                    y.store(i, GpuFloat::mul_add(a, x.load(i), y.load(i)));
                }
            }
        }
        start += stride;
    }
}
