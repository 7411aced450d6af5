//! Logarithms. Each is the sum of the logarithm of a power of two and a polynomial in a mantissa near 1.

use super::arithmetic::{add_towards_zero, fma, horner, log_of_special, mul};

const LN_2: f32 = core::f32::consts::LN_2;
const TWO_THIRDS: u32 = 0x3f2a_aaab;
const ROOT_OF_HALF: u32 = 0x3f35_04f3;
const THREE_QUARTERS: u32 = 0x3f40_0000;

/// Returns n, m − 1 and a logarithm. For a positive and finite `x`, the first two results satisfy x = 2^n·m. There m is
/// at least the number with the bits `least`, and less than twice that number. For any other `x`, only the third result
/// is valid. It is the logarithm of `x`.
#[inline(always)]
fn split(x: f32, least: u32) -> (f32, f32, f32) {
    let tiny = x < f32::MIN_POSITIVE;
    let scaled = mul(x, 8_388_608.0);
    let bits = (if tiny { scaled } else { x }).to_bits();
    let offset = if tiny { -23.0 } else { 0.0 };
    let exponent = bits.wrapping_sub(least) & 0xff80_0000;
    let n = fma(exponent as i32 as f32, 1.0 / 8_388_608.0, offset);
    // The third result is the logarithm of the scaled number, because the instruction treats a subnormal number as 0.
    (n, f32::from_bits(bits.wrapping_sub(exponent)) - 1.0, log_of_special(scaled))
}

/// Returns `result` if `x` is positive and finite, and otherwise `special`. The function selects the value without a
/// branch, which would cost more.
#[inline(always)]
fn unless_special(x: f32, special: f32, result: f32) -> f32 {
    core::hint::select_unpredictable(x.to_bits().wrapping_sub(1) < 0x7f7f_ffff, result, special)
}

// The polynomials in this file are minimax approximations. Their coefficients have 24 bits each, from Sollya's
// `fpminimax`.

#[inline(always)]
pub fn ln(x: f32) -> f32 {
    let (n, f, special) = split(x, TWO_THIRDS);
    // `q` approximates (ln(1 + f) − f) / f² within 6e-8.
    let q = horner!(f;
        -0.5, 0.333_332_72, -0.249_998_18, 0.200_073_08, -0.166_801_4, 0.140_543_79, -0.121_832, 0.137_560_67, -0.129_154_2
    );
    unless_special(x, special, fma(n, LN_2, fma(mul(f, q), f, f)))
}

/// Returns ln(1 + x) plus `n` · ln 2 for a positive, finite 1 + x.
#[inline(always)]
pub fn ln_1p_plus(x: f32, n: f32) -> f32 {
    let exponent = add_towards_zero(1.0, x).to_bits().wrapping_sub(THREE_QUARTERS) & 0xff80_0000;
    // The sum of the two terms is (1 + x)·2^−n − 1, from −1/4 to 1/2. Both terms are exact, and their sum is exact up
    // to 1 + x = 2.
    let scaled = f32::from_bits(x.to_bits().wrapping_sub(exponent));
    let one = f32::from_bits(0x4080_0000_u32.wrapping_sub(exponent));
    let f = fma(one, 0.25, -1.0) + scaled;
    // `q` approximates (ln(1 + f) − f) / f² within 6e-8.
    let q = horner!(f;
        -0.5, 0.333_333_9, -0.250_002_35, 0.199_940_85, -0.166_439_56, 0.144_214_62, -0.131_491_59, 0.108_010_87,
        -4.917_118e-2
    );
    fma(fma(exponent as i32 as f32, 1.0 / 8_388_608.0, n), LN_2, fma(mul(f, q), f, f))
}

#[inline(always)]
pub fn ln_1p(x: f32) -> f32 {
    let result = ln_1p_plus(x, 0.0).copysign(x);
    let sum = add_towards_zero(1.0, x);
    unless_special(sum, log_of_special(sum), result)
}

#[inline(always)]
pub fn log2(x: f32) -> f32 {
    // If the mantissa is from √½ to √2 and n is not 0, the sum is at least 1/2. The rounding of the product is then
    // small in comparison.
    let (n, f, special) = split(x, ROOT_OF_HALF);
    // `LOG2_E` + q approximates log2(1 + f) / f within 5e-9. 1 / ln 2 is `LOG2_E` (1.442_695_02) plus the first
    // coefficient.
    let q = horner!(f;
        1.925_963e-8, -0.721_347_33, 0.480_898_17, -0.360_698_64, 0.288_573_74, -0.239_570_95, 0.204_436_45, -0.191_294_39,
        0.187_409, -0.110_956_07
    );
    unless_special(x, special, n + fma(f, core::f32::consts::LOG2_E, mul(f, q)))
}

#[inline(always)]
pub fn log10(x: f32) -> f32 {
    let (n, f, special) = split(x, TWO_THIRDS);
    // 0.434_294_5 + f·q approximates log10(1 + f) / f within 1.1e-8.
    let q = horner!(f;
        -0.217_147_26, 0.144_763_05, -0.108_570_86, 8.694_578e-2, -7.249_682e-2, 6.032_187_5e-2, -5.230_505e-2, 6.276_451e-2,
        -5.832_62e-2
    );
    // The smallest term is added first.
    let low = fma(mul(f, q), f, mul(n, -1.432_098_9e-8));
    unless_special(x, special, fma(n, 0.301_03, fma(f, 0.434_294_5, low)))
}
