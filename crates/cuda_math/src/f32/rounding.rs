//! Functions with exact results: they round to whole numbers, split a float, or return a remainder.

use super::arithmetic::div;
use crate::backend;

pub use crate::backend::single::{ceil, floor, round_ties_even, trunc};

/// Returns the nearest whole number. Ties round away from 0. The function adds the largest number below one half, so
/// that only fractions from one half on reach the next whole number.
#[inline(always)]
pub fn round(x: f32) -> f32 {
    trunc(x + 0.499_999_97_f32.copysign(x)).copysign(x)
}

#[inline(always)]
pub fn rint(x: f32) -> f32 {
    round_ties_even(x)
}

#[inline(always)]
pub fn nearbyint(x: f32) -> f32 {
    round_ties_even(x)
}

#[inline(always)]
pub fn lrint(x: f32) -> i64 {
    round_ties_even(x) as i64
}

#[inline(always)]
pub fn llrint(x: f32) -> i64 {
    lrint(x)
}

#[inline(always)]
pub fn lround(x: f32) -> i64 {
    round(x) as i64
}

#[inline(always)]
pub fn llround(x: f32) -> i64 {
    lround(x)
}

#[inline(always)]
pub fn fract(x: f32) -> f32 {
    x - trunc(x)
}

#[inline(always)]
pub fn modf(x: f32) -> (f32, f32) {
    let whole = trunc(x);
    (if x.abs() == f32::INFINITY { 0.0 } else { x - whole }.copysign(x), whole)
}

#[inline(always)]
pub fn recip(x: f32) -> f32 {
    div(1.0, x)
}

/// Returns the square root. Compiler flags may make this function approximate, as they may make `/` approximate. Such
/// flags change no other function in this file.
#[inline(always)]
pub fn sqrt(x: f32) -> f32 {
    backend::sqrt_f32(x)
}

#[inline(always)]
pub fn abs(x: f32) -> f32 {
    x.abs()
}

#[inline(always)]
pub fn signum(x: f32) -> f32 {
    x.signum()
}

#[inline(always)]
pub fn copysign(x: f32, sign: f32) -> f32 {
    x.copysign(sign)
}

#[inline(always)]
pub fn mul_add(x: f32, a: f32, b: f32) -> f32 {
    backend::fma_f32(x, a, b)
}

#[inline(always)]
pub fn minimum_number(x: f32, y: f32) -> f32 {
    backend::minimum_number_f32(x, y)
}

#[inline(always)]
pub fn maximum_number(x: f32, y: f32) -> f32 {
    backend::maximum_number_f32(x, y)
}

#[inline(always)]
pub fn minimum(x: f32, y: f32) -> f32 {
    backend::minimum_f32(x, y)
}

#[inline(always)]
pub fn maximum(x: f32, y: f32) -> f32 {
    backend::maximum_f32(x, y)
}

#[inline(always)]
pub fn min(x: f32, y: f32) -> f32 {
    backend::minimum_number_f32(x, y)
}

#[inline(always)]
pub fn max(x: f32, y: f32) -> f32 {
    backend::maximum_number_f32(x, y)
}

#[inline(always)]
pub fn saturate(x: f32) -> f32 {
    min(max(x, 0.0), 1.0)
}

#[inline(always)]
pub fn fdim(x: f32, y: f32) -> f32 {
    if x <= y { 0.0 } else { x - y }
}

#[inline(always)]
pub fn ldexp(x: f32, n: i32) -> f32 {
    // The clamped power still takes any `f32` out of range, and fits into `f64`. The product is exact in `f64`, and is
    // rounded once to `f32`.
    let power = f64::from_bits(((n.clamp(-300, 300) + 1_023) as u64) << 52);
    (f64::from(x) * power) as f32
}

#[inline(always)]
pub fn scalbn(x: f32, n: i32) -> f32 {
    ldexp(x, n)
}

/// Returns the exponent of a finite `x` other than 0.
#[inline(always)]
fn exponent(x: f32) -> i32 {
    let field = x.to_bits() >> 23 & 0xff;
    if field == 0 { -119 - (x.to_bits() << 1).leading_zeros() as i32 } else { field as i32 - 127 }
}

#[inline(always)]
pub fn frexp(x: f32) -> (f32, i32) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    let n = exponent(x) + 1;
    (ldexp(x, -n), n)
}

#[inline(always)]
pub fn ilogb(x: f32) -> i32 {
    if x == 0.0 || x.is_nan() {
        i32::MIN
    } else if x.abs() == f32::INFINITY {
        i32::MAX
    } else {
        exponent(x)
    }
}

#[inline(always)]
pub fn logb(x: f32) -> f32 {
    // The exponent's bits replace the last bits of 2^23.
    let field = x.to_bits() >> 23 & 0xff;
    let result = f32::from_bits(field | 0x4b00_0000) - 8_388_735.0;
    if field.wrapping_sub(1) < 254 {
        result
    } else {
        core::hint::cold_path();
        if x == 0.0 {
            f32::NEG_INFINITY
        } else if field == 0 {
            exponent(x) as f32
        } else {
            x.abs()
        }
    }
}

#[inline(always)]
pub fn nextafter(x: f32, to: f32) -> f32 {
    if x.is_nan() || to.is_nan() {
        return f32::NAN;
    }
    if x == to {
        return to;
    }
    if x == 0.0 {
        return f32::from_bits(1).copysign(to);
    }
    let away = (to > x) == (x > 0.0);
    f32::from_bits(if away { x.to_bits() + 1 } else { x.to_bits() - 1 })
}
