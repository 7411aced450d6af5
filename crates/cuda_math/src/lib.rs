//! CUDA's mathematical functions on `f32` and `f64`, which `core` lacks. They return the same bits on every device.
//!
//! ```
//! use cuda_math::GpuFloat;
//!
//! assert_eq!(GpuFloat::exp2(3.0_f32), 8.0);
//! ```
//!
//! std's functions call the machine's C library, which a GPU does not have. The functions here consist of additions,
//! products, fused multiply-adds, divisions, roots and integer operations. IEEE 754 determines the bits of their
//! results. No compiler flag reorders or fuses these operations (see `f32::arithmetic`).
//!
//! Kernels use this crate through `cuda_std`, which re-exports it.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(asm_experimental_arch, link_llvm_intrinsics))]
#![cfg_attr(target_arch = "nvptx64", allow(internal_features))]

mod backend;
mod f32;
mod f64;
pub mod fast;
mod norm;
mod receiver;
mod rust_cuda;
mod table;

pub use norm::{norm, rnorm};
pub use receiver::{FloatReceiver, FloatValue, FloatVariable};
pub use rust_cuda::FloatExt;
use table::float_functions;

/// Expands to the Rust type of a result or argument in the table. `F` stands for the float type `$float`.
macro_rules! type_for {
    ($float:ty, F) => {
        $float
    };
    ($float:ty, i32) => {
        i32
    };
    ($float:ty, i64) => {
        i64
    };
    ($float:ty, (F, F)) => {
        ($float, $float)
    };
    ($float:ty, (F, i32)) => {
        ($float, i32)
    };
}
use type_for;

mod sealed {
    /// Computes the length of a vector of floats.
    pub trait Sealed: Sized {
        /// Returns the square root of the sum of squares.
        fn norm_of(values: &[Self]) -> Self;

        /// Returns the reciprocal of the result of `norm_of`.
        fn rnorm_of(values: &[Self]) -> Self;
    }
}

macro_rules! declare {
    ($($group:ident { $(
        $(#[$doc:meta])*
        $name:ident($($argument:ident: $ty:tt),*) -> $result:tt, $single:literal, $double:literal;
    )* })*) => {
        /// CUDA's mathematical functions on `f32` and `f64`. A function that std also has is named as in std. In a
        /// kernel these functions are methods of floats, and no import is needed.
        ///
        /// Each function states its largest error in ulp, which are units in the last place of the true value. An error
        /// of 0 means that the result is correctly rounded.
        pub trait GpuFloat: Copy + PartialOrd + sealed::Sealed {
            $($(
                $(#[$doc])*
                #[doc = concat!("\n\nLargest error in ulp: ", $single, " for `f32`, ", $double, " for `f64`.")]
                #[must_use = "the method returns a new value and does not change `self`"]
                fn $name(self $(, $argument: type_for!(Self, $ty))*) -> type_for!(Self, $result);
            )*)*
        }

        impl GpuFloat for f32 {
            $($(
                #[inline(always)]
                fn $name(self $(, $argument: type_for!(Self, $ty))*) -> type_for!(Self, $result) {
                    self::f32::$name(self $(, $argument)*)
                }
            )*)*
        }

        impl GpuFloat for f64 {
            $($(
                #[inline(always)]
                fn $name(self $(, $argument: type_for!(Self, $ty))*) -> type_for!(Self, $result) {
                    self::f64::$name(self $(, $argument)*)
                }
            )*)*
        }

        /// The name of each function and its largest error in ulp for `f32` and `f64`.
        pub const FLOAT_FUNCTIONS: &[(&str, u32, u32)] = &[$($((stringify!($name), $single, $double)),*),*];
    };
}

float_functions!(declare);
