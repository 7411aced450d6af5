//! Grid: blocks side by side, and each thread goes on by strides of the grid's width, so that any grid covers any length.
//!
//! Limited by memory. Source: exercise 1 of the book's ch. 4; the loop is that of NVIDIA's grid-stride post.

use cuda_std::{Argument, Element, Global, GlobalMut, KernelParam, kernel, thread};

use crate::operator::{Operator, Product};

/// `y = s·x` for any length, by blocks whose threads go on by strides of the grid. `x` and `y` have the same length. Any
/// one-dimensional grid.
#[kernel(max_threads = 1024, instances(T = [f32, i32]))]
pub fn scale_grid<T>(s: T, x: Global<T>, y: GlobalMut<T>)
where
    T: Element + KernelParam + Argument,
    Product: Operator<T>,
{
    for i in thread::grid_stride(y.len()) {
        y.store(i, Product::combine(s, x.load(i)));
    }
}
