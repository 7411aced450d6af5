//! Vectorised: accesses of 16 bytes, one of each vector per thread, and what is left over one element at a time.
//!
//! What it changes: a quarter of the instructions (half for doubles), and a grid of small blocks that is as large as it takes:
//! a block that has ended makes room for one whose loads then start. A grid of fixed size whose threads go on by strides is
//! slower, and so are larger blocks and more accesses per thread (`docs/notes/saxpy.md`).
//! Limited by memory. Views that do not start at a multiple of 16 bytes, as parts of buffers may, are moved by vectors from their
//! first multiple on, or by elements where those of x and y differ.
//! Source: J. Luitjens, "Increase Performance with Vectorized Memory Access", NVIDIA, 2013.

use cuda_std::{Global, GlobalMut, GpuFloat, kernel, thread};

use super::Real;

/// `y = a·x + y` by accesses of 16 bytes, `V` elements. `x` and `y` have the same length. Any one-dimensional grid; best is
/// one that has a thread for every `V` elements.
#[kernel(max_threads = 1024, items_per_thread = V, instances(T = [f32], V = [4]), instances(T = [f64], V = [2]), wide(loads, stores))]
pub fn saxpy_vectorised<T: Real, const V: usize>(a: T, x: Global<T>, y: GlobalMut<T>) {
    // With cold caches instructions come from memory, too: so few stand before the loads, and what most threads need not do is
    // a function of its own.
    let (i, vectors) = (thread::index_1d(), y.len() / V);
    let is_aligned =
        (x.as_ptr() as usize | y.as_ptr() as usize).is_multiple_of(V * size_of::<T>()) && x.len() == y.len();
    if is_aligned && i < vectors {
        // SAFETY: a whole vector of both, which are of the same length and aligned.
        unsafe { combine_vector::<T, V>(a, x, y, i) };
    }
    let threads = thread::grid_dim_x() as usize * thread::block_dim_x() as usize;
    if !is_aligned || threads < vectors.max(V) || i < y.len() % V {
        combine_rest::<T, V>(a, x, y, if is_aligned { i + threads } else { i });
    }
}

/// What the grid's threads have not done with their first vectors: the vectors from `vector` on for this thread, and its share of
/// the elements that are in none.
#[inline(never)]
fn combine_rest<T: Real, const V: usize>(a: T, x: Global<T>, y: GlobalMut<T>, vector: usize) {
    assert!(x.len() == y.len());
    let (size, threads) = (V * size_of::<T>(), thread::grid_dim_x() as usize * thread::block_dim_x() as usize);
    let (from_x, from_y) = (x.as_ptr() as usize % size, y.as_ptr() as usize % size);
    // Elements before the first that begins a vector of both. There is none if they lie at different places in a vector.
    let lead = if from_x == from_y { (size - from_x) % size / size_of::<T>() } else { y.len() }.min(y.len());
    let vectors = (y.len() - lead) / V;
    // SAFETY: the elements of both from `lead` on.
    let (x_vectors, y_vectors) = unsafe {
        (
            Global::from_raw_parts(x.as_ptr().wrapping_add(lead), x.len() - lead, x.device()),
            GlobalMut::from_raw_parts(y.as_ptr().wrapping_add(lead), y.len() - lead, y.device()),
        )
    };
    let mut i = vector;
    while i < vectors {
        // SAFETY: a whole vector of both, which begin at a multiple of its size.
        unsafe { combine_vector::<T, V>(a, x_vectors, y_vectors, i) };
        i += threads;
    }
    let mut i = thread::index_1d();
    while i < y.len() - vectors * V {
        let element = if i < lead { i } else { i + vectors * V };
        y.store(element, GpuFloat::mul_add(a, x.load(element), y.load(element)));
        i += threads;
    }
}

/// Vector `i` of `y`.
///
/// # Safety
/// Both must have it, and begin at a multiple of its size.
#[inline(always)]
unsafe fn combine_vector<T: Real, const V: usize>(a: T, x: Global<T>, y: GlobalMut<T>, i: usize) {
    // SAFETY: the caller's.
    let (x, y_before): ([T; V], [T; V]) = unsafe { (x.load_vec_unchecked(i), y.load_vec_unchecked(i)) };
    let sum: [T; V] = core::array::from_fn(|k| GpuFloat::mul_add(a, x[k], y_before[k]));
    // SAFETY: the caller's.
    unsafe { y.store_vec_unchecked(i, sum) };
}
