//! Arc sine, arc cosine and arc tangent.
//!
//! The polynomials are minimax approximations for the relative error. Sollya's `fpminimax` chose their coefficients
//! among `f64` numbers, except for the arc sine, whose coefficients were rounded to `f64`.

use super::arithmetic::{
    divide_in_range, from_words, high, low, magnitude_high, mul, mul_add, negate_if, polynomial, recip_in_range,
    with_sign,
};
use crate::backend::sqrt_in_range_f64 as sqrt_in_range;

/// π/2 minus [`FRAC_PI_2`](core::f64::consts::FRAC_PI_2).
const HALF_PI_LOW: f64 = 6.123233995736766e-17;

/// Returns `(y, y³, p, is_far)` with `asin y = y + y³·p`, for a `magnitude` up to 1. Below 1/2, `y` is the magnitude.
/// From 1/2 on, `is_far` is true and `y` is `√((1 − magnitude) / 2)`, or 2^−128 instead of 0. Then the arc sine of the
/// magnitude is `π/2 − 2·asin y`.
#[inline(always)]
fn asin_parts(magnitude: f64) -> (f64, f64, f64, bool) {
    let is_far = high(magnitude) >= 0x3fe0_0000;
    let (factor, rest) = if is_far { (-0.5, 0.5) } else { (magnitude, 0.0) };
    let square = mul_add(magnitude, factor, rest);
    // The root is always computed, to avoid a branch. Its operand is made normal here. For a magnitude above 1 the root
    // is NaN.
    let square = from_words((high(square) as u32).max(0x2ff0_0000) as i32, low(square));
    let root = sqrt_in_range(square);
    let y = if is_far { root } else { magnitude };
    let series = polynomial!(square; 0.16666666666666213, 0.07500000000184853, 0.044642856934033914, 0.030381955350267647, 0.02237183865087487, 0.017358608599462956, 0.013895118959675093, 0.012109401286831129, 0.006768276777861037, 0.018913324662589603, -0.015316885974360109, 0.03132465407313395);
    (y, mul(y, square), series, is_far)
}

#[inline(always)]
pub fn asin(x: f64) -> f64 {
    let (y, cube, series, is_far) = asin_parts(x.abs());
    let angle = mul_add(cube, series, y);
    let angle = if is_far { mul_add(-2.0, angle, HALF_PI_LOW) + core::f64::consts::FRAC_PI_2 } else { angle };
    with_sign(angle, x)
}

#[inline(always)]
pub fn acos(x: f64) -> f64 {
    let (y, cube, series, is_far) = asin_parts(x.abs());
    if is_far {
        let angle = mul(2.0, mul_add(cube, series, y) - TWO_TO_MINUS_128);
        if x < 0.0 { core::f64::consts::PI - (angle - 2.0 * HALF_PI_LOW) } else { angle }
    } else {
        core::f64::consts::FRAC_PI_2 - (x + (with_sign_of(mul(cube, series), x) - HALF_PI_LOW))
    }
}

/// The number 2^−128.
const TWO_TO_MINUS_128: f64 = 2.938_735_877_055_719e-39;

/// Returns `value`, negated if the number `sign` is negative.
#[inline(always)]
fn with_sign_of(value: f64, sign: f64) -> f64 {
    if sign < 0.0 { -value } else { value }
}

/// Returns `atan q` for `q` from 0 to slightly more than 1, by a minimax polynomial for this range.
#[inline(always)]
fn atan_to_1(q: f64) -> f64 {
    let square = mul(q, q);
    let beyond = mul(
        square,
        polynomial!(square; -0.3333333333333333, 0.19999999999997978, -0.14285714285426404, 0.1111111109526225, -0.09090908631879037, 0.07692299562918943, -0.06666570454011729, 0.05881546486775332, -0.052581730661743466, 0.04738505045304504, -0.04262533658863946, 0.03754310157081345, -0.03135961838154042, 0.0238050967468397, -0.015643694659745744, 0.008450224995613098, -0.0035399477928876877, 0.001065921038389206, -0.00020365486852824688, 1.8447142792865634e-05),
    );
    mul_add(q, beyond, q)
}

#[inline(always)]
pub fn atan(x: f64) -> f64 {
    // Beyond 2^60 the arc tangent equals that of 2^60. NaN stays NaN.
    let magnitude = if x.abs() > 1.152_921_504_606_847e18 { 1.152_921_504_606_847e18 } else { x.abs() };
    // From 1 + 2^−20 on, the result is π/2 − atan(1/x). The reciprocal is always computed, because it is cheaper than a
    // branch.
    let is_far = magnitude_high(x) > 0x3ff0_0000;
    let angle = atan_to_1(if is_far { recip_in_range(magnitude) } else { magnitude });
    with_sign(if is_far { less_from_half_pi(angle) } else { angle }, x)
}

/// Returns `π/2 − angle`.
#[inline(always)]
fn less_from_half_pi(angle: f64) -> f64 {
    core::f64::consts::FRAC_PI_2 + (HALF_PI_LOW - angle)
}

/// Returns two numbers whose quotient is `least / greatest`, and which are in the range of [`divide_in_range`]. The
/// quotient is 1 for two infinities and 0 for two zeros, as C's Annex F requires.
#[cold]
#[inline(always)]
fn scaled(least: f64, greatest: f64) -> (f64, f64) {
    if least == greatest {
        (if least == 0.0 { 0.0 } else { 1.0 }, 1.0)
    } else if greatest < 1.0 {
        (mul(least, TWO_TO_200), mul(greatest, TWO_TO_200))
    } else if greatest < f64::INFINITY {
        (mul(least, 1.0 / TWO_TO_200), mul(greatest, 1.0 / TWO_TO_200))
    } else if least.is_nan() || greatest.is_nan() {
        (f64::NAN, 1.0)
    } else {
        (0.0, 1.0)
    }
}

/// The number 2^200.
const TWO_TO_200: f64 = 1.606_938_044_258_990_3e60;

#[inline(always)]
pub fn atan2(y: f64, x: f64) -> f64 {
    let (a, b) = (y.abs(), x.abs());
    let is_steep = a > b;
    let (mut least, mut greatest) = if is_steep { (b, a) } else { (a, b) };
    // From 2^−900 to 2^900 the division needs no scaling.
    if magnitude_high(greatest).wrapping_sub(0x07b0_0000) as u32 >= 0x7080_0000 {
        (least, greatest) = scaled(least, greatest);
    }
    let angle = atan_to_1(divide_in_range(least, greatest));
    // Beyond the diagonal, the result is π/2 minus the angle. If `x` is negative, it is π minus the result so far.
    let is_left = high(x) < 0;
    let whole_high = if is_steep { core::f64::consts::FRAC_PI_2 } else { core::f64::consts::PI };
    let whole_low = if is_steep { HALF_PI_LOW } else { 2.0 * HALF_PI_LOW };
    let is_added = is_steep || is_left;
    let (whole, whole_low) = if is_added { (whole_high, whole_low) } else { (0.0, 0.0) };
    let angle = negate_if(angle, i32::from(is_steep != is_left));
    with_sign(whole + (whole_low + angle), y)
}
