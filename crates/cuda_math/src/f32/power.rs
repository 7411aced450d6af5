//! Powers and roots.

use super::arithmetic::{
    MAGIC, fma, horner, lesser_number, mul, power_of_two, rcp_normal, recip_of_special, rsqrt_not_subnormal, sqrt,
    sqrt_normal,
};
use super::exponential::{edge, polynomial_2, scale};

/// Returns `x` and false if `x` is normal, and otherwise `x · factor` and true. The function selects the result without
/// a branch, which would cost more.
#[inline(always)]
fn normalized(x: f32, factor: f32) -> (f32, bool) {
    let tiny = x.abs() < f32::MIN_POSITIVE;
    let scaled = mul(x, factor);
    (if tiny { scaled } else { x }, tiny)
}

#[inline(always)]
pub fn rsqrt(x: f32) -> f32 {
    let (x, tiny) = normalized(x, 16_777_216.0);
    let result = rsqrt_not_subnormal(x);
    let scaled = mul(result, 4_096.0);
    if tiny { scaled } else { result }
}

/// Returns 1 / ∛|`x`| for a normal `x`, within 2^−16. The function takes a seed from the exponent's bits, within 4 %,
/// and improves it by one fourth-order step.
#[inline(always)]
fn rcbrt_nearly(x: f32) -> f32 {
    let a = x.abs();
    let seed = f32::from_bits(0x54a2_fa8c_u32.wrapping_sub(((u64::from(a.to_bits()) * 0x5555_5556) >> 32) as u32));
    let h = fma(-a, mul(mul(seed, seed), seed), 1.0);
    fma(mul(seed, h), horner!(h; 0.333_333_34, 0.222_222_22, 0.172_839_5), seed)
}

#[inline(always)]
fn is_positive_and_normal(x: f32) -> bool {
    x.to_bits().wrapping_sub(0x0080_0000) < 0x7f00_0000
}

#[inline(always)]
pub fn cbrt(x: f32) -> f32 {
    let (x, tiny) = normalized(x, 16_777_216.0);
    let inverse = rcbrt_nearly(x);
    let square = mul(inverse, inverse);
    let root = mul(x, square);
    // This is one Newton step for the root: (root³ − x) / (−3·root²). For ∞ the step is NaN, and any finite number can
    // replace it.
    let rest = fma(mul(root, root), root, -x);
    let result = fma(lesser_number(mul(rest, square), 1.0e30), -0.333_333_34, root);
    let scaled = mul(result, 0.003_906_25);
    if tiny { scaled } else { result }
}

#[inline(always)]
pub fn rcbrt(x: f32) -> f32 {
    let (normal, tiny) = normalized(x, 16_777_216.0);
    let nearly = rcbrt_nearly(normal);
    let h = fma(mul(-normal.abs(), nearly), mul(nearly, nearly), 1.0);
    let result = fma(mul(nearly, h), fma(h, 0.222_222_22, 0.333_333_34), nearly).copysign(x);
    let scaled = mul(result, 256.0);
    let result = if tiny { scaled } else { result };
    // For 0 and ∞ the result is the reciprocal, and for NaN it is NaN.
    if x.to_bits().wrapping_mul(2).wrapping_sub(1) < 0xfeff_ffff { result } else { recip_of_special(x) }
}

/// Returns a power of two and its reciprocal. If numbers up to `largest` are multiplied by this power, their squares do
/// not overflow, and only negligible squares underflow.
#[inline(always)]
fn scaling(largest: f32) -> (f32, f32) {
    // Powers with exponents from −126 to 126 have a normal reciprocal.
    let exponent = (largest.to_bits() >> 23).clamp(1, 253) as i32 - 127;
    (power_of_two(-exponent), power_of_two(exponent))
}

/// Returns the greater of the magnitudes of two numbers, without special treatment of NaN.
#[inline(always)]
fn greater(a: f32, b: f32) -> f32 {
    f32::from_bits(a.abs().to_bits().max(b.abs().to_bits()))
}

/// Returns the sum of squares of the scaled values, the scale (a power of two), and its reciprocal.
#[inline(always)]
fn sum_of_squares<const N: usize>(values: [f32; N]) -> (f32, f32, f32) {
    let largest = values.into_iter().fold(0.0, greater);
    let (factor, inverse) = scaling(largest);
    let sum = values.into_iter().fold(0.0, |sum, value| {
        let scaled = mul(value, factor);
        fma(scaled, scaled, sum)
    });
    (sum, factor, inverse)
}

#[inline(always)]
fn norm<const N: usize>(values: [f32; N]) -> f32 {
    core::hint::cold_path();
    if values.iter().any(|value| value.abs() == f32::INFINITY) {
        return f32::INFINITY;
    }
    let (sum, _, inverse) = sum_of_squares(values);
    mul(sqrt(sum), inverse)
}

#[inline(always)]
fn rnorm<const N: usize>(values: [f32; N]) -> f32 {
    if values.iter().any(|value| value.abs() == f32::INFINITY) {
        return 0.0;
    }
    let (sum, factor, _) = sum_of_squares(values);
    mul(rsqrt(sum), factor)
}

#[inline(always)]
pub fn hypot(x: f32, y: f32) -> f32 {
    let (a, b) = (x.abs(), y.abs());
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    // From 2^−50 to 2^60 no significant square underflows or overflows. In the root, the difference to the root's
    // square does not underflow either. NaN is not in this range.
    if high.to_bits().wrapping_sub(0x2680_0000) < 0x3700_0000 && low <= high {
        sqrt_normal(fma(high, high, mul(low, low)))
    } else {
        norm([x, y])
    }
}

