//! Arc sine, arc cosine and arc tangent.
//!
//! The polynomials' coefficients are minimax ones among doubles (Sollya's `fpminimax`, relative error, arguments up to 1/2).

use super::arithmetic::{divide_in_range, magnitude_high, mul, mul_add, polynomial, with_sign};
use crate::backend::sqrt_f64 as sqrt;

/// π/2 less [`FRAC_PI_2`](core::f64::consts::FRAC_PI_2).
const HALF_PI_LOW: f64 = 6.123233995736766e-17;

/// For `magnitude` up to 1: `(y, asin(y) − y)`, where `y` is the magnitude up to 1/2, and beyond it the sine of half the angle from
/// there to π/2.
#[inline(always)]
fn asin_parts(magnitude: f64) -> (f64, f64, bool) {
    let is_far = magnitude > 0.5;
    let square = if is_far { mul_add(magnitude, -0.5, 0.5) } else { mul(magnitude, magnitude) };
    let y = if is_far { sqrt(square) } else { magnitude };
    let beyond = polynomial!(square; 0.16666666666666669, 0.07499999999998075, 0.04464285714687393, 0.03038194410495843, 0.02237217412989975, 0.01735236719480095, 0.013971566742166206, 0.011475914571687184, 0.010343037545681, 0.005374286323785782, 0.017618879675865173, -0.015180878341197968, 0.02897554636001587);
    (y, mul(mul(y, square), beyond), is_far)
}

#[inline(always)]
pub fn asin(x: f64) -> f64 {
    let (y, beyond, is_far) = asin_parts(x.abs());
    let sum = y + beyond;
    let angle = if is_far { mul_add(-2.0, sum, HALF_PI_LOW) + core::f64::consts::FRAC_PI_2 } else { sum };
    with_sign(angle, x)
}

#[inline(always)]
pub fn acos(x: f64) -> f64 {
    let (y, beyond, is_far) = asin_parts(x.abs());
    if is_far {
        let angle = mul(2.0, y + beyond);
        if x < 0.0 { core::f64::consts::PI - (angle - 2.0 * HALF_PI_LOW) } else { angle }
    } else {
        core::f64::consts::FRAC_PI_2 - (x + (with_sign_of(beyond, x) - HALF_PI_LOW))
    }
}

/// `value`, negated if `sign` is negative.
#[inline(always)]
fn with_sign_of(value: f64, sign: f64) -> f64 {
    if sign < 0.0 { -value } else { value }
}

/// `atan q` for `q` from −1/2 to 1/2, plus an angle in two parts.
#[inline(always)]
fn atan_plus(q: f64, angle: f64, angle_low: f64) -> f64 {
    let square = mul(q, q);
    let beyond = mul_add(
        square,
        polynomial!(square; -0.3333333333333333, 0.1999999999999889, -0.14285714285527015, 0.11111111096858628, -0.09090908492216193, 0.0769229220843218, -0.06666403652311106, 0.058793028097491706, -0.052384912967681885, 0.046217501163482666, -0.03790977597236633, 0.024779781699180603, -0.00907142460346222),
        0.0,
    );
    angle + mul_add(q, beyond, angle_low + q)
}

#[inline(always)]
pub fn atan(x: f64) -> f64 {
    // What is beyond 2^60 has the arc tangent of that; a NaN stays one.
    let magnitude = if x.abs() > 1.152_921_504_606_847e18 { 1.152_921_504_606_847e18 } else { x.abs() };
    // Up to 1/2, atan x; up to 2, π/4 + atan((x − 1) / (x + 1)); beyond, π/2 − atan(1/x).
    let (above, below, angle, angle_low) = if magnitude <= 0.5 {
        (magnitude, 1.0, 0.0, 0.0)
    } else if magnitude < 2.0 {
        (magnitude - 1.0, magnitude + 1.0, core::f64::consts::FRAC_PI_4, HALF_PI_LOW * 0.5)
    } else {
        (-1.0, magnitude, core::f64::consts::FRAC_PI_2, HALF_PI_LOW)
    };
    let q = divide_in_range(above, below);
    with_sign(atan_plus(q, angle, angle_low), x)
}

#[inline(always)]
pub fn atan2(y: f64, x: f64) -> f64 {
    let (mut a, mut b) = (y.abs(), x.abs());
    let greater = if a > b { a } else { b };
    if magnitude_high(greater) >= 0x7fd0_0000 || a.is_nan() || b.is_nan() || greater == 0.0 {
        // The sum of both would overflow, or both are infinite or 0.
        if a.is_nan() || b.is_nan() {
            return x + y;
        } else if greater == 0.0 {
            b = 1.0;
        } else if a == b {
            (a, b) = (1.0, 1.0);
        } else {
            (a, b) = (mul(a, 0.25), mul(b, 0.25));
        }
    }
    let (above, below, mut angle, mut angle_low) = if a <= mul(b, 0.5) {
        (a, b, 0.0, 0.0)
    } else if mul(a, 0.5) < b {
        (a - b, a + b, core::f64::consts::FRAC_PI_4, HALF_PI_LOW * 0.5)
    } else {
        (-b, a, core::f64::consts::FRAC_PI_2, HALF_PI_LOW)
    };
    let mut q = above / below;
    if x.is_sign_negative() {
        // π less what it would be.
        q = -q;
        angle = core::f64::consts::PI - angle;
        angle_low = 2.0 * HALF_PI_LOW - angle_low;
    }
    with_sign(atan_plus(q, angle, angle_low), y)
}
