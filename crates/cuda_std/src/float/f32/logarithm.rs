//! Logarithms: of the exponent, exactly, and a polynomial of a mantissa from 2/3 to 4/3.

use super::arithmetic::{add_towards_zero, fma, horner, mul};

const LN_2: f32 = core::f32::consts::LN_2;
const TWO_THIRDS: u32 = 0x3f2a_aaab;
const THREE_QUARTERS: u32 = 0x3f40_0000;

/// n and m − 1 with x = 2^n·m and m from 2/3 up to 4/3, for a positive and finite `x`.
#[inline(always)]
fn split(x: f32) -> (f32, f32) {
    let tiny = x < f32::MIN_POSITIVE;
    let (bits, offset) = if tiny { (mul(x, 8_388_608.0).to_bits(), -23.0) } else { (x.to_bits(), 0.0) };
    let exponent = bits.wrapping_sub(TWO_THIRDS) & 0xff80_0000;
    let n = fma(exponent as i32 as f32, 1.0 / 8_388_608.0, offset);
    (n, f32::from_bits(bits.wrapping_sub(exponent)) - 1.0)
}

/// `result` where `x`, of which it is the logarithm, is positive and finite. Selections, since branches cost more.
#[inline(always)]
fn unless_special(x: f32, result: f32) -> f32 {
    // +∞ and NaN stay, and what is negative is NaN.
    let result = if x.to_bits() >= 0x7f80_0000 { fma(x, f32::INFINITY, f32::INFINITY) } else { result };
    if x == 0.0 { f32::NEG_INFINITY } else { result }
}

// The coefficients of this file are minimax, as Sollya's `fpminimax` finds them with 24 bits each.

#[inline(always)]
pub fn ln(x: f32) -> f32 {
    let (n, f) = split(x);
    // (ln(1 + f) − f) / f² within 6e-8.
    let q = horner!(f;
        -0.5, 0.333_332_72, -0.249_998_18, 0.200_073_08, -0.166_801_4, 0.140_543_79, -0.121_832, 0.137_560_67, -0.129_154_2
    );
    unless_special(x, fma(n, LN_2, fma(mul(f, q), f, f)))
}

/// ln(1 + x) for a positive, finite 1 + x, plus `n` · ln 2.
#[inline(always)]
pub fn ln_1p_plus(x: f32, n: f32) -> f32 {
    let exponent = add_towards_zero(1.0, x).to_bits().wrapping_sub(THREE_QUARTERS) & 0xff80_0000;
    // (1 + x)·2^−n − 1, from −1/4 to 1/2: both terms are exact, and their sum up to 1 + x = 2.
    let scaled = f32::from_bits(x.to_bits().wrapping_sub(exponent));
    let one = f32::from_bits(0x4080_0000_u32.wrapping_sub(exponent));
    let f = fma(one, 0.25, -1.0) + scaled;
    // (ln(1 + f) − f) / f² within 6e-8.
    let q = horner!(f;
        -0.5, 0.333_333_9, -0.250_002_35, 0.199_940_85, -0.166_439_56, 0.144_214_62, -0.131_491_59, 0.108_010_87,
        -4.917_118e-2
    );
    fma(fma(exponent as i32 as f32, 1.0 / 8_388_608.0, n), LN_2, fma(mul(f, q), f, f))
}

#[inline(always)]
pub fn ln_1p(x: f32) -> f32 {
    let result = ln_1p_plus(x, 0.0).copysign(x);
    let result = if x > -1.0 && x < f32::INFINITY { result } else { fma(x, f32::INFINITY, f32::INFINITY) };
    if x == -1.0 { f32::NEG_INFINITY } else { result }
}

#[inline(always)]
pub fn log2(x: f32) -> f32 {
    let (n, f) = split(x);
    // log2(1 + f) / f within 8e-9, whose first coefficients are 1 / ln 2, which is 1.442_695_02 and 1.93e-8, and −0.721_347_5.
    let q = horner!(f;
        0.480_896_83, -0.360_669_9, 0.288_681_06, -0.240_706_24, 0.202_173_77, -0.174_912_29, 0.201_269_95, -0.189_906_17
    );
    // The sum of n and f·1.442_695_02, and what its rounding left.
    let sum = fma(f, core::f32::consts::LOG2_E, n);
    let rest = fma(f, 1.925_963e-8, fma(f, core::f32::consts::LOG2_E, n - sum));
    let square = mul(f, f);
    unless_special(x, sum + fma(mul(square, f), q, fma(square, -0.721_347_5, rest)))
}

#[inline(always)]
pub fn log10(x: f32) -> f32 {
    let (n, f) = split(x);
    // log10(1 + f) / f within 1.1e-8.
    let q = horner!(f;
        -0.217_147_26, 0.144_763_05, -0.108_570_86, 8.694_578e-2, -7.249_682e-2, 6.032_187_5e-2, -5.230_505e-2, 6.276_451e-2,
        -5.832_62e-2
    );
    // The least first.
    let low = fma(mul(f, q), f, mul(n, -1.432_098_9e-8));
    unless_special(x, fma(n, 0.301_03, fma(f, 0.434_294_5, low)))
}
