//! Exact remainders. The functions divide mantissas as integers. Each integer division yields some bits of the
//! quotient.

use super::arithmetic::{MAGIC, div, fma, rcp_normal};
use super::rounding::{ldexp, trunc};

/// Returns the mantissa of a finite `x` and the exponent of its last bit.
#[inline(always)]
fn parts(x: f32) -> (u32, i32) {
    let (field, mantissa) = (x.to_bits() >> 23 & 0xff, x.to_bits() & 0x007f_ffff);
    if field == 0 { (mantissa, 1) } else { (mantissa | 0x0080_0000, field as i32) }
}

/// Returns the remainder of |x| divided by |y|, and the low bits of the quotient's whole part. The remainder is NaN if
/// `x` is infinite, `y` is 0, or one of them is NaN.
#[inline(always)]
fn divide(x: f32, y: f32) -> (f32, u32) {
    let (a, b) = (x.abs(), y.abs());
    // If the quotient is below 2^22 and the divisor's reciprocal is normal, `shifted` has the nearest multiple or one
    // next to it. The rest is exact, because it has no more bits than the divisor.
    let shifted = fma(a, rcp_normal(b), MAGIC);
    if shifted < MAGIC + 4_194_304.0 && b.to_bits().wrapping_sub(0x1080_0000) < 0x6e00_0000 {
        let rest = fma(-(shifted - MAGIC), b, a);
        let quotient = shifted.to_bits() & 0x007f_ffff;
        return if rest < 0.0 { (rest + b, quotient.wrapping_sub(1)) } else { (rest, quotient) };
    }
    core::hint::cold_path();
    if !a.is_finite() || b.is_nan() || b == 0.0 {
        return (f32::NAN, 0);
    }
    if a < b {
        return (a, 0);
    }
    let ((mut rest, mut exponent), (divisor, last)) = (parts(a), parts(b));
    let mut quotient = 0;
    // The rest has at most 24 bits. Each round adds 8 bits of the dividend.
    let mut count = exponent - last;
    loop {
        let bits = count.min(8);
        let dividend = rest << bits;
        quotient = (quotient << bits) | (dividend / divisor);
        rest = dividend % divisor;
        exponent -= bits;
        count -= bits;
        if count == 0 {
            break;
        }
    }
    (ldexp(rest as f32, exponent - 150), quotient)
}

#[inline(always)]
pub fn fmod(x: f32, y: f32) -> f32 {
    divide(x, y).0.copysign(x)
}

#[inline(always)]
pub fn remquo(x: f32, y: f32) -> (f32, i32) {
    let (mut rest, mut quotient) = divide(x, y);
    let divisor = y.abs();
    // If the rest is above half of the divisor, or is half of it and the quotient is odd, the next multiple is chosen.
    // The difference is exact, because the numbers are near each other.
    let other = divisor - rest;
    if rest > other || rest == other && quotient & 1 == 1 {
        (rest, quotient) = (-other, quotient.wrapping_add(1));
    }
    let low = (quotient & 7) as i32;
    let signed = f32::from_bits(rest.to_bits() ^ (x.to_bits() & 0x8000_0000));
    (signed, if (x.to_bits() ^ y.to_bits()) as i32 >= 0 { low } else { -low })
}

#[inline(always)]
pub fn remainder(x: f32, y: f32) -> f32 {
    remquo(x, y).0
}

#[inline(always)]
pub fn div_euclid(x: f32, y: f32) -> f32 {
    let quotient = trunc(div(x, y));
    if fmod(x, y) < 0.0 { if y > 0.0 { quotient - 1.0 } else { quotient + 1.0 } } else { quotient }
}

#[inline(always)]
pub fn rem_euclid(x: f32, y: f32) -> f32 {
    let rest = fmod(x, y);
    if rest < 0.0 { rest + y.abs() } else { rest }
}
