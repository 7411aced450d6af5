//! Unaligned: a variant of the vectorised kernel for views that begin at any address. It stores *y* in aligned 16-byte
//! vectors.
//!
//! The kernel stores *y* in 16-byte vectors from its first aligned address on. If *x* has the same alignment as *y*,
//! the kernel loads *x* in vectors too. Otherwise it loads each element of *x* separately; most of these loads hit the
//! L1 cache. It processes the elements before the first vector and after the last vector one by one. The host selects
//! this kernel by the views' addresses, so aligned views do not become slower.
//!
//! The kernel is limited by memory.

use cuda_std::{Global, GlobalMut, kernel, thread};

use super::Scalable;
use crate::collective::vectors::{before_first_vector, is_aligned, load_vector};

/// Computes `y = s·x` in 16-byte accesses of `V` elements, for views that begin at any address. `x` and `y` must have
/// the same length. Launch a one-dimensional grid of any size. A grid with one thread per `V` elements is fastest.
#[kernel(max_threads = 1024, items_per_thread = V, instances(T = [f32, i32], V = [4]), wide(loads, stores))]
pub fn scale_unaligned<T: Scalable, const V: usize>(s: T, x: Global<T>, y: GlobalMut<T>) {
    assert!(x.len() == y.len());
    let lead = before_first_vector::<T, V>(y.as_ptr() as usize).min(y.len());
    let vectors = (y.len() - lead) / V;
    let (whole_x, whole_y) = (x.part(lead, vectors * V), y.part(lead, vectors * V));
    let is_aligned = is_aligned::<T, V>(whole_x.as_ptr() as usize);
    let stride = thread::grid_dim_x() as usize * thread::block_dim_x() as usize;
    let mut i = thread::index_1d();
    while i < vectors {
        // SAFETY: both views contain this whole vector. `y` is aligned, and `x` is aligned if `is_aligned` is true.
        let x: [T; V] = unsafe { load_vector(whole_x, i, is_aligned) };
        // SAFETY: `whole_y` is aligned and contains vector `i`.
        unsafe { whole_y.store_vec_unchecked(i, x.map(|x| T::times(s, x))) };
        i += stride;
    }
    // Processes the elements outside whole vectors: first those before the first vector, then those after the last
    // vector.
    let mut rest = thread::index_1d();
    while rest < y.len() - vectors * V {
        let i = if rest < lead { rest } else { rest + vectors * V };
        y.store(i, T::times(s, x.load(i)));
        rest += stride;
    }
}
