//! Logarithms.
//!
//! The functions write a positive number as `x = 2^k · (1 + f)`, with `1 + f` from √½ to √2. With `s = f / (2 + f)`,
//! `ln(1 + f)` is `2·atanh(s) = f − f²/2 + s·(f²/2 + R(s²))`. In this sum `f` is exact and all other terms are small
//! (as in FreeBSD's `log`). `R` is a minimax polynomial for the relative error and s² up to 0.0295, with `f64`
//! coefficients (Sollya's `fpminimax`).

use super::arithmetic::{from_i32, from_words, high, low, magnitude_high, mul, mul_add, polynomial, recip_in_range};
use super::exponential::{LN_2_HIGH, LN_2_LOW};

/// The upper word of √½.
const SQRT_HALF: i32 = 0x3fe6_a09e;

/// Returns `k` and the upper word of `x / 2^k`. This quotient is from √½ to √2. `top` is the upper word of `x`.
#[inline(always)]
fn split(top: i32) -> (i32, i32) {
    let top = top.wrapping_add(0x3ff0_0000 - SQRT_HALF);
    ((top >> 20) - 0x3ff, (top & 0xf_ffff) + SQRT_HALF)
}

/// Returns `ln(1 + f) − f + k·LN_2_LOW` for `f` from −0.3 to 0.42. The error is far below the last place of `f`.
#[inline(always)]
fn beyond_linear(f: f64, k: f64) -> f64 {
    let s = mul(f, recip_in_range(f + 2.0));
    let w = mul(s, s);
    let half_square = mul(mul(f, 0.5), f);
    let rest = mul_add(
        w,
        polynomial!(w; 0.666666666666667, 0.39999999999898633, 0.2857142862657796, 0.22222211024233562, 0.18182897567749023, 0.15331435203552246, 0.14620018005371094),
        half_square,
    );
    mul_add(s, rest, mul_add(k, LN_2_LOW, -half_square))
}

/// Returns true if a number with the upper word `top` is not positive and normal.
#[inline(always)]
fn is_special(top: i32) -> bool {
    (top.wrapping_sub(0x0010_0000)) as u32 >= 0x7fe0_0000
}

/// Returns the logarithm of a number that is not positive and normal.
#[cold]
#[inline(always)]
fn ln_special(x: f64) -> f64 {
    if x == 0.0 {
        f64::NEG_INFINITY
    } else if x < 0.0 {
        f64::NAN
    } else {
        x // ∞ or NaN
    }
}

/// Returns the exponent of a positive, finite number, and its mantissa minus 1. For any other number, returns the
/// logarithm as `Err`.
#[inline(always)]
fn exponent_and_mantissa(x: f64) -> Result<(f64, f64), f64> {
    let mut x = x;
    let mut offset = 0;
    if is_special(high(x)) {
        if !(x > 0.0 && x < f64::INFINITY) {
            return Err(ln_special(x));
        }
        x = mul(x, 18_014_398_509_481_984.0); // 2^54 makes subnormal numbers normal.
        offset = 54;
    }
    let (k, top) = split(high(x));
    Ok((from_i32(k - offset), from_words(top, low(x)) - 1.0))
}

/// Returns `k·ln 2 + ln(1 + f)`.
#[inline(always)]
fn ln_of(k: f64, f: f64) -> f64 {
    mul_add(k, LN_2_HIGH, f + beyond_linear(f, k))
}

#[inline(always)]
pub fn ln(x: f64) -> f64 {
    match exponent_and_mantissa(x) {
        Ok((k, f)) => ln_of(k, f),
        Err(result) => result,
    }
}

/// Returns the logarithm of a positive normal number.
#[inline(always)]
pub fn ln_of_normal(x: f64) -> f64 {
    let (k, top) = split(high(x));
    ln_of(from_i32(k), from_words(top, low(x)) - 1.0)
}

/// Returns `ln(2·x)` for a normal `x` of at least 1.
#[inline(always)]
pub fn ln_of_double(x: f64) -> f64 {
    let (k, top) = split(high(x));
    ln_of(from_i32(k + 1), from_words(top, low(x)) - 1.0)
}

/// Returns `ln(1 + x)` for `x` between −1 and 2^60.
#[inline(always)]
pub fn ln_1p_of_finite(x: f64) -> f64 {
    let sum = 1.0 + x;
    let (k, _) = split(high(sum));
    // The second argument is (1 + x) / 2^k − 1, rounded once. If `k` is 0, it is `x`.
    let scale = from_words((0x3ff - k) << 20, 0);
    ln_of(from_i32(k), mul_add(x, scale, scale - 1.0))
}

#[inline(always)]
pub fn ln_1p(x: f64) -> f64 {
    if magnitude_high(x) < 0x3c90_0000 {
        x
    } else if x > 1.152_921_504_606_847e18 {
        ln(x) // 2^60
    } else if x > -1.0 {
        ln_1p_of_finite(x)
    } else if x == -1.0 {
        f64::NEG_INFINITY
    } else if x < -1.0 {
        f64::NAN
    } else {
        x
    }
}

/// Returns `ln(1 + f) · (high + low)` as the sum of two numbers.
#[inline(always)]
fn times_factor(f: f64, high: f64, low: f64) -> (f64, f64) {
    let beyond = beyond_linear(f, 0.0);
    let product = mul(f, high);
    let rest = mul_add(f, low, mul_add(f, high, -product));
    (product, mul_add(beyond, high, rest))
}

#[inline(always)]
pub fn log2(x: f64) -> f64 {
    match exponent_and_mantissa(x) {
        Ok((k, f)) => {
            let (product, rest) = times_factor(f, core::f64::consts::LOG2_E, 2.0355273740931033e-17);
            let sum = k + product;
            sum + (product - (sum - k) + rest)
        }
        Err(result) => result,
    }
}

#[inline(always)]
pub fn log10(x: f64) -> f64 {
    /// log10 2 in two parts. The product of the first part with any exponent is exact.
    const HIGH: f64 = 0.30102999566395283;
    const LOW: f64 = 2.8363394551044964e-14;
    match exponent_and_mantissa(x) {
        Ok((k, f)) => {
            let (product, rest) = times_factor(f, core::f64::consts::LOG10_E, 1.098319650216765e-17);
            let sum = mul_add(k, HIGH, product);
            sum + (product - mul_add(-k, HIGH, sum) + mul_add(k, LOW, rest))
        }
        Err(result) => result,
    }
}

/// Returns `ln(x) / ln(base)`.
#[inline(always)]
pub fn log(x: f64, base: f64) -> f64 {
    ln(x) / ln(base)
}
