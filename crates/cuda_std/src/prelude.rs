//! What most kernels use: `use cuda_std::prelude::*`.
//!
//! ```
//! use cuda_std::prelude::*;
//!
//! /// `y[i] = a·x[i] + y[i]` for every `i`; any grid.
//! #[kernel]
//! pub fn saxpy(a: f32, x: Global<f32>, y: GlobalMut<f32>) {
//!     for i in thread::grid_stride(y.len()) {
//!         y.store(i, GpuFloat::mul_add(a, x.load(i), y.load(i)));
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! A crate that is not `no_std` on the host has another `println!` from there, and the compiler asks which is meant: `use
//! cuda_std::println` says it.

#[doc(no_inline)]
pub use crate::{
    Atomic, AtomicInteger, Global, GlobalMut, GpuFloat, Shared, dynamic_shared, fence, kernel, println, shared_array,
    thread, warp,
};
