//! Vectorised: accesses of 16 bytes, one of each vector per thread, and what is left over one element at a time.
//!
//! What it changes: a quarter of the instructions (half for doubles), and a grid of small blocks that is as large as it takes:
//! a block that has ended makes room for one whose loads then start. A grid of fixed size whose threads go on by strides is
//! slower, and so are larger blocks and more accesses per thread (`docs/notes/saxpy.md`).
//! Limited by memory. Views that do not start at a multiple of 16 bytes, as parts of buffers may, are moved by elements: they
//! are for [`saxpy_unaligned()`](super::saxpy_unaligned()).
//! Source: J. Luitjens, "Increase Performance with Vectorized Memory Access", NVIDIA, 2013.

use cuda_std::{Global, GlobalMut, GpuFloat, kernel, thread};

use super::Real;
use crate::collective::vectors::is_aligned;

/// `y = a·x + y` by accesses of 16 bytes, `V` elements. `x` and `y` have the same length. Any one-dimensional grid; best is
/// one that has a thread for every `V` elements.
#[kernel(max_threads = 1024, items_per_thread = V, instances(T = [f32], V = [4]), instances(T = [f64], V = [2]), wide(loads, stores))]
pub fn saxpy_vectorised<T: Real, const V: usize>(a: T, x: Global<T>, y: GlobalMut<T>) {
    let is_whole = (x.len() == y.len()) & is_aligned::<T, V>(x.as_ptr() as usize | y.as_ptr() as usize);
    let mut i = thread::index_1d();
    if is_whole & (i < y.len() / V) {
        // SAFETY: a whole vector of both, which are of the same length and aligned.
        unsafe { vector::<T, V>(a, x, y, i) };
    }
    let stride = thread::grid_dim_x() as usize * thread::block_dim_x() as usize;
    if is_whole & y.len().is_multiple_of(V) & (stride >= y.len() / V) {
        return;
    }
    // Behind the first vector, so that its loads begin early: where caches are cold, each instruction before them comes from memory.
    core::hint::cold_path();
    assert!(x.len() == y.len());
    let vectors = if is_whole { y.len() / V } else { 0 };
    while i + stride < vectors {
        i += stride;
        // SAFETY: as above.
        unsafe { vector::<T, V>(a, x, y, i) };
    }
    let mut i = vectors * V + thread::index_1d();
    while i < y.len() {
        y.store(i, GpuFloat::mul_add(a, x.load(i), y.load(i)));
        i += stride;
    }
}

/// Vector `i` of `y`.
///
/// # Safety
/// Both must have it, and begin at a multiple of 16 bytes.
#[inline(always)]
unsafe fn vector<T: Real, const V: usize>(a: T, x: Global<T>, y: GlobalMut<T>, i: usize) {
    // SAFETY: the caller's word.
    let (x, before): ([T; V], [T; V]) = unsafe { (x.load_vec_unchecked(i), y.load_vec_unchecked(i)) };
    let sum: [T; V] = core::array::from_fn(|k| GpuFloat::mul_add(a, x[k], before[k]));
    // SAFETY: as above.
    unsafe { y.store_vec_unchecked(i, sum) };
}
