//! Sine, cosine and tangent.
//!
//! The functions subtract a multiple of π/2 from the argument, so that at most π/4 is left. Sine and cosine have one
//! polynomial each on this range. The multiple determines the polynomial and the sign of the result. The threads of a
//! warp may need different polynomials, so each thread loads its coefficients from a table. The polynomials are minimax
//! approximations for the relative error, with `f64` coefficients (Sollya's `fpminimax`).

use super::arithmetic::{
    TO_WHOLE, from_words, high, low, magnitude_high, mul, mul_add, negate_if, polynomial, recip_in_range,
};
use super::payne_hanek::{self, HALF_PI};
use crate::backend::trunc_f64 as trunc;

/// The upper word of 2^30. From 2^30 on, [`payne_hanek`] reduces the argument.
const FAR: i32 = 0x41d0_0000;

/// Returns `x − multiple · π/2`. The first subtraction is exact, because its terms are nearly equal multiples of an ulp
/// of π/2. The part of π/2 that is left out is far below the result. No `f64` below 2^30 is nearer to a multiple of π/2
/// than 2^−60.
#[inline(always)]
fn less_quarters(x: f64, multiple: f64) -> f64 {
    let rest = mul_add(multiple, -HALF_PI[0], x);
    mul_add(multiple, -HALF_PI[2], mul_add(multiple, -HALF_PI[1], rest))
}

/// Two rows of coefficients. Each thread uses one row. The alignment lets one access load two numbers.
#[repr(C, align(64))]
struct Rows([[f64; 8]; 2]);

/// The coefficients of `P`, lowest first, with zeros that fill the rows. The first row is for `sin r = r + r·r²·P(r²)`,
/// and the second for `cos r = 1 + r²·P(r²)`, each for `r` from −π/4 to π/4.
#[rustfmt::skip]
static ROWS: Rows = Rows([
    [-0.16666666666666663, 0.008333333333330252, -0.00019841269835970456, 2.7557315751151076e-06, -2.5051065222214675e-08, 1.5913637074760345e-10, 0.0, 0.0],
    [-0.5, 0.041666666666666664, -0.0013888888888886931, 2.480158729822819e-05, -2.7557317031440046e-07, 2.0876100847999624e-09, -1.1379584774484641e-11, 0.0],
]);

/// Returns `square · P(square)` with the coefficients in row `i` of [`ROWS`].
#[inline(always)]
fn beyond(i: usize, square: f64) -> f64 {
    let [a, b, c, d, e, f, g, _] = ROWS.0[i];
    // The sum with 0 turns a result of −0, which the square of a zero would give, into +0.
    mul_add(square, polynomial!(square; a, b, c, d, e, f, g), 0.0)
}

/// Returns the sine of `r + quarters·π/2` for `r` from −π/4 to π/4, by one polynomial with the coefficients for that
/// quarter.
#[inline(always)]
fn sin_of(r: f64, quarters: i32) -> f64 {
    let is_odd = quarters & 1;
    let first = if is_odd == 0 { r } else { 1.0 };
    negate_if(mul_add(first, beyond(is_odd as usize, mul(r, r)), first), quarters >> 1)
}

/// Returns the sine and cosine of `r + quarters·π/2` for `r` from −π/4 to π/4.
#[inline(always)]
fn rotated(r: f64, quarters: i32) -> (f64, f64) {
    let square = mul(r, r);
    let (sin, cos) = (mul_add(r, beyond(0, square), r), 1.0 + beyond(1, square));
    let (sin, cos) = if quarters & 1 == 0 { (sin, cos) } else { (cos, sin) };
    (negate_if(sin, quarters >> 1), negate_if(cos, (quarters + 1) >> 1))
}

