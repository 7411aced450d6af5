//! Vectorised: each thread processes one vector in 16-byte accesses. The kernel processes the remaining elements one by
//! one.
//!
//! Compared with accesses of single elements, the kernel executes a quarter of the memory instructions. The grid
//! consists of small blocks and grows with the length. When a block ends, the next block starts its loads.
//!
//! The kernel is limited by memory. The kernel processes views that do not start at a multiple of 16 bytes element by
//! element. For such views use [`scale_unaligned()`](super::scale_unaligned()).
//!
//! Source: J. Luitjens, "Increase Performance with Vectorized Memory Access", NVIDIA, 2013.

use cuda_std::{Global, GlobalMut, kernel, thread};

use super::Scalable;

/// Computes `y = s·x` in 16-byte accesses of `V` elements. `x` and `y` must have the same length. Launch a
/// one-dimensional grid of any size. A grid with one thread per `V` elements is fastest.
#[kernel(max_threads = 1024, items_per_thread = V, instances(T = [f32, i32], V = [4]), wide(loads, stores))]
pub fn scale_vectorised<T: Scalable, const V: usize>(s: T, x: Global<T>, y: GlobalMut<T>) {
    assert!(x.len() == y.len());
    let is_aligned = (x.as_ptr() as usize | y.as_ptr() as usize).is_multiple_of(V * size_of::<T>());
    let vectors = if is_aligned { y.len() / V } else { 0 };
    let stride = thread::grid_dim_x() as usize * thread::block_dim_x() as usize;
    let mut i = thread::index_1d();
    while i < vectors {
        // SAFETY: both views are aligned, have the same length and contain vector `i`.
        let x: [T; V] = unsafe { x.load_vec_unchecked(i) };
        // SAFETY: `y` is aligned and contains vector `i`.
        unsafe { y.store_vec_unchecked(i, x.map(|x| T::times(s, x))) };
        i += stride;
    }
    let mut i = vectors * V + thread::index_1d();
    while i < y.len() {
        y.store(i, T::times(s, x.load(i)));
        i += stride;
    }
}
