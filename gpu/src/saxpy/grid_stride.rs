//! Grid-stride: each thread steps through the array by the grid's width, so that any grid covers any length.
//!
//! What it changes: the grid is chosen for the machine (a few blocks per multiprocessor) and not for the problem, threads and their
//! set-up are reused, and `<<<1, 1>>>` runs the same code one element at a time, for debugging.
//! Limited by memory. Source: NVIDIA's grid-stride post.

use cuda_std::{Global, GlobalMut, GpuFloat, kernel, thread};

use super::Real;

/// `y = a·x + y` by threads that go on by strides of the grid: any grid covers any length. `x` and `y` have the same
/// length. Any one-dimensional grid.
#[kernel(max_threads = 1024, instances(T = [f32]), unsuffixed)]
pub fn saxpy_grid_stride<T: Real>(a: T, x: Global<T>, y: GlobalMut<T>) {
    for i in thread::grid_stride(y.len()) {
        y.store(i, GpuFloat::mul_add(a, x.load(i), y.load(i)));
    }
}
