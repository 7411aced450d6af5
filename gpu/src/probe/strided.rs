//! Strided access: neighbouring threads take elements that are `stride` apart.
//!
//! Memory moves in sectors of 32 bytes: of each, a stride of s uses a share of 1/s, down to a single element. Source:
//! `stride` in NVIDIA's post on access to global memory.

use core::ops::Add;

use cuda_std::{Element, GlobalMut, kernel, thread};

/// `a[i·stride] += 1` for `i` below `n`. At least one thread per element; `a` has more than `(n - 1)·stride` elements.
#[kernel(max_threads = 256, instances(T = [f32, f64]))]
pub fn access_strided<T: Element + Add<Output = T> + From<u8>>(n: usize, stride: usize, a: GlobalMut<T>) {
    let thread = thread::index_1d();
    if thread < n {
        let i = thread * stride;
        a.store(i, a.load(i) + T::from(1_u8));
    }
}
