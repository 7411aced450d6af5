//! A kernel with 16-byte accesses to a view that does not start at a multiple of 16 bytes.
//!
//! Fault: the address of a vector access must be a multiple of its size. A buffer always starts at a multiple of 16
//! bytes, but a part of a buffer may not. A GPU aborts the launch, with an error that names no line.
//!
//! The correct [`saxpy_vectorised()`](crate::saxpy::saxpy_vectorised()) tests the addresses, and accesses single
//! elements if the addresses are not aligned.

use cuda_std::{Global, GlobalMut, kernel, thread};

/// Copies `x[first..]` to `y`, four elements per thread. `y` and `x[first..]` must both have four elements per thread.
#[kernel]
pub fn vectors_misaligned(x: Global<u32>, y: GlobalMut<u32>, first: usize) {
    let i = thread::index_1d();
    let values = x.part(first, y.len()).load_vec::<4>(i); // fault: load
    y.store_vec(i, values);
}
