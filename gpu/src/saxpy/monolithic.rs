//! Monolithic: one thread per element, so the grid must have at least as many threads as there are elements.
//!
//! Limited by memory; each thread is short-lived, and its index arithmetic and bounds test serve one element.
//! Source: the kernel that NVIDIA's grid-stride post starts from.

use cuda_std::{Global, GlobalMut, GpuFloat, kernel, thread};

use super::Real;

/// `y = a·x + y`, one thread per element. `x` and `y` have the same length, and the grid as many threads or more.
#[kernel(max_threads = 1024, instances(T = [f32]), unsuffixed)]
pub fn saxpy_monolithic<T: Real>(a: T, x: Global<T>, y: GlobalMut<T>) {
    let i = thread::index_1d();
    if i < y.len() {
        y.store(i, GpuFloat::mul_add(a, x.load(i), y.load(i)));
    }
}
