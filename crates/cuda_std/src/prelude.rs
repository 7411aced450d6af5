//! The items that most kernels use: `use cuda_std::prelude::*`.
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
//! In a kernel or under `#[device]`, macros such as `println!` and `assert!` are those of this crate. Elsewhere, a
//! crate that is not `no_std` on the host also has the standard library's macros; `use cuda_std::println` resolves the
//! ambiguity.
//!
//! [`fence`](crate::fence) is not among the items, because `core::sync::atomic` has another function of this name.

#[doc(no_inline)]
pub use crate::{
    Atomic, AtomicInteger, DeviceCopy, Global, GlobalMut, GpuFloat, Shared, address_space, bf16, bf16x2, device,
    dynamic_shared, f16, f16x2, fast, fence_block, fence_system, kernel, print, println, shared_array, thread, warp,
};