/// Returns `r`, and the whole number `quarters` modulo 4, such that `x = quarters·π/2 + r`. `r` is NaN if `x` is
/// infinite or NaN.
#[inline(always)]
fn reduce(x: f64) -> (f64, i32) {
    if magnitude_high(x) < FAR {
        let shifted = mul_add(x, core::f64::consts::FRAC_2_PI, TO_WHOLE);
        (less_quarters(x, shifted - TO_WHOLE), low(shifted))
    } else {
        payne_hanek::reduce(x)
    }
}

#[inline(always)]
pub fn sin(x: f64) -> f64 {
    let (r, quarters) = reduce(x);
    sin_of(r, quarters)
}

#[inline(always)]
pub fn cos(x: f64) -> f64 {
    let (r, quarters) = reduce(x);
    sin_of(r, quarters + 1)
}

#[inline(always)]
pub fn sin_cos(x: f64) -> (f64, f64) {
    let (r, quarters) = reduce(x);
    rotated(r, quarters)
}

#[inline(always)]
pub fn tan(x: f64) -> f64 {
    let (r, quarters) = reduce(x);
    let square = mul(r, r);
    let beyond = mul(
        mul(r, square),
        polynomial!(square; 0.33333333333333326, 0.13333333333337585, 0.05396825396388332, 0.021869488714758873, 0.00886323171764933, 0.003592176693194011, 0.0014554334560002938, 0.0005922583784934022, 0.0002305413969563734, 0.00011995359091088176, -3.372369974385947e-06, 6.862229201942682e-05, -3.3805728890001774e-05, 1.8242542864754796e-05),
    );
    let tan = r + beyond;
    let result = if quarters & 1 == 0 {
        tan
    } else {
        // The inverse uses the tangent in two parts, because the tangent's rounding would be most of the error.
        let inverse = recip_in_range(tan);
        let rest = mul_add(-tan, inverse, 1.0);
        -mul_add(mul_add(-(beyond - (tan - r)), inverse, rest), inverse, inverse)
    };
    if magnitude_high(x) < 0x3e40_0000 { x } else { result }
}

/// Returns `r`, and the whole number `quarters` modulo 4, such that `x = quarters/2 + r`.
#[inline(always)]
fn reduce_half_turns(x: f64) -> (f64, i32) {
    let x = if magnitude_high(x) < 0x4310_0000 { x } else { less_even(x) };
    let shifted = mul_add(x, 2.0, TO_WHOLE);
    (mul_add(shifted - TO_WHOLE, -0.5, x), low(shifted))
}

/// Subtracts an even number from an `x` of magnitude 2^50 or more, because `TO_WHOLE` cannot round from 2^51 on. The
/// subtraction does not change `sinpi` or `cospi`.
#[cold]
#[inline(always)]
fn less_even(x: f64) -> f64 {
    mul_add(-2.0, trunc(mul(x, 0.5)), x)
}

/// Returns `π·r`.
#[inline(always)]
fn times_pi(r: f64) -> f64 {
    mul_add(r, core::f64::consts::PI, mul(r, 1.2246467991473532e-16))
}

/// Returns `sin`, or a zero with the sign of `x` if `sin` is zero.
#[inline(always)]
fn signed_zero(sin: f64, x: f64) -> f64 {
    from_words(if sin == 0.0 { high(x) & i32::MIN } else { high(sin) }, low(sin))
}

#[inline(always)]
pub fn sinpi(x: f64) -> f64 {
    let (r, quarters) = reduce_half_turns(x);
    signed_zero(sin_of(times_pi(r), quarters), x)
}

#[inline(always)]
pub fn cospi(x: f64) -> f64 {
    let (r, quarters) = reduce_half_turns(x);
    // The zeros of the cosine are +0.
    sin_of(times_pi(r), quarters + 1) + 0.0
}

#[inline(always)]
pub fn sincospi(x: f64) -> (f64, f64) {
    let (r, quarters) = reduce_half_turns(x);
    let (sin, cos) = rotated(times_pi(r), quarters);
    (signed_zero(sin, x), cos + 0.0)
}
