//! Misaligned access: neighbouring threads access neighbouring elements, starting `offset` elements into the array.
//!
//! If the elements of a warp do not start at a multiple of 32 bytes, the warp touches one more 32-byte sector than it
//! needs. The next warp needs the same sector and usually finds it in a cache. Source: `offset` in NVIDIA's post on
//! access to global memory.

use core::ops::Add;

use cuda_std::{Element, GlobalMut, kernel, thread};

/// Adds 1 to `a[i + offset]` for every `i` below `n`. Launch at least one thread per element. `a` must have at least
/// `n + offset` elements.
#[kernel(max_threads = 256, instances(T = [f32, f64]))]
pub fn access_offset<T: Element + Add<Output = T> + From<u8>>(n: usize, offset: usize, a: GlobalMut<T>) {
    let thread = thread::index_1d();
    if thread < n {
        let i = thread + offset;
        a.store(i, a.load(i) + T::from(1_u8));
    }
}
