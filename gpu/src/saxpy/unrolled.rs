//! Unrolled: a thread loads `N` elements of each vector before it works on the first, so that more loads are in flight.
//!
//! A block takes spans of `N` times its threads, in which neighbouring threads keep neighbouring elements. Whole spans are
//! moved without a comparison; only the last one, whose end is the vectors' end, tests each element. Limited by memory.
//!
//! Source: N. Wilt, "The CUDA Handbook", ch. 11, `saxpy_unrolled<n>`. There the bound of the loop, `N − n·threads` in
//! unsigned numbers, underflows where the vectors are shorter than that; and the tail is a second loop after the first,
//! with the work written out again. Here one loop counts up to the end and asks whether a whole span is left.

use cuda_std::{Global, GlobalMut, GpuFloat, kernel, thread};

use super::Real;

/// `y = a·x + y`, a thread loading `N` elements of each vector before it works on the first. `x` and `y` have the same
/// length. Any one-dimensional grid.
#[kernel(max_threads = 512, items_per_thread = N, instances(T = [f32], N = [2, 4, 8]))]
pub fn saxpy_unrolled<T: Real, const N: usize>(a: T, x: Global<T>, y: GlobalMut<T>) {
    assert!(x.len() == y.len());
    let (n, block) = (y.len(), thread::block_dim_x() as usize);
    let (span, stride) = (N * block, N * block * thread::grid_dim_x() as usize);
    let mut start = thread::block_idx_x() as usize * span;
    while start < n {
        let first = start + thread::thread_idx_x() as usize;
        if n - start >= span {
            // SAFETY: a whole span is left, and the vectors are of the same length.
            let load = |j: usize| unsafe { (x.load_unchecked(first + j * block), y.load_unchecked(first + j * block)) };
            let loaded: [(T, T); N] = core::array::from_fn(load);
            for j in 0..N {
                let (x, y_before) = loaded[j];
                // SAFETY: as above.
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
