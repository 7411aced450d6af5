//! Sine, cosine and tangent.
//!
//! A sine needs one polynomial if the argument is reduced by multiples of π: `x = k·π + r` with `r` from −π/2 to π/2 gives
//! `±sin r`. The cosine takes odd multiples of π/2 instead. Where both are wanted, or their quotient, `x` is reduced by multiples of
//! π/2, and there are two shorter polynomials. All coefficients are minimax ones among doubles (Sollya's `fpminimax`, relative
//! error).

use super::arithmetic::{
    TO_WHOLE, divide_in_range, from_words, high, low, magnitude_high, mul, mul_add, negate_if, polynomial, with_sign,
};
use super::payne_hanek;

/// π as the sum of three doubles.
pub const PI: [f64; 3] = [core::f64::consts::PI, 1.2246467991473532e-16, -2.9947698097183397e-33];

/// The upper word of 2^30: from there on, [`payne_hanek`] reduces.
const FAR: i32 = 0x41d0_0000;

/// `x − multiple · unit · π`, for a `unit` that is a power of two. The first step is exact, since its terms are multiples of an ulp of
/// π and nearly equal; what is left out is far below the result, because no double this small is nearer to a multiple of π/2 than
/// 2^−60.
#[inline(always)]
fn less_multiple_of_pi(x: f64, multiple: f64, unit: f64) -> f64 {
    let rest = mul_add(multiple, -PI[0] * unit, x);
    mul_add(multiple, -PI[2] * unit, mul_add(multiple, -PI[1] * unit, rest))
}

/// `sin r` for `r` from −π/2 to π/2 and a little beyond.
#[inline(always)]
fn sin_of_half_period(r: f64) -> f64 {
    let square = mul(r, r);
    // Adding 0 makes −0 a +0, so that the result has the sign of `r` if it is 0.
    mul_add(
        r,
        mul_add(
            square,
            polynomial!(square; -0.16666666666666666, 0.008333333333333184, -0.00019841269841198257, 2.7557319208374326e-06, -2.5052106561573572e-08, 1.6058921949407248e-10, -7.642489927401924e-13, 2.7155992123368777e-15),
            0.0,
        ),
        r,
    )
}

/// `sin r` for `r` from −π/4 to π/4.
#[inline(always)]
fn sin_of_quarter(r: f64, square: f64) -> f64 {
    mul_add(
        r,
        mul_add(
            square,
            polynomial!(square; -0.16666666666666663, 0.008333333333330195, -0.00019841269835887366, 2.7557315713014853e-06, -2.5051058254398288e-08, 1.5913195348281145e-10),
            0.0,
        ),
        r,
    )
}

/// `cos r` for `r` from −π/4 to π/4.
#[inline(always)]
fn cos_of_quarter(square: f64) -> f64 {
    let beyond = polynomial!(square; 0.041666666666666664, -0.001388888888888693, 2.4801587298225363e-05, -2.7557317030240853e-07, 2.0876100641807737e-09, -1.1379572327538787e-11);
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
        (less_multiple_of_pi(x, shifted - TO_WHOLE, 0.5), low(shifted))
    } else {
        payne_hanek::reduce(x)
    }
}

#[inline(always)]
pub fn sin(x: f64) -> f64 {
    if magnitude_high(x) < FAR {
        let shifted = mul_add(x, core::f64::consts::FRAC_1_PI, TO_WHOLE);
        let r = less_multiple_of_pi(x, shifted - TO_WHOLE, 1.0);
        negate_if(sin_of_half_period(r), low(shifted))
    } else {
        let (r, quarters) = payne_hanek::reduce(x);
        rotated(r, quarters).0
    }
}

/// `k + 1/2` for the whole number `k` that is at most `x` (or nearly: at most `x` + 1/128), and `k` in its lowest bit.
#[inline(always)]
fn nearest_half(x: f64, factor: f64) -> (f64, i32) {
    /// 1.5 · 2^45. Numbers added to it are rounded to multiples of 1/128.
    const TO_FRACTION: f64 = 52_776_558_133_248.0;
    let shifted = mul_add(x, factor, TO_FRACTION);
    let half = from_words(high(shifted), low(shifted) & !127 | 64) - TO_FRACTION;
    (half, low(shifted) >> 7)
}

#[inline(always)]
pub fn cos(x: f64) -> f64 {
    if magnitude_high(x) < FAR {
        let (half, whole) = nearest_half(x, core::f64::consts::FRAC_1_PI);
        negate_if(sin_of_half_period(less_multiple_of_pi(x, half, 1.0)), whole + 1)
    } else {
        let (r, quarters) = payne_hanek::reduce(x);
        rotated(r, quarters).1
    }
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
    let (sin, cos) = (sin_of_quarter(r, square), cos_of_quarter(square));
    let (above, below) = if quarters & 1 == 0 { (sin, cos) } else { (-cos, sin) };
    if magnitude_high(x) < 0x3e40_0000 { x } else { divide_in_range(above, below) }
}

/// `sin(π·r)` for `r` from −1/2 to 1/2 and a little beyond.
#[inline(always)]
fn sinpi_of_half_period(r: f64) -> f64 {
    let square = mul(r, r);
    let beyond = mul_add(
        square,
        polynomial!(square; -5.16771278004997, 2.550164039877375, -0.5992645293218186, 0.08214588662445532, -0.0073704309871057755, 0.0004663022590553434, -2.19098576618753e-05, 7.76438217516628e-07),
        1.2246467991473532e-16,
    );
    mul_add(r, core::f64::consts::PI, mul(r, beyond))
}

/// `x` less an even number, so that the result is below 2 in magnitude, where `x` is too large for [`TO_WHOLE`].
#[inline(always)]
fn modulo_two(x: f64) -> f64 {
    if magnitude_high(x) < 0x4290_0000 {
        return x; // below 2^42
    }
    mul_add(-2.0, crate::backend::trunc_f64(mul(x, 0.5)), x)
}

#[inline(always)]
pub fn sinpi(x: f64) -> f64 {
    let reduced = modulo_two(x);
    let shifted = reduced + TO_WHOLE;
    let r = reduced - (shifted - TO_WHOLE);
    let result = negate_if(sinpi_of_half_period(r), low(shifted));
    // At whole numbers it is a zero with the sign of `x`.
    if r == 0.0 { with_sign(0.0, x) } else { result }
}

#[inline(always)]
pub fn cospi(x: f64) -> f64 {
    let reduced = modulo_two(x);
    let (half, whole) = nearest_half(reduced, 1.0);
    let r = reduced - half;
    let result = negate_if(sinpi_of_half_period(r), whole + 1);
    if r == 0.0 { 0.0 } else { result }
}

#[inline(always)]
pub fn sincospi(x: f64) -> (f64, f64) {
    (sinpi(x), cospi(x))
}
