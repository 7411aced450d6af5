//! `y = a·x + y` over two arrays of length *n*: the smallest complete example of an algorithm's folder.
//!
//! | rung | idea | limited by |
//! |---|---|---|
//! | [`saxpy_monolithic()`] | a thread an element | memory; a launch of as many threads as elements |
//! | [`saxpy_grid_stride()`] | any grid covers any length | memory |
//! | [`saxpy_unrolled()`] | 2, 4 or 8 elements of each vector in flight | memory |
//! | [`saxpy_vectorised()`] | 16-byte accesses, one of each vector a thread | memory |
//!
//! Floor: `x` and `y` are read once and `y` is written once, 12 bytes an element of single precision, at the device's copy
//! speed. Every rung rounds once an element (`fma`). The last rung is built for doubles too.
//!
//! Sources: M. Harris, "CUDA Pro Tip: Write Flexible Kernels with Grid-Stride Loops", NVIDIA, 2013;
//! N. Wilt, "The CUDA Handbook", ch. 11; J. Luitjens, "CUDA Pro Tip: Increase Performance with Vectorized Memory Access",
//! NVIDIA, 2013.

#![allow(clippy::needless_range_loop, reason = "an iterator over an array can put it in local memory")]

mod grid_stride;
mod monolithic;
mod unrolled;
mod vectorised;

pub use grid_stride::saxpy_grid_stride;
pub use monolithic::saxpy_monolithic;
pub use unrolled::saxpy_unrolled;
pub use vectorised::saxpy_vectorised;

use cuda_std::{Argument, Element, GpuFloat, KernelParam};

cuda_std::kernels! {
    /// `y = a·x + y`, the smallest complete example.
    saxpy_monolithic,
    saxpy_grid_stride,
    saxpy_unrolled,
    saxpy_vectorised,
}

/// A float that a vector may be made of, and that a kernel may be given.
pub trait Real: Element + GpuFloat + KernelParam + Argument {}

impl Real for f32 {}
impl Real for f64 {}
