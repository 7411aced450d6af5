//! The device library: the types and functions that kernels use.
//!
//! Each function has two implementations with one interface. Compiled for `nvptx64-nvidia-cuda`, a function is one or
//! two PTX instructions. Compiled for the host, it runs in the simulator ([`simt`]), which checks every access. A
//! kernel is written once:
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
//! For the GPU, the kernel becomes an entry of the PTX module, whose views are passed as a pointer and a length. For
//! the host, `scale(a, x, y)` creates a typed [`Call`], which a device of the crate `launch` runs on a GPU or in the
//! simulator.
//!
//! Items that Rust-CUDA's `cuda_std` also has have the same names here. Other names follow common usage.
#![no_std]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(asm_experimental_arch, const_type_name, link_llvm_intrinsics, stdarch_nvptx)
)]
#![cfg_attr(target_arch = "nvptx64", allow(internal_features))]

mod async_copies;
pub mod atomic;
#[doc(hidden)]
pub mod backend;
pub mod barrier;
pub mod bits;
pub mod bulk;

pub mod cluster;

mod array_vec;
mod device_copy;
mod element_index;
mod float;
#[cfg(any(feature = "glam", feature = "glam-0-30", feature = "half"))]
mod foreign_types;
pub mod fp8;
mod global;
pub mod grid;
mod half;
pub mod machine;
mod param;
pub mod prelude;
#[doc(hidden)]
pub mod print;
mod racy;
mod rows;
mod shared;
mod statics;
pub mod tensor;
pub mod thread;
pub mod warp;

pub use bytemuck::{Pod, Zeroable};

pub use async_copies::AsyncCopies;
pub use atomic::{
    Atomic, AtomicInteger, AtomicNumber, fence, fence_acq_rel, fence_acq_rel_block, fence_acq_rel_cluster,
    fence_acq_rel_system, fence_block, fence_cluster, fence_system,
};
#[allow(unused_imports, reason = "empty on a GPU")]
pub use backend::host_face::*;
pub use cluster::ClusterShared;
pub use cuda_math::{FloatExt, GpuFloat, fast};
pub use cuda_std_macros::{
    DeviceCopy, address_space, assert, assert_eq, assert_ne, debug_assert, debug_assert_eq, debug_assert_ne, device,
    kernel, ladder, panic, print, println, shared_array, unreachable,
};
pub use device_copy::{DeviceCopy, Plain};
pub use element_index::ElementIndex;
pub use float::{norm, rnorm};
pub use fp8::{e4m3, e4m3x2, e4m3x4, e5m2, e5m2x2, e5m2x4};
/// The crate glam, in the release whose types can be elements of buffers.
#[cfg(feature = "glam")]
pub use glam;
pub use global::{Global, GlobalMut};
pub use half::{bf16, bf16x2, f16, f16x2};
pub use param::{Argument, KernelParam, MAX_PARAM_BYTES, MAX_PARAMS, Params};
pub use shared::{Shared, dynamic_shared};
pub use statics::{Constant, GlobalStatic, SharedStatic};
/// The crate vek, re-exported for Rust-CUDA's sources. Its types cannot be elements of buffers, but those of [`glam`]
/// can.
#[cfg(feature = "vek")]
pub use vek;

/// Returns `value`, but hides it from the compiler's optimiser. The compiler then cannot merge the computation of
/// `value` with the computations of its operands or its uses. The call costs no instruction, and affects only elements
/// of 4 and 8 bytes.
#[inline(always)]
pub fn opaque<T: Element>(value: T) -> T {
    backend::opaque(value)
}

/// Returns the 64-bit product of `a` and `b`, computed by one instruction (`mul.wide.u32`).
///
/// `u64::from(a) * u64::from(b)` returns the same result. If one factor is constant in a loop, however, the compiler
/// widens it to 64 bits before the loop and then multiplies two 64-bit numbers.
#[inline(always)]
pub fn multiply_wide(a: u32, b: u32) -> u64 {
    backend::multiply_wide(a, b)
}

#[doc(hidden)]
pub use __private::named_as_macros::{
    assert::assert, assert_eq::assert_eq, assert_ne::assert_ne, debug_assert::debug_assert,
    debug_assert_eq::debug_assert_eq, debug_assert_ne::debug_assert_ne, panic::panic, print::print, println::println,
    unreachable::unreachable,
};

/// Declares a function with the name of each macro that `#[kernel]` rewrites. Importing the macro also imports the
/// function, so the import counts as used even if the rewritten call does not need it.
macro_rules! named_as_macros {
    ($($name:ident)*) => {
        pub mod named_as_macros {
            $(pub mod $name {
                pub fn $name() {}
            })*
        }
    };
}

#[doc(hidden)]
pub mod __private {
    named_as_macros! {
        assert assert_eq assert_ne debug_assert debug_assert_eq debug_assert_ne panic print println unreachable
    }

    pub use cuda_math::{FLOAT_FUNCTIONS, FloatReceiver, FloatValue, FloatVariable};

    pub use crate::backend::macro_support::*;

    /// Converts indices for `#[kernel]`.
    pub mod usize {
        pub use crate::ElementIndex;
    }

    /// Returns `element` as a place that cannot be changed. `#[kernel]` calls it on a loaded element that has a method
    /// called on it, so that no method changes the copy.
    #[inline(always)]
    pub fn element<T>(element: &T) -> &T {
        element
    }

    pub use crate::param::check_param_bytes;
}

/// `kernels![a, b];` declares `pub const KERNELS: &[&KernelInfo]`, the list of the module's kernels for the host.
///
/// Documentation before the first kernel, as in the example, is a one-line summary. It becomes `pub const SUMMARY:
/// &str` beside the list. Without documentation, `SUMMARY` is empty.
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

/// Plain data: a type that is [`DeviceCopy`] and has no padding and no invalid bit patterns. A view of such elements
/// can be cast, and one access can load several of them as a vector.
pub trait Element: bytemuck::Pod + DeviceCopy {}

impl<T: bytemuck::Pod + DeviceCopy> Element for T {}
