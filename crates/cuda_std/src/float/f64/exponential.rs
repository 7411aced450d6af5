//! Powers of e, 2 and 10.
//!
//! Each argument is a whole number `k` of powers of two and a rest, whose power is a polynomial. The coefficients are minimax
//! ones among doubles, over the rest's interval (Sollya's `fpminimax`, relative error).

use super::arithmetic::{TO_WHOLE, add_exponent, high, low, magnitude_high, mul, mul_add, polynomial, power_of_two};

pub const LN_2_HIGH: f64 = 0.6931471805599453;
pub const LN_2_LOW: f64 = 2.3190468138462996e-17;
const LOG10_2_HIGH: f64 = 0.3010299956639812;
const LOG10_2_LOW: f64 = -2.8037281277851704e-18;

/// `k` and the rest of `x` after `k · ln 2`, from −0.35 to 0.35.
#[inline(always)]
fn reduce(x: f64) -> (i32, f64) {
    let shifted = mul_add(x, core::f64::consts::LOG2_E, TO_WHOLE);
    let k = shifted - TO_WHOLE;
    // The first step is exact: both numbers are multiples of 2^−54, and their difference is small.
    (low(shifted), mul_add(k, -LN_2_LOW, mul_add(k, -LN_2_HIGH, x)))
}

/// `e^r` for `r` from −0.35 to 0.35.
#[inline(always)]
fn exp_of_rest(r: f64) -> f64 {
    polynomial!(r; 1.0, 1.0, 0.5, 0.16666666666666236, 0.04166666666660163, 0.008333333333615984, 0.0013888888927669517, 0.00019841269231845628, 2.4801507642890362e-05, 2.755783881565706e-06, 2.7625583697141915e-07, 2.491859790437801e-08)
}

/// `power · 2^k` with one rounding, where that is not a normal number; or what `x` too large, too small or NaN leads to.
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

/// `e^x · (1 + correction) · 2^extra`, for an `x` that is a number or ±∞ and a correction of at most 2^−40.
#[inline(always)]
pub fn exp_corrected(x: f64, correction: f64) -> f64 {
    let (k, r) = reduce(x);
    let power = exp_of_rest(r);
    let power = mul_add(power, correction, power);
    if magnitude_high(x) < 0x4086_2000 { add_exponent(power, k) } else { scale_far(x, power, k, -745.2, 709.79) }
}

/// `e^x / 2`, for `x` from 0 to 710.4.
#[inline(always)]
pub fn half_exp(x: f64) -> f64 {
    let (k, r) = reduce(x);
    add_exponent(exp_of_rest(r), k - 1)
}

#[inline(always)]
pub fn exp2(x: f64) -> f64 {
    let shifted = x + TO_WHOLE;
    let r = x - (shifted - TO_WHOLE);
    let power = polynomial!(r; 1.0, 0.6931471805599453, 0.2402265069591007, 0.05550410866482295, 0.00961812910762961, 0.0013333558146159821, 0.00015403530391191705, 1.5252734041855183e-05, 1.3215488610405558e-06, 1.0177983377963416e-07, 7.0542271516926095e-09, 4.4658944430794964e-10, 2.6651718138068987e-11);
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
    let power = polynomial!(r; 1.0, 2.302585092994046, 2.650949055239206, 2.034678592293322, 1.171255148907978, 0.5393829292294003, 0.20699584956772105, 0.06808936195857929, 0.01959761745051781, 0.005014053263607237, 0.0011576031444709154, 0.00024007063932976385);
    let k = low(shifted);
    if magnitude_high(x) < 0x4073_3000 {
        add_exponent(power, k)
    } else {
        scale_far(x, power, k, -323.7, 308.2547155599167439)
    }
}

#[inline(always)]
pub fn exp_m1(x: f64) -> f64 {
    let shifted = mul_add(x, core::f64::consts::LOG2_E, TO_WHOLE);
    let k = shifted - TO_WHOLE;
    // The rest is `r − low`, of which the first part is exact.
    let r = mul_add(k, -LN_2_HIGH, x);
    let low_part = mul(k, LN_2_LOW);
    let rest = r - low_part;
    let beyond = polynomial!(rest; 0.5, 0.1666666666666667, 0.04166666666666668, 0.00833333333332588, 0.0013888888888876972, 0.00019841269875488842, 2.4801587342475035e-05, 2.7557254707892835e-06, 2.7557256938871525e-07, 2.5105464069270465e-08, 2.0920376722274732e-09);
    let beyond = mul_add(mul(rest, beyond), rest, -low_part);
    let top = high(x);
    if magnitude_high(x) < 0x3c90_0000 {
        x // less than 2^−54
    } else if (top as u32) < 0xc04e_0000 && top < 0x4086_2000 {
        // 2^k · (1 + r + beyond) − 1. For `k` of 0 it is `r + beyond`.
        let scale = power_of_two(low(shifted));
        mul_add(scale, beyond, mul_add(scale, r, scale - 1.0))
    } else if x < 0.0 {
        -1.0
    } else {
        exp(x)
    }
}
