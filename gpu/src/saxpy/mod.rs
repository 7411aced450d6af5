//! Computes `y = a·x + y` over two arrays of length *n*. This folder is the smallest complete example of an algorithm.
//!
//! | rung | idea | limited by |
//! |---|---|---|
//! | [`saxpy_monolithic()`] | one thread per element | memory; one thread start per element |
//! | [`saxpy_grid_stride()`] | a loop by strides of the grid: any grid covers any length | memory |
//! | [`saxpy_unrolled()`] | 2, 4 or 8 elements of each vector in flight per thread | memory |
//! | [`saxpy_vectorised()`] | 16-byte accesses, one per thread and vector | memory |
//! | [`saxpy_unaligned()`] | the last rung for views that begin at any address | memory |
//!
//! Floor (the least possible time): the device reads `x` and `y` once and writes `y` once, 12 bytes per `f32` element,
//! at its copy bandwidth. Every rung uses a fused multiply-add, which rounds once per element. The last rung is built
//! for `f64` too.
//!
//! Sources: M. Harris, "CUDA Pro Tip: Write Flexible Kernels with Grid-Stride Loops", NVIDIA, 2013; N. Wilt, "The CUDA
//! Handbook", ch. 11; J. Luitjens, "CUDA Pro Tip: Increase Performance with Vectorized Memory Access", NVIDIA, 2013.
//!
//! # Design
//!
//! The last rung of saxpy, scale and reduce has a second kernel (`…_unaligned`) for views that do not begin at a
//! multiple of 16 bytes. This kernel accesses whole vectors from the first aligned address on. The host selects the
//! kernel by the address of the view, so the kernels for aligned views need no fast path for other views.
//!
//! The blocks of `saxpy_vectorised` end after one vector per thread. Only the last block continues. It processes the
//! elements outside whole vectors, and the elements that remain if the grid has too few threads. This code is in a
//! function that is not inlined.

#![allow(clippy::needless_range_loop, reason = "an iterator over an array can put it in local memory")]

pub mod tuning;

use cuda_std::{Argument, Element, Global, GlobalMut, GpuFloat, KernelParam};

cuda_std::ladder! {
    /// Computes `y = a·x + y`: the smallest complete example.
    pub enum SaxpyRung: saxpy {
        /// Returns the kernel call of any rung except the last. The vector length of the last rung depends on the
        /// element type.
        pub fn call<'call, T: Real>(a: T, x: Global<'call, T>, y: GlobalMut<'call, T>) {
            /// One thread per element; the grid grows with the length.
            monolithic,
            /// A grid of fixed size, whose threads loop over the elements in strides of the grid.
            grid_stride,
            /// Two elements of each vector in flight per thread; bounds tests only in the last span.
            unrolled_2 = unrolled::saxpy_unrolled<2>,
            /// Four elements of each vector in flight per thread.
            unrolled_4 = unrolled::saxpy_unrolled<4>,
            /// Eight elements of each vector in flight per thread.
            unrolled_8 = unrolled::saxpy_unrolled<8>,
        }
        /// 16-byte accesses, one per thread and vector; the grid grows with the length. For f64 too.
        vectorised = saxpy_vectorised + unaligned::saxpy_unaligned,
    }
}

/// A floating-point type for vectors and for kernel arguments.
pub trait Real: Element + GpuFloat + KernelParam + Argument {}

impl Real for f32 {}
impl Real for f64 {}
