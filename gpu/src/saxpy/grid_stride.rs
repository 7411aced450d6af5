//! Grid-stride: each thread advances through the array by the total number of threads, so any grid covers any length.
//!
//! The size of the grid depends on the device (a few blocks per multiprocessor), not on the length. A thread computes
//! its indices once for many elements. For debugging, a launch `<<<1, 1>>>` runs the same code in one thread. The
//! kernel is limited by memory. Source: NVIDIA's post on grid-stride loops.

use cuda_std::{Global, GlobalMut, GpuFloat, kernel, thread};

use super::Real;

/// Computes `y = a·x + y` with a grid-stride loop, so any grid covers any length. `x` and `y` must have the same
/// length. Launch a one-dimensional grid of any size.
#[kernel(max_threads = 1024, instances(T = [f32]), unsuffixed)]
pub fn saxpy_grid_stride<T: Real>(a: T, x: Global<T>, y: GlobalMut<T>) {
    for i in thread::grid_stride(y.len()) {
        y.store(i, GpuFloat::mul_add(a, x.load(i), y.load(i)));
    }
}
