//! Vectorised: accesses of 16 bytes, one of each vector per thread, and what is left over one element at a time.
//!
//! What it changes: a quarter of the instructions, and a grid of small blocks that is as large as it takes: a block that has
//! ended makes room for one whose loads then start.
//! Limited by memory. Views that do not start at a multiple of 16 bytes, as parts of buffers may, are moved by elements: they
//! are for [`scale_unaligned()`](super::scale_unaligned()).
//! Source: J. Luitjens, "Increase Performance with Vectorized Memory Access", NVIDIA, 2013.

use cuda_std::{Global, GlobalMut, kernel, thread};

use super::Scalable;

/// `y = s·x` by accesses of 16 bytes, `V` elements. `x` and `y` have the same length. Any one-dimensional grid; best is one that
/// has a thread for every `V` elements.
#[kernel(max_threads = 1024, items_per_thread = V, instances(T = [f32, i32], V = [4]), wide(loads, stores))]
pub fn scale_vectorised<T: Scalable, const V: usize>(s: T, x: Global<T>, y: GlobalMut<T>) {
    assert!(x.len() == y.len());
    let is_aligned = (x.as_ptr() as usize | y.as_ptr() as usize).is_multiple_of(V * size_of::<T>());
    let vectors = if is_aligned { y.len() / V } else { 0 };
    let stride = thread::grid_dim_x() as usize * thread::block_dim_x() as usize;
    let mut i = thread::index_1d();
    while i < vectors {
        // SAFETY: a whole vector of both, which are of the same length and aligned.
        let x: [T; V] = unsafe { x.load_vec_unchecked(i) };
        // SAFETY: as above.
        unsafe { y.store_vec_unchecked(i, x.map(|x| T::times(s, x))) };
        i += stride;
    }
    let mut i = vectors * V + thread::index_1d();
    while i < y.len() {
        y.store(i, T::times(s, x.load(i)));
        i += stride;
    }
}