#[inline(always)]
pub fn rhypot(x: f32, y: f32) -> f32 {
    rnorm([x, y])
}

#[inline(always)]
pub fn norm3d(x: f32, y: f32, z: f32) -> f32 {
    norm([x, y, z])
}

#[inline(always)]
pub fn rnorm3d(x: f32, y: f32, z: f32) -> f32 {
    rnorm([x, y, z])
}

#[inline(always)]
pub fn norm4d(x: f32, y: f32, z: f32, w: f32) -> f32 {
    norm([x, y, z, w])
}

#[inline(always)]
pub fn rnorm4d(x: f32, y: f32, z: f32, w: f32) -> f32 {
    rnorm([x, y, z, w])
}

/// Returns the logarithm to base 2 of the positive, normal number with the bits `bits`, plus `offset`. The result is a
/// sum of two numbers with an error of at most 2^−30.
#[inline(always)]
fn log2_in_two(bits: u32, offset: f32) -> (f32, f32) {
    let exponent = bits.wrapping_sub(0x3f2a_aaab) & 0xff80_0000;
    let n = fma(exponent as i32 as f32, 1.0 / 8_388_608.0, offset);
    let f = f32::from_bits(bits.wrapping_sub(exponent)) - 1.0;
    // log2(1 + f) = 2/ln(2) · (u + u³/3 + …) with u = f / (2 + f). `u_low` is the rounding error of `u`.
    let inverse = rcp_normal(2.0 + f);
    let u = mul(f, inverse);
    let u_low = mul(inverse, fma(-u, f, fma(u, -2.0, f)));
    let s = mul(u, u);
    // `q` is the sum of the terms after the first, divided by u³, within 1.1e-8.
    let q = horner!(s; 0.961_796_7, 0.577_080_25, 0.411_740_7, 0.341_342_93);
    let first = mul(u, 2.885_39);
    let low = fma(u, 2.885_39, -first);
    let low = fma(u_low, 2.885_39, fma(u, 3.851_926e-8, low));
    let low = fma(mul(s, u), q, low);
    let high = n + first;
    let low = low + (first - (high - n));
    let sum = high + low;
    (sum, low - (sum - high))
}

/// Returns (a · 2^`offset`)^(`y` + `y_low`), where a is the positive, normal number with the bits `bits`.
#[inline(always)]
fn power(bits: u32, offset: f32, y: f32, y_low: f32) -> f32 {
    let (high, low) = log2_in_two(bits, offset);
    let product = mul(y, high);
    let rest = fma(y_low, high, fma(y, low, fma(y, high, -product)));
    let shifted = product + MAGIC;
    let value = polynomial_2((product - (shifted - MAGIC)) + rest);
    if product.abs() < 125.0 { scale(value, shifted) } else { edge(product, -151.0, 128.5, value, shifted) }
}

/// The kind of an exponent: an even number, an odd number, or no whole number.
#[derive(Clone, Copy, PartialEq)]
enum Parity {
    Even,
    Odd,
    NotWhole,
}

#[inline(always)]
fn parity(y: f32) -> Parity {
    let a = y.abs();
    if a >= 16_777_216.0 {
        Parity::Even
    } else if super::trunc(a) != a {
        Parity::NotWhole
    } else if a as u32 & 1 == 1 {
        Parity::Odd
    } else {
        Parity::Even
    }
}

/// Returns `x`^(`y` + `y_low`) if `x` is not both positive and normal, or if `y` is not finite.
#[inline(always)]
fn power_of_any(x: f32, y: f32, y_low: f32, parity: Parity) -> f32 {
    core::hint::cold_path();
    let a = x.abs();
    if y == 0.0 || x == 1.0 {
        return 1.0;
    }
    if x.is_nan() || y.is_nan() {
        return f32::NAN;
    }
    if y.abs() == f32::INFINITY {
        return if a == 1.0 {
            1.0
        } else if (a > 1.0) == (y > 0.0) {
            f32::INFINITY
        } else {
            0.0
        };
    }
    let magnitude = if a == 0.0 || a == f32::INFINITY {
        if (a == 0.0) == (y > 0.0) { 0.0 } else { f32::INFINITY }
    } else if x < 0.0 && parity == Parity::NotWhole {
        f32::NAN
    } else if a < f32::MIN_POSITIVE {
        power(mul(a, 8_388_608.0).to_bits(), -23.0, y, y_low)
    } else {
        power(a.to_bits(), 0.0, y, y_low)
    };
    if x.is_sign_negative() && parity == Parity::Odd { -magnitude } else { magnitude }
}

#[inline(always)]
pub fn powf(x: f32, y: f32) -> f32 {
    if is_positive_and_normal(x) && y.abs() < f32::INFINITY {
        power(x.to_bits(), 0.0, y, 0.0)
    } else {
        power_of_any(x, y, 0.0, parity(y))
    }
}

#[inline(always)]
pub fn powi(x: f32, n: i32) -> f32 {
    let y = n as f32;
    // The difference is exact, because both numbers are whole and the difference is small.
    let y_low = i64::from(n).wrapping_sub(y as i64) as f32;
    power_of_any(x, y, y_low, if n & 1 == 0 { Parity::Even } else { Parity::Odd })
}
