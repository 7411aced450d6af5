//! The error function and related functions.
//!
//! Most functions here use the smooth function `e^(x²)·erfc(x)`. A polynomial in `t = (x − 4) / (x + 4)` approximates
//! this function times `1 + 2·x` (Shepherd and Laframboise, Mathematics of Computation 36, 1981). Among polynomials
//! with `f64` coefficients it is the minimax approximation for the relative error (Sollya's `fpminimax`).

use super::arithmetic::{magnitude_high, mul, mul_add, polynomial, recip_in_range, with_sign};
use super::exponential::{exp_corrected, exp_m1_of_negative};

/// Returns `e^(x²)·erfc(x)` for `x` from 0 to 50.
#[inline(always)]
pub fn scaled_complement(x: f64) -> f64 {
    // Both quotients use one reciprocal. Each quotient is then corrected by its remainder.
    let (below, factor) = (x + 4.0, mul_add(x, 2.0, 1.0));
    let inverse = recip_in_range(mul(below, factor));
    let inverse_below = mul(inverse, factor);
    let t = mul(x - 4.0, inverse_below);
    let rest = mul_add(-t, x, mul_add(-4.0, t + 1.0, x));
    let t = mul_add(rest, inverse_below, t);
    let product = polynomial!(t; 1.2329951186255526, -0.1396211168405628, 0.015379652102603869, 0.06809705425472262, -0.10103906603546871, 0.09373283499751107, -0.06633036582922279, 0.037167515547203246, -0.016197733880370963, 0.005031969926615418, -0.0007577743704369316, -0.00019925660942750112, 0.00015062579717551276, -2.4398842365240382e-05, -1.123213424405088e-05, 5.707394727854521e-06, 3.0974980652903165e-07, -8.198181540322942e-07, 5.901452881988267e-08, 1.0294481171604564e-07, -9.287048414914415e-09, -9.411912061034763e-09, -2.0970508918043735e-10);
    let inverse_factor = mul(inverse, below);
    let quotient = mul(product, inverse_factor);
    let rest = mul_add(mul(-2.0, x), quotient, product - quotient);
    mul_add(rest, inverse_factor, quotient)
}

/// Returns `e^(sign·x²)`, where `sign` is 1 or −1.
#[inline(always)]
pub fn exp_of_square(x: f64, sign: f64) -> f64 {
    let square = mul(x, x);
    exp_corrected(mul(sign, square), mul(sign, mul_add(x, x, -square)))
}

/// Returns the error function as `1 − e^−t(|x|)` with the sign of `x`. The polynomial `t` approximates the negative
/// logarithm of `erfc`. This form needs no branch and is precise near 0.
///
/// The polynomial is a minimax approximation for the relative error of the result, which is 3e-17.
#[inline(always)]
pub fn erf(x: f64) -> f64 {
    // From here on the result is 1. NaN stays NaN.
    let magnitude = if x.abs() > 5.9375 { 5.9375 } else { x.abs() };
    let factor_less_1 = polynomial!(magnitude; 0.12837916709551256, 0.636619772367591, 0.10277260330131222, -0.019128446993026918, -0.00020919485465089102, 0.0016962076744897942, -0.000590132449096448, 2.590455281003806e-05, 6.44203663378002e-05, -2.9575513362721416e-05, 3.169503178070706e-06, 3.133102365015677e-06, -2.037277935094636e-06, 5.706764360206216e-07, -1.1724816431129956e-08, -6.572875367962767e-08, 3.458379515432921e-08, -1.0773169146125159e-08, 2.3604884201165704e-09, -3.760674670779543e-10, 4.301736744594109e-11, -3.364298423180756e-12, 1.6148378207542224e-13, -3.592100710847826e-15);
    let exponent = mul_add(magnitude, -factor_less_1, -magnitude);
    with_sign(-exp_m1_of_negative(exponent), x)
}

#[inline(always)]
pub fn erfc(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    // From 28 on, the result is less than the smallest positive number.
    let magnitude = if x.abs() > 28.0 { 28.0 } else { x.abs() };
    let result = mul(exp_of_square(magnitude, -1.0), scaled_complement(magnitude));
    if x < 0.0 { 2.0 - result } else { result }
}

#[inline(always)]
pub fn erfcx(x: f64) -> f64 {
    if magnitude_high(x) >= 0x4049_0000 {
        return erfcx_far(x);
    }
    let result = scaled_complement(x.abs());
    // Below −27 the result overflows.
    if x < 0.0 { mul_add(2.0, exp_of_square(x, 1.0), -result) } else { result }
}

/// Returns `erfcx` for magnitudes of 50 and more.
#[cold]
#[inline(always)]
fn erfcx_far(x: f64) -> f64 {
    if x.is_nan() {
        x
    } else if x < 0.0 {
        f64::INFINITY
    } else {
        // The result has the first terms of 1 / (x·√π) · (1 − 1/(2·x²) + 3/(4·x⁴) − 15/(8·x⁶) …).
        let inverse = 1.0 / x;
        let square = mul(inverse, inverse);
        let beyond = mul(square, polynomial!(square; -0.5, 0.75, -1.875, 6.5625));
        let first = mul(inverse, 0.5641895835477563);
        mul_add(first, beyond, first)
    }
}

#[inline(always)]
pub fn normcdf(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    // Below −39 the result is less than the smallest positive number. From 9 on, the result rounds to 1.
    let magnitude = if x.abs() > 39.0 { 39.0 } else { x.abs() };
    // `y + y_low` is |x|·√½. The result is half of the erfc of this number.
    let y = mul(magnitude, core::f64::consts::FRAC_1_SQRT_2);
    let y_low = mul_add(magnitude, -4.833646656726457e-17, mul_add(magnitude, core::f64::consts::FRAC_1_SQRT_2, -y));
    let square = mul(y, y);
    let square_low = mul_add(y + y, y_low, mul_add(y, y, -square));
    let result = mul(exp_corrected(-square, -square_low), mul(0.5, scaled_complement(y)));
    if x < 0.0 { result } else { 1.0 - result }
}
