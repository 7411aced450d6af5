//! Monolithic: one thread per element, so the grid must have at least as many threads as the array has elements.
//!
//! The kernel is limited by memory. Each thread computes an index and tests it for a single element, and then ends.
//! Source: the first kernel of NVIDIA's post on grid-stride loops.

use cuda_std::{Global, GlobalMut, GpuFloat, kernel, thread};

use super::Real;

/// Computes `y = a·x + y`, one thread per element. `x` and `y` must have the same length. Launch at least one thread
/// per element.
#[kernel(max_threads = 1024, instances(T = [f32]), unsuffixed)]
pub fn saxpy_monolithic<T: Real>(a: T, x: Global<T>, y: GlobalMut<T>) {
    let i = thread::index_1d();
    if i < y.len() {
        y.store(i, GpuFloat::mul_add(a, x.load(i), y.load(i)));
    }
}
