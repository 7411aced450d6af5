//! Sines, cosines and tangents. The functions first subtract a multiple of π (or π/2) from the angle, in three parts of
//! 24 bits each. For a large angle, they use only the bits of 2/π that affect the result (Payne and Hanek).

use crate::backend;

use super::arithmetic::{MAGIC, fma, horner, mul, rcp_normal};

/// π/2 as a sum of three parts. All are positive, so their products with ±0 have the sign of the zero.
const HALF_PI: [f32; 3] = [1.570_796_25, 7.549_789_4e-8, 5.390_302_9e-15];
/// π as a sum of three parts.
const PI: [f32; 3] = [3.141_592_5, 1.509_957_9e-7, 1.078_060_6e-14];

/// From this magnitude on, [`quarter_turns`] reduces the angle. For smaller angles the three parts suffice, because the
/// product of the first part and the multiple is exact.
const LARGE: f32 = 131_072.0;

/// 32 zero bits, followed by the bits of 2/π.
const TWO_OVER_PI: [u32; 8] =
    [0, 0xa2f9_836e, 0x4e44_1529, 0xfc27_57d1, 0xf534_ddc0, 0xdb62_9599, 0x3c43_9041, 0xfe51_63ab];

/// Returns `x` · 2/π modulo 4 in units of 2^−62, for a finite `x` of magnitude 1 or more.
#[inline(always)]
fn quarter_turns(x: f32) -> u64 {
    core::hint::cold_path();
    let bits = x.to_bits();
    let mantissa = u64::from(bits & 0x007f_ffff | 0x0080_0000);
    // The position in `TWO_OVER_PI` of the bit of 2/π whose product with the mantissa's last bit is 2. The table begins
    // with 32 zeros, and an exponent field of 150 means a last bit of 2^0.
    let first = ((bits >> 23 & 0xff) + 30).wrapping_sub(150);
    let (word, shift) = ((first >> 5) as usize, first & 31);
    let at = |i: usize| u64::from(TWO_OVER_PI[(word + i) & 7]);
    let window = |i: usize| (at(i) << 32 | at(i + 1)) << shift >> 32;
    let (high, middle, low) = (window(0), window(1), window(2));
    let product = ((mantissa * high) << 32).wrapping_add(mantissa * middle).wrapping_add((mantissa * low) >> 32);
    if (x.to_bits() as i32) < 0 { product.wrapping_neg() } else { product }
}

/// Converts the angle `part` from the units of [`quarter_turns`] to radians.
#[inline(always)]
fn radians(part: i64) -> f32 {
    (part as f64 * 3.406_121_580_086_554_4e-19) as f32
}

/// Returns sin(r) for r up to π/2 in magnitude, with a relative error of 7e-9. The polynomials in this file are minimax
/// approximations for the relative error. Their coefficients have 24 bits each, from Sollya's `fpminimax`.
#[inline(always)]
fn sin_within_half_turn(r: f32) -> f32 {
    let s = mul(r, r);
    let q = horner!(s; -0.166_666_6, 8.333_069e-3, -1.980_977_2e-4, 2.606_074_8e-6);
    // The sum with 0 prevents a product of −0, which would change the sign of an `r` of −0.
    let sin = fma(fma(s, r, 0.0), q, r);
    // A result rounded beyond 1 would be wrong by 2 ulp.
    backend::minimum_number_f32(backend::maximum_number_f32(sin, -1.0), 1.0)
}

/// Returns sin(r) · (−1)^n. Only the low bit of `n` counts.
#[inline(always)]
fn signed_sin(r: f32, n: u32) -> f32 {
    f32::from_bits(sin_within_half_turn(r).to_bits() ^ n << 31)
}

#[inline(always)]
fn subtract(x: f32, n: f32, parts: [f32; 3]) -> f32 {
    fma(n, -parts[2], fma(n, -parts[1], fma(n, -parts[0], x)))
}

/// Returns the sine of the angle `turns`, which is in the units of [`quarter_turns`].
#[inline(always)]
fn sin_of_turns(turns: u64) -> f32 {
    let n = turns.wrapping_add(1 << 62) >> 63;
    signed_sin(radians(turns.wrapping_sub(n << 63) as i64), n as u32)
}

#[inline(always)]
pub fn sin(x: f32) -> f32 {
    if x.abs() < LARGE {
        let shifted = fma(x, core::f32::consts::FRAC_1_PI, MAGIC);
        signed_sin(subtract(x, shifted - MAGIC, PI), shifted.to_bits())
    } else if x.abs() < f32::INFINITY {
        sin_of_turns(quarter_turns(x))
    } else {
        f32::NAN
    }
}

