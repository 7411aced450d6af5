//! Hyperbolic functions and their inverses.
//!
//! The polynomials' coefficients are minimax ones among doubles (Sollya's `fpminimax`, relative error).

use super::arithmetic::{divide_in_range, magnitude_high, mul, mul_add, polynomial, recip_in_range, with_sign};
use super::exponential::half_exp;
use super::logarithm::{ln_1p_of_finite, ln_of_double};
use crate::backend::sqrt_f64 as sqrt;

/// The magnitude beyond which sinh and cosh are infinite.
const OVERFLOWS: f64 = 710.475_860_073_943_9;

#[inline(always)]
pub fn sinh(x: f64) -> f64 {
    let magnitude = x.abs();
    if magnitude < 1.0 {
        let square = mul(x, x);
        mul_add(
            x,
            mul(
                square,
                polynomial!(square; 0.16666666666666666, 0.00833333333333357, 0.00019841269841107664, 2.7557319265803774e-06, 2.505210527051185e-08, 1.6058674856017348e-10, 7.715532111515111e-13),
            ),
            x,
        )
    } else if magnitude <= OVERFLOWS {
        let half = half_exp(magnitude);
        with_sign(mul_add(-0.25, recip_in_range(half), half), x)
    } else {
        x + with_sign(f64::INFINITY, x)
    }
}

#[inline(always)]
pub fn cosh(x: f64) -> f64 {
    let magnitude = x.abs();
    if magnitude <= OVERFLOWS {
        let half = half_exp(magnitude);
        mul_add(0.25, recip_in_range(half), half)
    } else {
        magnitude + f64::INFINITY
    }
}

#[inline(always)]
pub fn tanh(x: f64) -> f64 {
    let magnitude = x.abs();
    if magnitude < 0.55 {
        let square = mul(x, x);
        mul_add(
            x,
            mul_add(
                square,
                polynomial!(square; -0.3333333333333333, 0.13333333333332442, -0.05396825396723129, 0.02186948848676332, -0.00886323426873449, 0.0035921089295509355, -0.0014556516443079005, 0.000588890894495556, -0.00023451212779401068, 8.492700144925568e-05, -2.048178616124409e-05),
                0.0,
            ),
            x,
        )
    } else {
        // tanh x = 1 − 2 / (e^2x + 1), which is 1 from 20 on; a NaN stays one.
        let magnitude = if magnitude > 20.0 { 20.0 } else { magnitude };
        let half = half_exp(magnitude + magnitude);
        with_sign(1.0 - recip_in_range(half + 0.5), x)
    }
}

#[inline(always)]
pub fn asinh(x: f64) -> f64 {
    let magnitude = x.abs();
    let result = if magnitude_high(x) < 0x41d0_0000 {
        let square = mul(magnitude, magnitude);
        let root = sqrt(1.0 + square);
        // x + √(x² + 1) − 1
        ln_1p_of_finite(mul_add(square, recip_in_range(1.0 + root), magnitude))
    } else if magnitude < f64::INFINITY {
        ln_of_double(magnitude)
    } else {
        magnitude
    };
    with_sign(if magnitude_high(x) < 0x3e30_0000 { magnitude } else { result }, x)
}

#[inline(always)]
pub fn acosh(x: f64) -> f64 {
    if x < 1.0 {
        f64::NAN
    } else if magnitude_high(x) < 0x41d0_0000 {
        let above = x - 1.0;
        ln_1p_of_finite(above + sqrt(mul_add(above, above, above + above)))
    } else if x < f64::INFINITY {
        ln_of_double(x)
    } else {
        x
    }
}

#[inline(always)]
pub fn atanh(x: f64) -> f64 {
    let magnitude = x.abs();
    if magnitude_high(x) < 0x3e30_0000 {
        x
    } else if magnitude < 1.0 {
        with_sign(mul(0.5, ln_1p_of_finite(divide_in_range(magnitude + magnitude, 1.0 - magnitude))), x)
    } else if magnitude == 1.0 {
        with_sign(f64::INFINITY, x)
    } else {
        f64::NAN
    }
}
