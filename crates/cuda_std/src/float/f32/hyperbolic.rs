//! Hyperbolic functions and their inverses.

use super::arithmetic::{div_normal, fma, horner, mul, rcp_normal, sqrt_normal};
use super::exponential::{exp_within, half_exp};
use super::logarithm::ln_1p_plus;

// The coefficients of this file are minimax, as Sollya's `fpminimax` finds them with 24 bits each, for the relative error.

#[inline(always)]
pub fn sinh(x: f32) -> f32 {
    let a = x.abs();
    if a < 1.0 {
        let s = mul(x, x);
        fma(mul(s, x), horner!(s; 0.166_667_16, 8.330_274e-3, 2.037_284_1e-4), x)
    } else {
        let half = half_exp(a);
        // The reciprocal of what is above 2^30 is nothing beside it.
        (if a < 22.0 { fma(rcp_normal(half), -0.25, half) } else { half }).copysign(x)
    }
}

#[inline(always)]
pub fn cosh(x: f32) -> f32 {
    let a = x.abs();
    let half = half_exp(a);
    if a < 22.0 { fma(rcp_normal(half), 0.25, half) } else { half }
}

#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    let a = x.abs();
    if a < 0.55 {
        let s = mul(x, x);
        let q = horner!(s; -0.333_333_16, 0.133_325_55, -5.384_933_9e-2, 2.106_020_2e-2, -6.258_64e-3);
        fma(fma(s, x, 0.0), q, x)
    } else {
        // From 10 on it is 1.
        let a = if a > 10.0 { 10.0 } else { a };
        fma(rcp_normal(exp_within(a + a) + 1.0), -2.0, 1.0).copysign(x)
    }
}

/// From here on 1 + x² is x².
const LARGE: f32 = 1_073_741_824.0;

#[inline(always)]
pub fn asinh(x: f32) -> f32 {
    let a = x.abs();
    // e^asinh(a) − 1 = a + a² / (1 + √(1 + a²)), or e^asinh(a) = 2a.
    let large = a >= LARGE;
    let square = if large { 1.0 } else { mul(a, a) };
    let sum = fma(square, rcp_normal(1.0 + sqrt_normal(1.0 + square)), a);
    let result = ln_1p_plus(if large { a } else { sum }, if large { 1.0 } else { 0.0 }).copysign(x);
    if a < f32::INFINITY { result } else { x }
}

#[inline(always)]
pub fn acosh(x: f32) -> f32 {
    // e^acosh(1 + t) − 1 = t + √(t² + 2t), or e^acosh(x) = 2x.
    let large = x >= LARGE;
    let t = if large { 1.0 } else { x - 1.0 };
    let sum = t + sqrt_normal(fma(t, t, t + t));
    let result = ln_1p_plus(if large { x } else { sum }, if large { 1.0 } else { 0.0 });
    let result = if x < f32::INFINITY { result } else { x };
    if x > 1.0 {
        result
    } else if x == 1.0 {
        0.0
    } else {
        f32::NAN
    }
}

#[inline(always)]
pub fn atanh(x: f32) -> f32 {
    let a = x.abs();
    // Below 2^−12 the next term is nothing, and the quotient might be subnormal.
    let small = a < 0.000_244_140_63;
    let safe = if small { 0.5 } else { a };
    let far = mul(ln_1p_plus(div_normal(safe + safe, 1.0 - safe), 0.0), 0.5);
    let result = if small { fma(mul(a, a), mul(a, 0.333_333_34), a) } else { far };
    let result = if a == 1.0 { f32::INFINITY } else { result };
    if a <= 1.0 { result.copysign(x) } else { f32::NAN }
}
