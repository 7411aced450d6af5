//! Vectorised: each thread processes one vector of each array in 16-byte accesses. The kernel processes the remaining
//! elements one by one.
//!
//! Compared with accesses of single elements, the kernel executes a quarter of the memory instructions (half for
//! `f64`). The grid consists of small blocks and grows with the length. When a block ends, the next block starts its
//! loads. A grid of fixed size with a grid-stride loop is slower, and so are larger blocks and more accesses per thread
//! (`docs/notes/saxpy.md`).
//!
//! The kernel is limited by memory. If a view does not start at a multiple of 16 bytes, the last block alone processes
//! it, element by element. For such views use [`saxpy_unaligned()`](super::saxpy_unaligned()).
//!
//! Source: J. Luitjens, "Increase Performance with Vectorized Memory Access", NVIDIA, 2013.

use cuda_std::{Global, GlobalMut, GpuFloat, kernel, thread};

use super::Real;
use crate::collective::vectors::is_aligned;

/// Computes `y = a·x + y` in 16-byte accesses of `V` elements. `x` and `y` must have the same length. Launch a
/// one-dimensional grid of any size. A grid with one thread per `V` elements is fastest: in a smaller grid, the last
/// block processes everything that remains.
#[kernel(max_threads = 1024, items_per_thread = V, instances(T = [f32], V = [4]), instances(T = [f64], V = [2]), wide(loads, stores))]
pub fn saxpy_vectorised<T: Real, const V: usize>(a: T, x: Global<T>, y: GlobalMut<T>) {
    let is_whole = (x.len() == y.len()) & is_aligned::<T, V>(x.as_ptr() as usize | y.as_ptr() as usize);
    let i = thread::index_1d();
    if is_whole & (i < y.len() / V) {
        // SAFETY: both views are aligned, have the same length and contain vector `i`.
        unsafe { vector::<T, V>(a, x, y, i) };
    }
    if thread::block_idx_x() + 1 != thread::grid_dim_x() {
        return;
    }
    let end = (thread::block_idx_x() as usize + 1) * thread::block_dim_x() as usize;
    if is_whole & y.len().is_multiple_of(V) & (end >= y.len() / V) {
        return;
    }
    rest::<T, V>(a, x, y, is_whole);
}

/// Processes the elements that remain after each thread of the grid has processed one vector. If `is_whole` is false,
/// all elements remain.
///
/// This code is a separate function because most threads do not need it. If it is inlined, small grids are slower when
/// the instruction caches are cold.
#[inline(never)]
fn rest<T: Real, const V: usize>(a: T, x: Global<T>, y: GlobalMut<T>, is_whole: bool) {
    assert!(x.len() == y.len());
    let block = thread::block_dim_x() as usize;
    let vectors = if is_whole { y.len() / V } else { 0 };
    let mut i = thread::index_1d() + block;
    while i < vectors {
        // SAFETY: `is_whole` is true, so both views are aligned, have the same length and contain vector `i`.
        unsafe { vector::<T, V>(a, x, y, i) };
        i += block;
    }
    let mut i = vectors * V + thread::thread_idx_x() as usize;
    while i < y.len() {
        // Uses streaming accesses, because each element is used once. They also name global memory explicitly. In a
        // function that is not inlined, the compiler does not know to which memory space the pointers belong.
        y.store_streaming(i, GpuFloat::mul_add(a, x.load_streaming(i), y.load_streaming(i)));
        i += block;
    }
}

/// Computes vector `i` of `y`.
///
/// # Safety
/// `x` and `y` must contain vector `i` and start at a multiple of 16 bytes.
#[inline(always)]
unsafe fn vector<T: Real, const V: usize>(a: T, x: Global<T>, y: GlobalMut<T>, i: usize) {
    // SAFETY: by this function's contract, both views are aligned and contain vector `i`.
    let (x, before): ([T; V], [T; V]) = unsafe { (x.load_vec_unchecked(i), y.load_vec_unchecked(i)) };
    let sum: [T; V] = core::array::from_fn(|k| GpuFloat::mul_add(a, x[k], before[k]));
    // SAFETY: by this function's contract, `y` is aligned and contains vector `i`.
    unsafe { y.store_vec_unchecked(i, sum) };
}
