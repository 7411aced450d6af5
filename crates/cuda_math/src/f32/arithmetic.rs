//! The operations that the functions are made of: IEEE 754's, each rounded once and to nearest, whatever flags a
//! project's kernels are built with. A product that the compiler may see is contracted with a sum where contraction is
//! on, and `/` may be an approximation; these are neither.

use crate::backend;

/// `a · b + c` with one rounding.
#[inline(always)]
pub fn fma(a: f32, b: f32, c: f32) -> f32 {
    backend::fma_f32(a, b, c)
}

/// 1.5·2^23: what is added to it is rounded to a whole number, which is in the low bits of the sum.
pub const MAGIC: f32 = 12_582_912.0;

/// 2^`n`, for `n` from −126 to 127.
#[inline(always)]
pub fn power_of_two(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) as u32) << 23)
}

/// Of the polynomial with these coefficients, lowest first, the value at `x`, by Horner's rule.
macro_rules! horner {
    ($x:expr; $last:expr) => { $last };
    ($x:expr; $first:expr, $($rest:expr),+) => {
        $crate::f32::arithmetic::fma($crate::f32::arithmetic::horner!($x; $($rest),+), $x, $first)
    };
}
pub(crate) use horner;

pub use crate::backend::single::*;