#[inline(always)]
pub fn cos(x: f32) -> f32 {
    if x.abs() < LARGE {
        // cos(x) = sin(x + π/2). The reduced angle is the distance of x from the nearest odd multiple of π/2.
        let shifted = fma(x, core::f32::consts::FRAC_1_PI, 0.5) + MAGIC;
        let n = (shifted - MAGIC) - 0.5;
        signed_sin(subtract(x, n, PI), shifted.to_bits())
    } else if x.abs() < f32::INFINITY {
        sin_of_turns(quarter_turns(x).wrapping_add(1 << 62))
    } else {
        f32::NAN
    }
}

/// Returns the angle `x` − n·π/2, at most π/4 in magnitude, and the low bits of the whole number n.
#[inline(always)]
fn reduce(x: f32) -> (f32, u32) {
    if x.abs() < LARGE {
        let shifted = fma(x, core::f32::consts::FRAC_2_PI, MAGIC);
        (subtract(x, shifted - MAGIC, HALF_PI), shifted.to_bits())
    } else if x.abs() < f32::INFINITY {
        let turns = quarter_turns(x);
        let n = turns.wrapping_add(1 << 61) >> 62;
        (radians(turns.wrapping_sub(n << 62) as i64), n as u32)
    } else {
        (f32::NAN, 0)
    }
}

/// Returns the sine and cosine of the angle n·π/2 + r from the sine and cosine of r.
#[inline(always)]
fn turned(sin: f32, cos: f32, n: u32) -> (f32, f32) {
    let (sin, cos) = if n & 1 == 0 { (sin, cos) } else { (cos, sin) };
    let turn = |value: f32, n: u32| f32::from_bits(value.to_bits() ^ (n << 30 & 0x8000_0000));
    (turn(sin, n), turn(cos, n.wrapping_add(1)))
}

#[inline(always)]
pub fn sin_cos(x: f32) -> (f32, f32) {
    let (r, n) = reduce(x);
    let s = mul(r, r);
    let sin = fma(fma(s, r, 0.0), horner!(s; -0.166_666_55, 8.332_188e-3, -1.951_805_8e-4), r);
    let cos = horner!(s; 1.0, -0.5, 4.166_664_6e-2, -1.388_730_9e-3, 2.443_233e-5);
    turned(sin, cos, n)
}

#[inline(always)]
pub fn tan(x: f32) -> f32 {
    let (r, n) = reduce(x);
    let s = mul(r, r);
    let q = horner!(s; 0.333_331_53, 0.133_389_06, 5.340_269e-2, 2.446_049_3e-2, 3.071_353e-3, 9.414_192e-3);
    let value = fma(mul(s, r), q, r);
    if n & 1 == 0 { value } else { -rcp_normal(value) }
}

/// Returns `x` − n/2, at most 1/4 in magnitude, and the low bits of the whole number n.
#[inline(always)]
fn reduce_turns(x: f32) -> (f32, u32) {
    // The function first subtracts whole turns, which is exact. A large x consists of whole turns only.
    let x = fma(super::round_ties_even(mul(x, 0.5)), -2.0, x);
    let shifted = fma(x, 2.0, MAGIC);
    (fma(shifted - MAGIC, -0.5, x), shifted.to_bits())
}

/// Returns sin(π·r) and cos(π·r) for |r| up to 1/4.
#[inline(always)]
fn within_quarter(r: f32) -> (f32, f32) {
    let s = mul(r, r);
    // π is a sum of two parts here.
    let sin = fma(r, 3.141_592_7, mul(r, horner!(s; -8.742_278e-8, -5.167_707_4, 2.549_752, -0.588_921_6)));
    let cos = horner!(s; 1.0, -4.934_802, 4.058_698_7, -1.334_835_9, 0.229_745_3);
    (sin, cos)
}

/// Returns `value`, negated if bit 1 of `n` is set. A result of −0 becomes +0.
#[inline(always)]
fn turned_from_zero(value: f32, n: u32) -> f32 {
    fma(value, f32::from_bits(n << 30 & 0x8000_0000 | 0x3f80_0000), 0.0)
}

#[inline(always)]
pub fn sincospi(x: f32) -> (f32, f32) {
    let (r, n) = reduce_turns(x.abs());
    let (sin, cos) = within_quarter(r);
    let (sin, cos) = if n & 1 == 0 { (sin, cos) } else { (cos, sin) };
    // At a whole number, the sine is a zero with the number's sign. A cosine that is zero is +0.
    let sin = turned_from_zero(sin, n);
    (f32::from_bits(sin.to_bits() ^ x.to_bits() & 0x8000_0000), turned_from_zero(cos, n.wrapping_add(1)))
}

#[inline(always)]
pub fn sinpi(x: f32) -> f32 {
    sincospi(x).0
}

#[inline(always)]
pub fn cospi(x: f32) -> f32 {
    sincospi(x).1
}
