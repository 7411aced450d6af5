//! Vectorised: accesses of 16 bytes, one of each vector per thread, and what is left over one element at a time.
//!
//! What it changes: a quarter of the instructions (half for doubles), and a grid of small blocks that is as large as it takes:
//! a block that has ended makes room for one whose loads then start. A grid of fixed size whose threads go on by strides is
//! slower, and so are larger blocks and more accesses per thread (`docs/notes/saxpy.md`).
//! Limited by memory. Views that do not start at a multiple of 16 bytes, as parts of buffers may, are left to the last block, and it
//! moves them by elements: they are for [`saxpy_unaligned()`](super::saxpy_unaligned()).
//! Source: J. Luitjens, "Increase Performance with Vectorized Memory Access", NVIDIA, 2013.

use cuda_std::{Global, GlobalMut, GpuFloat, kernel, thread};

use super::Real;
use crate::collective::vectors::is_aligned;

/// `y = a·x + y` by accesses of 16 bytes, `V` elements. `x` and `y` have the same length. Any one-dimensional grid; best is
/// one that has a thread for every `V` elements: in a smaller one, the last block takes all that is left.
#[kernel(max_threads = 1024, items_per_thread = V, instances(T = [f32], V = [4]), instances(T = [f64], V = [2]), wide(loads, stores))]
pub fn saxpy_vectorised<T: Real, const V: usize>(a: T, x: Global<T>, y: GlobalMut<T>) {
    let is_whole = (x.len() == y.len()) & is_aligned::<T, V>(x.as_ptr() as usize | y.as_ptr() as usize);
    let i = thread::index_1d();
    if is_whole & (i < y.len() / V) {
        // SAFETY: a whole vector of both, which are of the same length and aligned.
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

/// What the last block takes beside a vector per thread: the vectors behind those, and the elements that are in none; or, unless
/// `is_whole`, all elements.
///
/// A function of its own: where caches are cold, instructions that most threads do not need make a small grid slower.
#[inline(never)]
fn rest<T: Real, const V: usize>(a: T, x: Global<T>, y: GlobalMut<T>, is_whole: bool) {
    assert!(x.len() == y.len());
    let block = thread::block_dim_x() as usize;
    let vectors = if is_whole { y.len() / V } else { 0 };
    let mut i = thread::index_1d() + block;
    while i < vectors {
        // SAFETY: a whole vector of both, which are of the same length and aligned.
        unsafe { vector::<T, V>(a, x, y, i) };
        i += block;
    }
    let mut i = vectors * V + thread::thread_idx_x() as usize;
    while i < y.len() {
        // Streaming accesses, since each element is met once, and since they name global memory: of what a function is passed, the
        // compiler does not know the memory.
        y.store_streaming(i, GpuFloat::mul_add(a, x.load_streaming(i), y.load_streaming(i)));
        i += block;
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
