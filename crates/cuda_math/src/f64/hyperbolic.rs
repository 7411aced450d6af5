//! Hyperbolic functions and their inverses.
//!
//! The polynomials are minimax approximations for the relative error, with `f64` coefficients (Sollya's `fpminimax`).

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
                polynomial!(square; 0.16666666666666666, 0.00833333333333357, 0.00019841269841107558, 2.7557319265876707e-06, 2.5052105253047184e-08, 1.6058676610697376e-10, 7.715468888780386e-13),
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
    if magnitude < 0.75 {
        let square = mul(x, x);
        mul_add(
            x,
            mul_add(
                square,
                polynomial!(square; -0.3333333333333333, 0.1333333333333246, -0.05396825396743691, 0.021869488505164004, -0.008863234910758628, 0.0035921206105440162, -0.001455776770666369, 0.0005897252583999133, -0.00023803149815648794, 9.412848157808185e-05, -3.435072721913457e-05, 9.948053047992289e-06, -1.610478648217395e-06),
                0.0,
            ),
            x,
        )
    } else if magnitude < 20.0 {
        // tanh x = 1 − 2 / (e^2x + 1)
        with_sign(1.0 - recip_in_range(half_exp(magnitude + magnitude) + 0.5), x)
    } else if x.is_nan() {
        x
    } else {
        with_sign(1.0, x)
    }
}

#[inline(always)]
pub fn asinh(x: f64) -> f64 {
    let magnitude = x.abs();
    let result = if magnitude_high(x) < 0x41d0_0000 {
        let square = mul(magnitude, magnitude);
        let root = sqrt(1.0 + square);
        // The argument is x + √(x² + 1) − 1.
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
