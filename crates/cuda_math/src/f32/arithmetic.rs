//! The IEEE 754 operations that the `f32` functions consist of, each rounded once, to nearest. Some compiler flags make
//! the compiler fuse a plain product with a sum, or make `/` approximate. These flags do not affect the operations of
//! this module.

use crate::backend;

/// Returns `a · b + c` with one rounding.
#[inline(always)]
pub fn fma(a: f32, b: f32, c: f32) -> f32 {
    backend::fma_f32(a, b, c)
}

/// The number 1.5·2^23. In the sum of this number and `x`, the low bits are `x` rounded to a whole number.
pub const MAGIC: f32 = 12_582_912.0;

/// Returns 2^`n` for `n` from −126 to 127.
#[inline(always)]
pub fn power_of_two(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) as u32) << 23)
}

/// Evaluates the polynomial with these coefficients, lowest first, at `x` by Horner's rule.
macro_rules! horner {
    ($x:expr; $last:expr) => { $last };
    ($x:expr; $first:expr, $($rest:expr),+) => {
        $crate::f32::arithmetic::fma($crate::f32::arithmetic::horner!($x; $($rest),+), $x, $first)
    };
}
pub(crate) use horner;

pub use crate::backend::single::*;
