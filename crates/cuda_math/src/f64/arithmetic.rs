//! The operations that the `f64` functions consist of. IEEE 754 determines the bits of their results, and no compiler
//! fuses them.
//!
//! With contraction, a compiler may fuse a product and a sum, which rounds once instead of twice. The `f64` functions
//! therefore contain no plain product: [`mul_add`] computes a fused sum, and [`mul`] a rounded product.

use crate::backend;

pub use backend::{fma_f64 as mul_add, from_words_f64 as from_words, product_f64 as mul};

/// The number 1.5 · 2^52. In the sum of this number and an `x` of magnitude up to 2^51, the low bits are `x` rounded to
/// a whole number.
pub const TO_WHOLE: f64 = 6_755_399_441_055_744.0;

/// Evaluates the polynomial with these coefficients, lowest degree first, by Horner's rule, which needs the fewest
/// operations.
macro_rules! polynomial {
    ($x:expr; $last:expr $(,)?) => { $last };
    ($x:expr; $first:expr, $($rest:expr),+ $(,)?) => {
        crate::f64::arithmetic::mul_add($x, polynomial!($x; $($rest),+), $first)
    };
}
pub(super) use polynomial;

/// Returns the upper 32 bits of `x`: sign, exponent, and 20 bits of the mantissa.
#[inline(always)]
pub fn high(x: f64) -> i32 {
    (x.to_bits() >> 32) as i32
}

/// Returns the upper 32 bits of the magnitude of `x`.
#[inline(always)]
pub fn magnitude_high(x: f64) -> i32 {
    high(x) & 0x7fff_ffff
}

/// Returns the lower 32 bits of `x`.
#[inline(always)]
pub fn low(x: f64) -> i32 {
    x.to_bits() as i32
}

/// Returns `x · 2^n` if `x` and the result are normal numbers.
#[inline(always)]
pub fn add_exponent(x: f64, n: i32) -> f64 {
    from_words(high(x).wrapping_add(n << 20), low(x))
}

/// Returns `2^n` for `n` from −1022 to 1023.
#[inline(always)]
pub fn power_of_two(n: i32) -> f64 {
    from_words((n + 1023) << 20, 0)
}

/// Returns `x`, negated if bit 0 of `is_odd` is set.
#[inline(always)]
pub fn negate_if(x: f64, is_odd: i32) -> f64 {
    from_words(high(x) ^ (is_odd << 31), low(x))
}

/// Returns the magnitude of `x` with the sign of `sign`.
#[inline(always)]
pub fn with_sign(x: f64, sign: f64) -> f64 {
    from_words(magnitude_high(x) | (high(sign) & i32::MIN), low(x))
}

/// Converts `n` to a float. Does not use the conversion instruction, which has a quarter of an addition's throughput.
#[inline(always)]
pub fn from_i32(n: i32) -> f64 {
    from_words(0x4330_0000, n ^ i32::MIN) - 4_503_601_774_854_144.0 // 2^52 + 2^31
}

/// Returns `1 / x`, correctly rounded, for magnitudes from 2^−1000 to 2^1000.
#[inline(always)]
pub fn recip_in_range(x: f64) -> f64 {
    backend::recip_in_range_f64(x)
}

/// Returns `a / b` within one ulp, if `b` is in the range of [`recip_in_range`] and the quotient is 0 or normal.
#[inline(always)]
pub fn divide_in_range(a: f64, b: f64) -> f64 {
    let inverse = recip_in_range(b);
    let quotient = mul(a, inverse);
    mul_add(mul_add(-b, quotient, a), inverse, quotient)
}
