//! Grid: many blocks, whose threads loop by strides of the grid, so any grid covers any length.
//!
//! The kernel is limited by memory. Source: exercise 1 of Tuomanen's ch. 4. The loop follows NVIDIA's post on
//! grid-stride loops.

use cuda_std::{Global, GlobalMut, kernel, thread};

use super::Scalable;

/// Computes `y = s·x` for any length with a grid-stride loop. `x` and `y` must have the same length. Launch a
/// one-dimensional grid of any size.
#[kernel(max_threads = 1024, instances(T = [f32, i32]))]
pub fn scale_grid<T: Scalable>(s: T, x: Global<T>, y: GlobalMut<T>) {
    for i in thread::grid_stride(y.len()) {
        y.store(i, T::times(s, x.load(i)));
    }
}
