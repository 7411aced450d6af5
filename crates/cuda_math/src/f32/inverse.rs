//! Inverse trigonometric functions.

use super::arithmetic::{div, fma, horner, mul, rcp_normal, sqrt_normal};

const PI: f32 = core::f32::consts::PI;
const HALF_PI: f32 = core::f32::consts::FRAC_PI_2;
/// Two factors whose product is π/2 within 2e-14.
const HALF_PI_FACTORS: (f32, f32) = (1.683_255_55, 0.933_189_45);

/// Returns q(s) at s = y², where asin(y) = y + y³·q(y²). The error is within 5e-9 for y up to 1/2. The polynomials in
/// this file are minimax approximations for the relative error. Their coefficients have 24 bits each, from Sollya's
/// `fpminimax`.
#[inline(always)]
fn asin_polynomial(s: f32) -> f32 {
    horner!(s; 0.166_667_52, 7.495_307e-2, 4.546_963_8e-2, 2.418_153_4e-2, 4.216_503_7e-2)
}

/// Returns y² = (1 − a) / 2 and −2·y for a magnitude `a` above 1/2. Then asin(a) = π/2 − 2·asin(y).
#[inline(always)]
fn far_from_zero(a: f32) -> (f32, f32) {
    let s = fma(a, -0.5, 0.5);
    let y = mul(sqrt_normal(s), -2.0);
    (s, if a == 1.0 { 0.0 } else { y })
}

#[inline(always)]
pub fn asin(x: f32) -> f32 {
    let a = x.abs();
    let far = a > 0.5;
    let (far_s, far_y) = far_from_zero(a);
    let near_s = mul(a, a);
    let (s, y) = (if far { far_s } else { near_s }, if far { far_y } else { a });
    let angle = fma(mul(s, y), asin_polynomial(s), y);
    fma(if far { HALF_PI_FACTORS.0 } else { 0.0 }, HALF_PI_FACTORS.1, angle).copysign(x)
}

#[inline(always)]
pub fn acos(x: f32) -> f32 {
    let a = x.abs();
    let far = a > 0.5;
    let (far_s, far_y) = far_from_zero(a);
    let near_s = mul(a, a);
    let (s, y) = (if far { far_s } else { near_s }, if far { far_y } else { a });
    // `y` is negated for a positive x.
    let y = f32::from_bits(y.to_bits() ^ !x.to_bits() & 0x8000_0000);
    let angle = fma(mul(s, y), asin_polynomial(s), y);
    // The angle from which the result is subtracted: 0 or π.
    let end = if x > 0.0 { 0.0 } else { 2.0 * HALF_PI_FACTORS.0 };
    fma(if far { end } else { HALF_PI_FACTORS.0 }, HALF_PI_FACTORS.1, angle)
}

/// Returns the arc tangent of a `y` from 0 to 1, within 1.7e-8.
#[inline(always)]
fn atan_within(y: f32) -> f32 {
    let s = mul(y, y);
    let q = horner!(s;
        -0.333_331_53, 0.199_937_67, -0.142_110_02, 0.106_657_69, -7.551_66e-2, 4.320_473_2e-2, -1.636_319_2e-2, 2.919_422_7e-3
    );
    fma(mul(s, y), q, y)
}

#[inline(always)]
pub fn atan(x: f32) -> f32 {
    let a = x.abs();
    // For larger `a` the result is π/2, and the reciprocal would be subnormal.
    let a = if a > 1e30 { 1e30 } else { a };
    let far = a > 1.0;
    let angle = atan_within(if far { rcp_normal(a) } else { a });
    (if far { HALF_PI - angle } else { angle }).copysign(x)
}

#[inline(always)]
pub fn atan2(y: f32, x: f32) -> f32 {
    let (a, b) = (x.abs(), y.abs());
    let steep = b > a;
    let (low, high) = if steep { (a, b) } else { (b, a) };
    // C defines 0/0 as 0 and ∞/∞ as 1 here.
    let quotient = if low == high { if low == 0.0 { 0.0 } else { 1.0 } } else { div(low, high) };
    let angle = atan_within(quotient);
    let angle = if steep { HALF_PI - angle } else { angle };
    let angle = if x.is_sign_negative() { PI - angle } else { angle };
    if x.is_nan() || y.is_nan() { f32::NAN } else { angle.copysign(y) }
}
