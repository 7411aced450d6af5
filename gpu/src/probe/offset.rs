//! Misaligned access: neighbouring threads take neighbouring elements, but the first is `offset` elements into the array.
//!
//! A warp whose elements do not start at a multiple of 32 bytes touches one 32-byte sector more than it needs. Its
//! neighbour needs that sector as well and mostly finds it in a cache. Source: `offset` in NVIDIA's post on access to
//! global memory.

use core::ops::Add;

use cuda_std::{Element, GlobalMut, kernel, thread};

/// `a[i + offset] += 1` for `i` below `n`. At least one thread per element; `a` has at least `n + offset` elements.
#[kernel(max_threads = 256, instances(T = [f32, f64]))]
pub fn access_offset<T: Element + Add<Output = T> + From<u8>>(n: usize, offset: usize, a: GlobalMut<T>) {
    let thread = thread::index_1d();
    if thread < n {
        let i = thread + offset;
        a.store(i, a.load(i) + T::from(1_u8));
    }
}
