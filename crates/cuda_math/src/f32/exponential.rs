//! Exponentials, computed as e^x = 2^n · e^r with a whole number n and a small rest r. The functions for the bases 2
//! and 10 use the same method. A polynomial in r yields the second factor. Adding n to this factor's exponent bits
//! multiplies the factor by 2^n.

use super::arithmetic::{MAGIC, fma, horner, mul, power_of_two};

const LOG2_E: f32 = core::f32::consts::LOG2_E;
/// ln 2 as a sum of two parts with 24 bits each.
const LN_2: (f32, f32) = (0.693_147_2, -1.904_654_2e-9);
/// log10(2) as a sum of two parts.
const LOG10_2: (f32, f32) = (0.301_03, -1.432_098_9e-8);

/// Returns e^r for |r| up to ln(2)/2, within 4e-9. The polynomials in this file are minimax approximations for the
/// relative error. Their coefficients have 24 bits each, from Sollya's `fpminimax`.
#[inline(always)]
fn polynomial_e(r: f32) -> f32 {
    horner!(r; 1.0, 1.0, 0.499_999_88, 0.166_665_17, 4.166_964e-2, 8.369_126e-3, 1.374_650_2e-3)
}

/// Returns 2^r for |r| up to 1/2, within 4e-9.
#[inline(always)]
pub fn polynomial_2(r: f32) -> f32 {
    horner!(r; 1.0, 0.693_147_2, 0.240_226_45, 5.550_359e-2, 9.618_837e-3, 1.339_132_8e-3, 1.523_986_1e-4)
}

/// Returns x − n·ln 2 and n + `MAGIC` for the whole number n nearest to x / ln 2.
#[inline(always)]
fn reduce(x: f32) -> (f32, f32) {
    let shifted = fma(x, LOG2_E, MAGIC);
    (rest(x, shifted), shifted)
}

/// Returns x − n·ln 2, where `shifted` is n + `MAGIC`.
#[inline(always)]
fn rest(x: f32, shifted: f32) -> f32 {
    let n = shifted - MAGIC;
    fma(n, -LN_2.1, fma(n, -LN_2.0, x))
}

/// Returns `value` · 2^n if `value` and the product are normal. `shifted` is n + `MAGIC`.
#[inline(always)]
pub fn scale(value: f32, shifted: f32) -> f32 {
    f32::from_bits(value.to_bits().wrapping_add(shifted.to_bits() << 23))
}

/// Returns `value` · 2^n, rounded once. The product may be subnormal or infinite. `shifted` is n + `MAGIC`, `value` is
/// near 1, and n is from −170 to 130.
#[inline(always)]
pub fn scale_at_edge(value: f32, shifted: f32) -> f32 {
    let n = shifted.to_bits() as i32 - MAGIC.to_bits() as i32;
    let half = n >> 1;
    mul(mul(value, power_of_two(half)), power_of_two(n.wrapping_sub(half)))
}

/// Returns the exponential of an `x` that may be out of range or NaN. The result is ∞ if `x` is at least `above`, 0 if
/// `x` is at most `below`, and otherwise `value` · 2^n. `shifted` is n + `MAGIC`.
#[inline(always)]
pub fn edge(x: f32, below: f32, above: f32, value: f32, shifted: f32) -> f32 {
    core::hint::cold_path();
    if x >= above {
        f32::INFINITY
    } else if x <= below {
        0.0
    } else {
        scale_at_edge(value, shifted)
    }
}

#[inline(always)]
pub fn exp(x: f32) -> f32 {
    let (r, shifted) = reduce(x);
    let value = polynomial_e(r);
    if x.abs() < 87.0 { scale(value, shifted) } else { edge(x, -104.0, 89.0, value, shifted) }
}

/// Returns two numbers, `value` and `shifted`. The caller computes e^x / 2 from them by [`scale`] for `x` from 0 to 87,
/// and by [`half_exp_edge`] for a greater `x`.
#[inline(always)]
pub fn half_exp_parts(x: f32) -> (f32, f32) {
    let (r, shifted) = reduce(x);
    (polynomial_e(r), shifted - 1.0)
}

/// Returns e^x / 2 for an `x` that is at least 87 or NaN. If e^x overflows but e^x / 2 does not, the result is finite.
#[inline(always)]
pub fn half_exp_edge(x: f32, value: f32, shifted: f32) -> f32 {
    edge(x, 0.0, 90.0, value, shifted)
}

/// Returns e^x for an `x` that is from −87 to 87 or NaN.
#[inline(always)]
pub fn exp_within(x: f32) -> f32 {
    let (r, shifted) = reduce(x);
    mul(polynomial_e(r), scale(1.0, shifted))
}

/// Returns e^(x + y) for `x` from −105 to 87 and a `y` much smaller than `x`.
#[inline(always)]
pub fn exp_of_sum(x: f32, y: f32) -> f32 {
    let (r, shifted) = reduce(x);
    let value = polynomial_e(r + y);
    if x > -87.0 { scale(value, shifted) } else { edge(x, -105.0, 89.0, value, shifted) }
}

#[inline(always)]
pub fn exp2(x: f32) -> f32 {
    let shifted = x + MAGIC;
    let value = polynomial_2(x - (shifted - MAGIC));
    if x.abs() < 126.0 { scale(value, shifted) } else { edge(x, -150.0, 128.0, value, shifted) }
}

#[inline(always)]
pub fn exp10(x: f32) -> f32 {
    let shifted = fma(x, core::f32::consts::LOG2_10, MAGIC);
    let n = shifted - MAGIC;
    let r = fma(n, -LOG10_2.1, fma(n, -LOG10_2.0, x));
    let value = horner!(r; 1.0, 2.302_585_1, 2.650_948_5, 2.034_655_6, 1.171_323_2, 0.541_852_3, 0.205_388_05);
    if x.abs() < 37.0 { scale(value, shifted) } else { edge(x, -46.0, 39.0, value, shifted) }
}

#[inline(always)]
pub fn exp_m1(x: f32) -> f32 {
    // n is 0 if the subtraction of 1 would cancel most of e^x.
    let shifted = fma(x, LOG2_E, MAGIC);
    let shifted = if x.abs() < 0.41 { MAGIC } else { shifted };
    let r = rest(x, shifted);
    // `q` approximates (e^r − 1 − r) / r² for r from −0.3475 to 0.41, within 3.3e-9.
    let q = horner!(r; 0.5, 0.166_666_69, 4.166_647e-2, 8.332_545e-3, 1.393_498_4e-3, 2.044_407e-4);
    let small = fma(mul(r, q), r, r);
    if x.abs() < 16.9 {
        // `power` is 2^n, made from the bits of 1.
        let power = scale(1.0, shifted);
        // `copysign` keeps the sign of −0.
        fma(power, small, power - 1.0).copysign(x)
    } else if x < 0.0 {
        // For a smaller `x`, the result −1 is within 0.8 ulp.
        -1.0
    } else {
        // From 16.98 on, 2^n − 1 would be rounded. The code therefore subtracts 1 / 2^n from e^r, whose other roundings
        // are small here. From 40 on, 1 / 2^n is negligible.
        let one = if x < 40.0 { scale(1.0, MAGIC - (shifted - MAGIC)) } else { 0.0 };
        let n = shifted - MAGIC;
        let high = fma(n, -LN_2.0, x);
        let low = fma(mul(r, q), r, fma(n, -LN_2.1, -one));
        let sum = high + 1.0;
        edge(x, -104.0, 89.0, sum + (low + (high - (sum - 1.0))), shifted)
    }
}
