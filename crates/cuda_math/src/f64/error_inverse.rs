//! The inverses of the error function, of its complement, and of the standard normal distribution.
//!
//! Between −0.998 and 0.998, `erfinv(x) / x` is a polynomial in `ln(1 − x²)` (Giles). Outside of this range, a
//! polynomial yields 7 digits, and one step of Halley's method with the error function yields the other digits. The
//! polynomials interpolate at Chebyshev points.

use super::arithmetic::{mul, mul_add, polynomial, with_sign};
use super::error::{exp_of_square, scaled_complement};
use super::logarithm::{ln, ln_1p, ln_of_normal};
use crate::backend::sqrt_f64 as sqrt;

/// Returns the inverse of `erf` at `x`. `complement` is 1 − x² and must be at least [`CENTRAL`].
#[inline(always)]
fn central(x: f64, complement: f64) -> f64 {
    let u = -2.75 - ln_of_normal(complement);
    mul(
        x,
        polynomial!(u; 1.5627896112343589, 0.2443302590150765, -0.005035975749999901, -0.0010385819182153115, 0.00020906626774576677, -9.486052875380273e-06, -2.5688350026629574e-06, 4.829529912717223e-07, -8.219306848240092e-09, -8.285168602933168e-09, 1.1138666579235678e-09, 3.337121252285727e-11, -2.564557158997102e-11, 2.2795261511565018e-12, 2.47128151487776e-13, -7.39713175047235e-14, 3.488820887151989e-15, 1.1350632119692946e-15, -1.934801683178306e-16, -5.566835345915609e-18, 3.924230900958968e-18, -8.008475189664682e-20, -3.738092862465069e-20),
    )
}

/// The least `1 − x²` for which [`central`] is used: e^−5.5, rounded up.
const CENTRAL: f64 = 0.004_086_772;

/// Returns the inverse of `erfc` for 0 < `q` < 0.003.
#[inline(always)]
fn tail(q: f64) -> f64 {
    let logarithm = ln(q);
    let root = sqrt(-logarithm);
    let x = if root < 4.0 {
        let v = root - 2.6;
        polynomial!(v; 2.2971964666487668, 1.0460155681495935, -0.005009989697935803, -0.0009752589218226483, 0.0010583974160335505, -0.0005460993282427546, 0.00023355826480811232, -0.00010231149970287464, 4.0186365191533824e-05, -7.999843507015008e-06)
    } else {
        let v = 1.0 / root - 0.125;
        mul(
            root,
            polynomial!(v; 0.9791678599503192, -0.2718505891984053, -0.5995756847138708, 1.2755786375551486, -2.576966038669806, 7.926439896542372, -42.461882542942455, 253.4584766816135, -693.3142383705136),
        )
    };
    // This is Halley's step for f(x) = ln erfc(x) − ln q. With c = e^(x²)·erfc(x), f′ = −2 / (√π·c) and f″ / f′ = −(2·x
    // + f′).
    let scaled = scaled_complement(x);
    let slope = -core::f64::consts::FRAC_2_SQRT_PI / scaled;
    let step = ln_of_quotient(x, scaled, q, logarithm) / slope;
    x - mul(step, mul_add(step, mul(-0.5, mul_add(2.0, x, slope)), 1.0))
}

/// Returns `ln(erfc(x) / q)`, which is small. `scaled` is `e^(x²)·erfc(x)`, and `logarithm` is `ln q`.
#[inline(always)]
fn ln_of_quotient(x: f64, scaled: f64, q: f64, logarithm: f64) -> f64 {
    if x < 24.0 {
        ln_1p((mul(exp_of_square(x, -1.0), scaled) - q) / q)
    } else {
        // erfc(x) may be subnormal, so the quotient is computed from the logarithms.
        let square = mul(x, x);
        ln(scaled) - mul_add(x, x, -square) - (square + logarithm)
    }
}

#[inline(always)]
pub fn erfinv(x: f64) -> f64 {
    let complement = mul_add(-x, x, 1.0);
    if complement > CENTRAL {
        central(x, complement)
    } else if x.abs() < 1.0 {
        with_sign(tail(1.0 - x.abs()), x)
    } else if x.abs() == 1.0 {
        with_sign(f64::INFINITY, x)
    } else {
        f64::NAN
    }
}

#[inline(always)]
pub fn erfcinv(x: f64) -> f64 {
    let complement = mul(x, 2.0 - x);
    if complement > CENTRAL {
        central(1.0 - x, complement)
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
