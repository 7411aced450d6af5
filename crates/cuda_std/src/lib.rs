//! The device library: what a kernel calls.
//!
//! One face, two implementations. Compiled for `nvptx64-nvidia-cuda`, its functions are a PTX instruction or two each;
//! compiled for the host, they run in the simulator ([`simt`]), which checks every access. A kernel is written once:
//!
//! ```
//! use cuda_std::{Global, GlobalMut, kernel, thread};
//!
//! /// `y[i] = a·x[i]` for every `i`; any grid.
//! #[kernel]
//! pub fn scale(a: f32, x: Global<f32>, y: GlobalMut<f32>) {
//!     for i in thread::grid_stride(y.len()) {
//!         y.store(i, a * x.load(i));
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! For the GPU that is an entry of the PTX module, whose views arrive as a pointer and a length. For the host, `scale(a,
//! x, y)` makes a typed [`Call`], which a device of the crate `launch` runs on a GPU or in the simulator.
//!
//! The names follow the field's and, where both have a thing, Rust-CUDA's `cuda_std`.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(asm_experimental_arch, link_llvm_intrinsics, stdarch_nvptx))]
#![cfg_attr(target_arch = "nvptx64", allow(internal_features))]

mod async_copies;
mod atomic;
#[doc(hidden)]
pub mod backend;
mod few;
mod float;
mod global;
pub mod machine;
mod param;
#[doc(hidden)]
pub mod print;
mod shared;
pub mod thread;
pub mod warp;

pub use bytemuck::{Pod, Zeroable};

pub use async_copies::AsyncCopies;
pub use atomic::{Atomic, AtomicInteger, fence};
#[allow(unused_imports, reason = "empty on a GPU")]
pub use backend::host_face::*;
pub use cuda_std_macros::{kernel, ladder, println, shared_array};
pub use float::{GpuFloat, fast};
pub use global::{Global, GlobalMut};
pub use param::{Argument, KernelParam, MAX_PARAMS, Params};
pub use shared::{Shared, dynamic_shared};

/// `value`, of which the compiler knows nothing: it does not compute it another way, together with what it is made from or
/// what is made of it. Costs no instruction. For elements of 4 and 8 bytes; others are left as they are.
#[inline(always)]
pub fn opaque<T: Element>(value: T) -> T {
    backend::opaque(value)
}

/// The product of `a` and `b` in 64 bits, in one instruction (`mul.wide.u32`).
///
/// `u64::from(a) * u64::from(b)` is the same, but where a factor does not change in a loop, the compiler widens it before the
/// loop, no longer sees that it has 32 bits, and multiplies all 64.
#[inline(always)]
pub fn multiply_wide(a: u32, b: u32) -> u64 {
    backend::multiply_wide(a, b)
}

#[doc(hidden)]
pub mod __private {
    pub use crate::backend::macro_support::*;
    pub use crate::float::{FLOAT_FUNCTIONS, FloatReceiver, FloatValue, FloatVariable};
}

/// `kernels![a, b];` declares `pub const KERNELS: &[&KernelInfo]`, the list of the module's kernels for the host.
///
/// Documentation before the first, as in the example, says in a line what they are for. It becomes `pub const SUMMARY: &str`
/// beside the list, which is empty without it.
///
/// ```
/// # use cuda_std::{GlobalMut, kernel};
/// # /// Sets `y[0]`.
/// # #[kernel]
/// # pub fn set(y: GlobalMut<u32>) { y.store(0, 1) }
/// cuda_std::kernels! {
///     /// Sets the first element.
///     set
/// }
/// # fn main() {
/// assert_eq!(SUMMARY, "Sets the first element.");
/// assert_eq!(KERNELS[0].name, "set");
/// # }
/// ```
#[macro_export]
macro_rules! kernels {
    ($(#[doc = $doc:literal])* $($kernel:ident),* $(,)?) => {
        $crate::__private::kernel_list! { [$($doc)*] $($kernel)* }
    };
}

/// What device memory may hold: plain data for which every bit pattern is a value.
///
/// Sizes of 1, 2, 4, 8 and 16 bytes can be loaded and stored; any other size fails to compile at the first access.
pub trait Element: bytemuck::Pod + Send + Sync {}

impl<T: bytemuck::Pod + Send + Sync> Element for T {}
