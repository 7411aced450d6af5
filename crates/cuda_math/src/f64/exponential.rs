//! Powers of e, 2 and 10.
//!
//! A power `b^x` is computed as `2^k · b^r` with a whole number `k` and a small rest `r`. A polynomial in `r` yields
//! `b^r`. Among polynomials with `f64` coefficients it is the minimax approximation for the relative error on the
//! interval of `r` (Sollya's `fpminimax`).

use super::arithmetic::{TO_WHOLE, add_exponent, high, low, magnitude_high, mul, mul_add, polynomial, power_of_two};

pub const LN_2_HIGH: f64 = core::f64::consts::LN_2;
pub const LN_2_LOW: f64 = 2.3190468138462996e-17;
const LOG10_2_HIGH: f64 = core::f64::consts::LOG10_2;
const LOG10_2_LOW: f64 = -2.8037281277851704e-18;

/// Returns a whole number `k` and the rest `x − k · ln 2`, which is from −0.35 to 0.35.
#[inline(always)]
fn reduce(x: f64) -> (i32, f64) {
    let shifted = mul_add(x, core::f64::consts::LOG2_E, TO_WHOLE);
    let k = shifted - TO_WHOLE;
    // The first step is exact, because both numbers are multiples of 2^−54 and their difference is small.
    (low(shifted), mul_add(k, -LN_2_LOW, mul_add(k, -LN_2_HIGH, x)))
}

/// Returns `e^r` for `r` from −0.35 to 0.35.
#[inline(always)]
fn exp_of_rest(r: f64) -> f64 {
    polynomial!(r; 1.0, 1.0, 0.5, 0.16666666666665853, 0.041666666666613374, 0.008333333333872537, 0.0013888888923156665, 0.00019841268658638, 2.480151306372136e-05, 2.7558362489799038e-06, 2.762351414276054e-07, 2.4750050897637266e-08)
}

/// Returns `power · 2^k`, rounded once. The result need not be normal. Returns 0 for an `x` below `underflows`, ∞ for
/// an `x` above `overflows`, and NaN for NaN.
#[cold]
#[inline(always)]
fn scale_far(x: f64, power: f64, k: i32, underflows: f64, overflows: f64) -> f64 {
    if x.is_nan() {
        x
    } else if x > overflows {
        f64::INFINITY
    } else if x < underflows {
        0.0
    } else {
        let half = k >> 1;
        mul(mul(power, power_of_two(half)), power_of_two(k - half))
    }
}

#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let (k, r) = reduce(x);
    let power = exp_of_rest(r);
    if magnitude_high(x) < 0x4086_2000 { add_exponent(power, k) } else { scale_far(x, power, k, -745.2, 709.79) }
}

/// Returns `e^x · (1 + correction) · 2^extra`. `x` is a number or ±∞, and the correction is at most 2^−40.
#[inline(always)]
pub fn exp_corrected(x: f64, correction: f64) -> f64 {
    let (k, r) = reduce(x);
    let power = exp_of_rest(r);
    let power = mul_add(power, correction, power);
    if magnitude_high(x) < 0x4086_2000 { add_exponent(power, k) } else { scale_far(x, power, k, -745.2, 709.79) }
}

/// Returns `e^x / 2` for `x` from 0 to 710.4.
#[inline(always)]
pub fn half_exp(x: f64) -> f64 {
    let (k, r) = reduce(x);
    add_exponent(exp_of_rest(r), k - 1)
}

#[inline(always)]
pub fn exp2(x: f64) -> f64 {
    let shifted = x + TO_WHOLE;
    let r = x - (shifted - TO_WHOLE);
    let power = polynomial!(r; 1.0, core::f64::consts::LN_2, 0.24022650695910072, 0.0555041086648229, 0.009618129107627736, 0.0013333558146175184, 0.0001540353039489619, 1.5252734025668715e-05, 1.3215485523687676e-06, 1.0177990361626144e-07, 7.05537672729406e-09, 4.464830727357594e-10, 2.5071625331385405e-11);
    let k = low(shifted);
    if magnitude_high(x) < 0x408f_f000 {
        add_exponent(power, k)
    } else {
        scale_far(x, power, k, -1075.0, 1023.9999999999999)
    }
}

#[inline(always)]
pub fn exp10(x: f64) -> f64 {
    let shifted = mul_add(x, core::f64::consts::LOG2_10, TO_WHOLE);
    let k = shifted - TO_WHOLE;
    let r = mul_add(k, -LOG10_2_LOW, mul_add(k, -LOG10_2_HIGH, x));
    let power = polynomial!(r; 1.0, 2.3025850929940455, 2.650949055239205, 2.034678592293578, 1.1712551489083363, 0.5393829291811124, 0.20699584952201167, 0.06808936595916748, 0.019597619771957397, 0.005013901740312576, 0.0011575622484087944, 0.00024221907369792461);
    let k = low(shifted);
    if magnitude_high(x) < 0x4073_3000 {
        add_exponent(power, k)
    } else {
        scale_far(x, power, k, -323.7, 308.25471555991673)
    }
}

#[inline(always)]
pub fn exp_m1(x: f64) -> f64 {
    let shifted = mul_add(x, core::f64::consts::LOG2_E, TO_WHOLE);
    let k = shifted - TO_WHOLE;
    // The rest is `r − low`, and its first part is exact.
    let r = mul_add(k, -LN_2_HIGH, x);
    let low_part = mul(k, LN_2_LOW);
    let rest = r - low_part;
    let beyond = polynomial!(rest; 0.5, 0.1666666666666667, 0.04166666666666668, 0.008333333333325532, 0.001388888888887707, 0.0001984126987692199, 2.4801587342069e-05, 2.7557252906262875e-06, 2.7557257453736383e-07, 2.5106174916800228e-08, 2.0920172261185144e-09);
    let beyond = mul_add(mul(rest, beyond), rest, -low_part);
    let top = high(x);
    if magnitude_high(x) < 0x3c90_0000 {
        x // less than 2^−54
    } else if (top as u32) < 0xc04e_0000 && top < 0x4086_2000 {
        // The result is 2^k · (1 + r + beyond) − 1. If `k` is 0, this is `r + beyond`.
        let scale = power_of_two(low(shifted));
        mul_add(scale, beyond, mul_add(scale, r, scale - 1.0))
    } else if x < 0.0 {
        -1.0
    } else {
        exp(x)
    }
}

/// Returns `e^x − 1` for `x` from −40 to 0, within about one ulp.
#[inline(always)]
pub fn exp_m1_of_negative(x: f64) -> f64 {
    let shifted = mul_add(x, core::f64::consts::LOG2_E, TO_WHOLE);
    // The part of ln 2 that is left out is far below the result's last place.
    let r = mul_add(shifted - TO_WHOLE, -LN_2_HIGH, x);
    let beyond = polynomial!(r; 0.5000000000000006, 0.16666666666666588, 0.04166666666657652, 0.008333333333389724, 0.001388888893164929, 0.00019841269718698907, 2.4801505165240543e-05, 2.7557407729163705e-06, 2.762608346529305e-07, 2.5053751073755848e-08);
    let power_less_1 = mul_add(mul(r, r), beyond, r);
    let scale = power_of_two(low(shifted));
    mul_add(scale, power_less_1, scale - 1.0)
}
