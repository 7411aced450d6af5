//! Strided access: neighbouring threads access elements that are `stride` apart.
//!
//! Memory transfers 32-byte sectors. With a stride of s, a warp uses 1/s of each sector that it transfers, but at least
//! one element. Source: `stride` in NVIDIA's post on access to global memory.

use core::ops::Add;

use cuda_std::{Element, GlobalMut, kernel, thread};

/// Adds 1 to `a[i·stride]` for every `i` below `n`. Launch at least one thread per element. `a` must have more than
/// `(n - 1)·stride` elements.
#[kernel(max_threads = 256, instances(T = [f32, f64]))]
pub fn access_strided<T: Element + Add<Output = T> + From<u8>>(n: usize, stride: usize, a: GlobalMut<T>) {
    let thread = thread::index_1d();
    if thread < n {
        let i = thread * stride;
        a.store(i, a.load(i) + T::from(1_u8));
    }
}
