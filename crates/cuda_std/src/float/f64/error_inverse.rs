//! The inverses of the error function, of its complement, and of the normal distribution.
//!
//! A polynomial gives 7 digits, a step of Halley's method with the function itself gives the rest. The polynomials interpolate at
//! Chebyshev's points.

use super::arithmetic::{mul, mul_add, polynomial, with_sign};
use super::error::{erf_near_zero, exp_of_square, scaled_complement};
use super::logarithm::{ln, ln_1p};
use crate::backend::sqrt_f64 as sqrt;

/// The inverse of `erf`, for magnitudes up to 0.51.
#[inline(always)]
fn central(p: f64) -> f64 {
    let square = mul(p, p);
    let x = mul(
        p,
        polynomial!(square; 0.8862269253964657, 0.23201369417613255, 0.12755396510026787, 0.08661886675400851, 0.06398182628654825, 0.05936325335565729, 0.011021291530535968, 0.09943856068051064),
    );
    // (erf x − p) / erf′(x), and Halley's correction of it: erf″ = −2·x·erf′.
    let step = mul(mul(erf_near_zero(x) - p, 0.886226925452758), exp_of_square(x, 1.0));
    x - mul(step, mul_add(x, step, 1.0))
}

/// The inverse of `erfc`, for 0 < `q` < 0.51.
#[inline(always)]
fn tail(q: f64) -> f64 {
    let logarithm = ln(q);
    let root = sqrt(-logarithm);
    let x = if root < 1.6 {
        let v = root - 1.2;
        polynomial!(v; 0.8362957444255983, 1.0141766126208653, 0.0657351970523352, -0.06771680633514844, 0.04729206422665869, -0.02580512297861394, 0.009815697817859853, -0.0012302968376956252)
    } else if root < 4.0 {
        let v = root - 2.6;
        polynomial!(v; 2.2971964666487668, 1.0460155681495935, -0.005009989697935803, -0.0009752589218226483, 0.0010583974160335505, -0.0005460993282427546, 0.00023355826480811232, -0.00010231149970287464, 4.0186365191533824e-05, -7.999843507015008e-06)
    } else {
        let v = 1.0 / root - 0.125;
        mul(
            root,
            polynomial!(v; 0.9791678599503192, -0.2718505891984053, -0.5995756847138708, 1.2755786375551486, -2.576966038669806, 7.926439896542372, -42.461882542942455, 253.4584766816135, -693.3142383705136),
        )
    };
    // Halley's step for f(x) = ln erfc(x) − ln q: with c = e^(x²)·erfc(x), f′ = −2 / (√π·c) and f″ / f′ = −(2·x + f′).
    let scaled = scaled_complement(x);
    let slope = -core::f64::consts::FRAC_2_SQRT_PI / scaled;
    let step = ln_of_quotient(x, scaled, q, logarithm) / slope;
    x - mul(step, mul_add(step, mul(-0.5, mul_add(2.0, x, slope)), 1.0))
}

/// `ln(erfc(x) / q)`, which is small.
#[inline(always)]
fn ln_of_quotient(x: f64, scaled: f64, q: f64, logarithm: f64) -> f64 {
    if x < 24.0 {
        ln_1p((mul(exp_of_square(x, -1.0), scaled) - q) / q)
    } else {
        // erfc(x) may be subnormal: by the logarithms.
        let square = mul(x, x);
        ln(scaled) - mul_add(x, x, -square) - (square + logarithm)
    }
}

#[inline(always)]
pub fn erfinv(x: f64) -> f64 {
    let magnitude = x.abs();
    if magnitude <= 0.5 {
        if magnitude < 1e-8 { mul(x, 0.886226925452758) } else { central(x) }
    } else if magnitude < 1.0 {
        with_sign(tail(1.0 - magnitude), x)
    } else if magnitude == 1.0 {
        with_sign(f64::INFINITY, x)
    } else {
        f64::NAN
    }
}

#[inline(always)]
pub fn erfcinv(x: f64) -> f64 {
    if (0.5..=1.5).contains(&x) {
        erfinv(1.0 - x)
    } else if x > 0.0 && x < 2.0 {
        if x < 1.0 { tail(x) } else { -tail(2.0 - x) }
    } else if x == 0.0 {
        f64::INFINITY
    } else if x == 2.0 {
        f64::NEG_INFINITY
    } else {
        f64::NAN
    }
}

#[inline(always)]
pub fn normcdfinv(x: f64) -> f64 {
    mul(-core::f64::consts::SQRT_2, erfcinv(x + x))
}
