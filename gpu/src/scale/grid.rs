//! Grid: blocks side by side, and each thread goes on by strides of the grid's width, so that any grid covers any length.
//!
//! Limited by memory. Source: exercise 1 of the book's ch. 4; the loop is that of NVIDIA's grid-stride post.

use cuda_std::{Global, GlobalMut, kernel, thread};

use super::Scalable;

/// `y = s·x` for any length, by blocks whose threads go on by strides of the grid. `x` and `y` have the same length. Any
/// one-dimensional grid.
#[kernel(max_threads = 1024, instances(T = [f32, i32]))]
pub fn scale_grid<T: Scalable>(s: T, x: Global<T>, y: GlobalMut<T>) {
    for i in thread::grid_stride(y.len()) {
        y.store(i, T::times(s, x.load(i)));
    }
}
