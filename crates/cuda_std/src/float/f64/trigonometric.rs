//! Sine, cosine and tangent.
//!
//! The argument is reduced by multiples of π/2 to at most π/4, where sine and cosine have a polynomial each; which of them is the
//! result, and its sign, depends on the multiple. Both are computed in any case, because the threads of a warp need either. The
//! coefficients are minimax ones among doubles (Sollya's `fpminimax`, relative error).

use super::arithmetic::{
    TO_WHOLE, low, magnitude_high, mul, mul_add, negate_if, polynomial, recip_in_range, with_sign,
};
use super::payne_hanek;
use crate::backend::trunc_f64 as trunc;

/// π/2 as the sum of three doubles. They are positive, so that no multiple of them by 0 makes −0 a +0.
pub const HALF_PI: [f64; 3] = [core::f64::consts::FRAC_PI_2, 6.123233995736765e-17, 1.082856673921914e-32];

/// The upper word of 2^30: from there on, [`payne_hanek`] reduces.
const FAR: i32 = 0x41d0_0000;

/// `x − multiple · π/2`. The first step is exact, since its terms are multiples of an ulp of
/// π/2 and nearly equal; what is left out is far below the result, because no double this small is nearer to a multiple of π/2 than
/// 2^−60.
#[inline(always)]
fn less_quarters(x: f64, multiple: f64) -> f64 {
    let rest = mul_add(multiple, -HALF_PI[0], x);
    mul_add(multiple, -HALF_PI[2], mul_add(multiple, -HALF_PI[1], rest))
}

/// `sin r` for `r` from −π/4 to π/4.
#[inline(always)]
fn sin_of_quarter(r: f64, square: f64) -> f64 {
    mul_add(
        r,
        mul_add(
            square,
            polynomial!(square; -0.16666666666666663, 0.008333333333330252, -0.00019841269835970456, 2.7557315751151076e-06, -2.5051065222214675e-08, 1.5913637074760345e-10),
            0.0,
        ),
        r,
    )
}

/// `cos r` for `r` from −π/4 to π/4.
#[inline(always)]
fn cos_of_quarter(square: f64) -> f64 {
    let beyond = polynomial!(square; 0.041666666666666664, -0.0013888888888886931, 2.480158729822819e-05, -2.7557317031440046e-07, 2.0876100847999624e-09, -1.1379584774484641e-11);
    mul_add(square, mul_add(square, beyond, -0.5), 1.0)
}

/// Sine and cosine of `r + quarters·π/2`, for `r` from −π/4 to π/4.
#[inline(always)]
fn rotated(r: f64, quarters: i32) -> (f64, f64) {
    let square = mul(r, r);
    let (sin, cos) = (sin_of_quarter(r, square), cos_of_quarter(square));
    let (sin, cos) = if quarters & 1 == 0 { (sin, cos) } else { (cos, sin) };
    (negate_if(sin, quarters >> 1), negate_if(cos, (quarters + 1) >> 1))
}

/// `r` and `quarters`, the whole number modulo 4, with `x = quarters·π/2 + r`. NaN for what has no sine.
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
    sin_cos(x).0
}

#[inline(always)]
pub fn cos(x: f64) -> f64 {
    sin_cos(x).1
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
    // Sine and cosine in two parts each: their roundings would be most of the error.
    let sin_beyond = mul(
        r,
        mul(
            square,
            polynomial!(square; -0.16666666666666663, 0.008333333333330252, -0.00019841269835970456, 2.7557315751151076e-06, -2.5051065222214675e-08, 1.5913637074760345e-10),
        ),
    );
    let cos_beyond = mul(
        square,
        mul_add(
            square,
            polynomial!(square; 0.041666666666666664, -0.0013888888888886931, 2.480158729822819e-05, -2.7557317031440046e-07, 2.0876100847999624e-09, -1.1379584774484641e-11),
            -0.5,
        ),
    );
    let (sin, cos) = (r + sin_beyond, 1.0 + cos_beyond);
    let (sin_low, cos_low) = (sin_beyond - (sin - r), cos_beyond - (cos - 1.0));
    let is_even = quarters & 1 == 0;
    let (above, above_low) = if is_even { (sin, sin_low) } else { (-cos, -cos_low) };
    let (below, below_low) = if is_even { (cos, cos_low) } else { (sin, sin_low) };
    let inverse = recip_in_range(below);
    let quotient = mul(above, inverse);
    let rest = mul_add(-below, quotient, above) + mul_add(-below_low, quotient, above_low);
    let result = mul_add(rest, inverse, quotient);
    if magnitude_high(x) < 0x3e40_0000 { x } else { result }
}

/// `r` and `quarters`, the whole number modulo 4, with `x = quarters/2 + r`.
#[inline(always)]
fn reduce_half_turns(x: f64) -> (f64, i32) {
    // Beyond 2^42 an even number is taken off first, which changes nothing: `TO_WHOLE` takes none of 2^51.
    let x = if magnitude_high(x) < 0x4290_0000 { x } else { mul_add(-2.0, trunc(mul(x, 0.5)), x) };
    let shifted = x + x + TO_WHOLE;
    (mul_add(shifted - TO_WHOLE, -0.5, x), low(shifted))
}

/// Sine and cosine of `π·(r + quarters/2)`, for `r` from −1/4 to 1/4.
#[inline(always)]
fn rotated_half_turns(r: f64, quarters: i32) -> (f64, f64) {
    let square = mul(r, r);
    let beyond = mul_add(
        square,
        polynomial!(square; -5.167712780049969, 2.5501640398765875, -0.599264529180758, 0.08214587713262454, -0.00737014040350914, 0.0004621900152415037),
        1.2246467991473532e-16,
    );
    let sin = mul_add(r, core::f64::consts::PI, mul(r, beyond));
    let cos = mul_add(
        square,
        polynomial!(square; -4.934802200544679, 4.058712126416626, -1.3352627688361198, 0.2353306293171374, -0.025806862262940468, 0.0019291657954454422, -0.0001020896015688777),
        1.0,
    );
    let (sin, cos) = if quarters & 1 == 0 { (sin, cos) } else { (cos, sin) };
    (negate_if(sin, quarters >> 1), negate_if(cos, (quarters + 1) >> 1))
}

#[inline(always)]
pub fn sinpi(x: f64) -> f64 {
    sincospi(x).0
}

#[inline(always)]
pub fn cospi(x: f64) -> f64 {
    sincospi(x).1
}

#[inline(always)]
pub fn sincospi(x: f64) -> (f64, f64) {
    let (r, quarters) = reduce_half_turns(x);
    let (sin, cos) = rotated_half_turns(r, quarters);
    // The sine of a whole number of half turns is a zero with the sign of `x`; the cosine's zeros are +0.
    (if r == 0.0 && quarters & 1 == 0 { with_sign(0.0, x) } else { sin }, cos + 0.0)
}
