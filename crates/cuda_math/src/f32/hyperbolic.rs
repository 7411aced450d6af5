//! Hyperbolic functions and their inverses.

use super::arithmetic::{MAGIC, fma, horner, log_of_special, mul, rcp_normal, sqrt_normal, sqrt_of_special};
use super::exponential::{half_exp_edge, half_exp_parts, polynomial_2, scale};
use super::logarithm::ln_1p_plus;

// The polynomials in this file are minimax approximations for the relative error. Their coefficients have 24 bits each,
// from Sollya's `fpminimax`.

#[inline(always)]
pub fn sinh(x: f32) -> f32 {
    let a = x.abs();
    if a < 1.0 {
        let s = mul(x, x);
        return fma(mul(s, x), horner!(s; 0.166_667_16, 8.330_274e-3, 2.037_284_1e-4), x);
    }
    let (value, shifted) = half_exp_parts(a);
    if a < 87.0 {
        let half = scale(value, shifted);
        fma(rcp_normal(half), -0.25, half).copysign(x)
    } else {
        half_exp_edge(a, value, shifted).copysign(x)
    }
}

#[inline(always)]
pub fn cosh(x: f32) -> f32 {
    let a = x.abs();
    let (value, shifted) = half_exp_parts(a);
    if a < 87.0 {
        let half = scale(value, shifted);
        fma(rcp_normal(half), 0.25, half)
    } else {
        half_exp_edge(a, value, shifted)
    }
}

#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    let a = x.abs();
    if a < 0.55 {
        let s = mul(x, x);
        let q = horner!(s; -0.333_333_16, 0.133_325_55, -5.384_933_9e-2, 2.106_020_2e-2, -6.258_64e-3);
        fma(fma(s, x, 0.0), q, x)
    } else {
        // From 10 on the result is 1. The error of 2a·log2(e) grows with a, but its effect decreases.
        let a = if a > 10.0 { 10.0 } else { a };
        let shifted = fma(a, 2.0 * core::f32::consts::LOG2_E, MAGIC);
        let r = fma(a, 2.0 * core::f32::consts::LOG2_E, -(shifted - MAGIC));
        fma(rcp_normal(fma(polynomial_2(r), scale(1.0, shifted), 1.0)), -2.0, 1.0).copysign(x)
    }
}

/// From this `x` on, 1 + x² rounds to x².
const LARGE: f32 = 1_073_741_824.0;

#[inline(always)]
pub fn asinh(x: f32) -> f32 {
    let a = x.abs();
    // e^asinh(a) − 1 = a + a² / (1 + √(1 + a²)). For large a, e^asinh(a) is 2a plus a negligible rest below one half.
    let large = a >= LARGE;
    let square = mul(a, a);
    let square = if large { 1.0 } else { square };
    let sum = fma(square, rcp_normal(1.0 + sqrt_normal(1.0 + square)), a);
    let result = ln_1p_plus(sum, if large { 1.0 } else { 0.0 }).copysign(x);
    if a < f32::INFINITY { result } else { x }
}

#[inline(always)]
pub fn acosh(x: f32) -> f32 {
    // e^acosh(1 + t) − 1 = t + √(t² + 2t). For large x, e^acosh(x) is 2x up to a negligible difference.
    let large = x >= LARGE;
    let t = x - 1.0;
    let square = fma(t, t, t + t);
    let sum = t + sqrt_normal(if large { 1.0 } else { square });
    let result = ln_1p_plus(sum, if large { 1.0 } else { 0.0 });
    // The square root of 0 is 0, of ∞ is ∞, and of a negative number is NaN.
    let special = sqrt_of_special(t);
    if t.to_bits().wrapping_sub(1) < 0x7f7f_ffff { result } else { special }
}

#[inline(always)]
pub fn atanh(x: f32) -> f32 {
    let a = x.abs();
    let rest = 1.0 - a;
    let result = mul(ln_1p_plus(mul(a + a, rcp_normal(rest)), 0.0), 0.5);
    // `special` is ∞ for a magnitude of 1, and NaN for larger magnitudes.
    let special = -log_of_special(rest);
    (if a < 1.0 { result } else { special }).copysign(x)
}
