//! Unaligned: the last rung for views that begin anywhere, by the whole vectors of *y*.
//!
//! What it changes: *y* is moved by 16 bytes from its first element on that begins a whole vector of memory. So is *x* where it
//! begins at the same place of its vector as *y*; else each of its elements is a load of its own, whose lines the next ones find
//! in the L1. The few elements before the first vector and after the last are moved one by one. A kernel of its own, which the
//! host chooses by the views' addresses: aligned views pay nothing for it.
//! Limited by memory.

use cuda_std::{Global, GlobalMut, GpuFloat, kernel, thread};

use super::Real;
use crate::collective::vectors::{before_first_vector, is_aligned, load_vector};

/// `y = a·x + y` by accesses of 16 bytes, `V` elements, wherever the views begin. `x` and `y` have the same length. Any
/// one-dimensional grid; best is one that has a thread for every `V` elements.
#[kernel(max_threads = 1024, items_per_thread = V, instances(T = [f32], V = [4]), instances(T = [f64], V = [2]), wide(loads, stores))]
pub fn saxpy_unaligned<T: Real, const V: usize>(a: T, x: Global<T>, y: GlobalMut<T>) {
    assert!(x.len() == y.len());
    let lead = before_first_vector::<T, V>(y.as_ptr() as usize).min(y.len());
    let vectors = (y.len() - lead) / V;
    let (whole_x, whole_y) = (x.part(lead, vectors * V), y.part(lead, vectors * V));
    let is_aligned = is_aligned::<T, V>(whole_x.as_ptr() as usize);
    let stride = thread::grid_dim_x() as usize * thread::block_dim_x() as usize;
    let mut i = thread::index_1d();
    while i < vectors {
        // SAFETY: a whole vector of both; that of `y` is aligned, and that of `x` if `is_aligned`.
        let (x, y_before): ([T; V], [T; V]) =
            unsafe { (load_vector(whole_x, i, is_aligned), whole_y.load_vec_unchecked(i)) };
        let sum: [T; V] = core::array::from_fn(|k| GpuFloat::mul_add(a, x[k], y_before[k]));
        // SAFETY: as above.
        unsafe { whole_y.store_vec_unchecked(i, sum) };
        i += stride;
    }
    // What is in no whole vector: the elements before the first, and then those after the last.
    let mut rest = thread::index_1d();
    while rest < y.len() - vectors * V {
        let i = if rest < lead { rest } else { rest + vectors * V };
        y.store(i, GpuFloat::mul_add(a, x.load(i), y.load(i)));
        rest += stride;
    }
}
