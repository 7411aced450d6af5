//! Powers of any base.

use super::arithmetic::{
    from_i32, from_words, high, low, magnitude_high, mul, mul_add, negate_if, polynomial, recip_in_range, with_sign,
};
use super::exponential::exp_corrected;

/// A number as the sum of two doubles. The second double is at most half an ulp of the first.
pub type Double = (f64, f64);

/// Returns `a + b` without error, if `a` is 0 or its exponent is at least that of `b`.
#[inline(always)]
pub fn sum(a: f64, b: f64) -> Double {
    let sum = a + b;
    (sum, (a - sum) + b)
}

/// Returns `a · b` to about 100 bits.
#[inline(always)]
pub fn product(a: Double, b: Double) -> Double {
    let high = mul(a.0, b.0);
    (high, mul_add(a.1, b.0, mul_add(a.0, b.1, mul_add(a.0, b.0, -high))))
}

/// Returns `ln(x · 2^−offset)` to 2^−66, for a positive normal `x`.
///
/// With `x = 2^k·(1 + f)` and `q = f / (2 + f)`, `ln x` is `k·ln 2 + 2·atanh(q)`. The function computes the first two
/// terms of `atanh(q) = q + q³·(1/3 + q²·P(q²))` as sums of two numbers. `P` is a minimax polynomial for the relative
/// error and q² up to 0.0295 (Sollya's `fpminimax`).
#[inline(always)]
pub fn ln_in_two_parts(x: f64, offset: i32) -> Double {
    let top = high(x).wrapping_add(0x3ff0_0000 - 0x3fe6_a09e);
    let k = from_i32((top >> 20) - 0x3ff - offset);
    let f = from_words((top & 0xf_ffff) + 0x3fe6_a09e, low(x)) - 1.0;

    let inverse = recip_in_range(f + 2.0);
    let quotient = mul(f, inverse);
    // The second part comes from the remainder f − q·(2 + f). The term f − 2·q is exact.
    let q = (quotient, mul(inverse, mul_add(-quotient, f, mul_add(-2.0, quotient, f))));
    let square = mul(quotient, quotient);
    let square_low = mul_add(q.1 + q.1, quotient, mul_add(quotient, quotient, -square));
    let tail = mul_add(
        square,
        polynomial!(square; 0.2, 0.14285714285712975, 0.11111111111499646, 0.09090909053958841, 0.07692307233810425, 0.06666958332061768, 0.05863353610038757, 0.057675957679748535),
        1.850371707708594e-17,
    );
    let cubic = product(q, product((square, square_low), sum(0.3333333333333333, tail)));
    let half_ln = sum(quotient, cubic.0);
    let low = half_ln.1 + (q.1 + cubic.1);

    /// ln 2 in two parts. The product of the first part with any exponent is exact.
    const HIGH: f64 = 0.6931471805598903;
    const LOW: f64 = 5.497923018708371e-14;
    let doubled = half_ln.0 + half_ln.0;
    let ln = mul_add(k, HIGH, doubled);
    sum(ln, doubled - mul_add(-k, HIGH, ln) + mul_add(k, LOW, low + low))
}

/// Returns 0 if `y` is not a whole number, 1 if it is odd, and 2 if it is even.
#[inline(always)]
fn parity(y: f64) -> i32 {
    if magnitude_high(y) >= 0x4340_0000 {
        return 2; // Numbers from 2^53 on are even.
    }
    let half = mul(y, 0.5);
    if crate::backend::trunc_f64(y) != y {
        0
    } else if crate::backend::trunc_f64(half) == half {
        2
    } else {
        1
    }
}

/// Returns `x` to the power of `y` if one of them is 0, ∞ or NaN, or if `x` is negative and `y` is not whole. C's Annex
/// F lists these results.
#[cold]
#[inline(always)]
fn powf_special(x: f64, y: f64, parity: i32) -> f64 {
    let magnitude = x.abs();
    if x == 1.0 || y == 0.0 {
        1.0
    } else if x.is_nan() || y.is_nan() {
        x + y
    } else if y.is_infinite() {
        if magnitude == 1.0 {
            1.0
        } else if (magnitude > 1.0) == (y > 0.0) {
            f64::INFINITY
        } else {
            0.0
        }
    } else if x == 0.0 || x.is_infinite() {
        let result = if (x == 0.0) == (y > 0.0) { 0.0 } else { f64::INFINITY };
        negate_if(result, (parity == 1 && x.is_sign_negative()) as i32)
    } else {
        f64::NAN // A negative base to a power that is not whole.
    }
}

#[inline(always)]
pub fn powf(x: f64, y: f64) -> f64 {
    let parity = parity(y);
    let (mut base, mut offset) = (x.abs(), 0);
    let is_special = x < 0.0 && parity == 0 || y == 0.0 || magnitude_high(y) >= 0x7ff0_0000;
    if is_special || high(base).wrapping_sub(0x0010_0000) as u32 >= 0x7fe0_0000 {
        if is_special || !(base > 0.0 && base < f64::INFINITY) {
            return powf_special(x, y, parity);
        }
        base = mul(base, 18_014_398_509_481_984.0); // 2^54 makes subnormal numbers normal.
        offset = 54;
    }
    let ln = ln_in_two_parts(base, offset);
    // Beyond 2^11 the result is 0 or ∞ for every base. A larger exponent would overflow in the product.
    let y = if magnitude_high(y) < 0x43f0_0000 { y } else { with_sign(1.844_674_407_370_955_2e19, y) };
    let (exponent, correction) = product(ln, (y, 0.0));
    // If the exponent is in the thousands, its correction may be large. The result is then 0 or ∞, so the correction is
    // dropped.
    let correction = if magnitude_high(exponent) < 0x40a0_0000 { correction } else { 0.0 };
    negate_if(exp_corrected(exponent, correction), (parity == 1 && x < 0.0) as i32)
}

#[inline(always)]
pub fn powi(x: f64, n: i32) -> f64 {
    powf(x, f64::from(n))
}
