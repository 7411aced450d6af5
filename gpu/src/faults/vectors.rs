//! 16-byte accesses to a view that does not start at a multiple of 16 bytes.
//!
//! What is wrong: a vector access needs an address that is a multiple of its size. A buffer has one, a part of it need not.
//! A GPU ends the launch, with an error that names no line.
//!
//! [`saxpy_vectorised()`](crate::saxpy::saxpy_vectorised()) looks at the addresses, and goes by elements where it must.

use cuda_std::{Global, GlobalMut, kernel, thread};

/// `y[i] = x[first + i]`, four elements per thread. `y` has four elements per thread, and `x` as many from `first` on.
#[kernel]
pub fn vectors_misaligned(x: Global<u32>, y: GlobalMut<u32>, first: usize) {
    let i = thread::index_1d();
    let values = x.part(first, y.len()).load_vec::<4>(i); // fault: load
    y.store_vec(i, values);
}
