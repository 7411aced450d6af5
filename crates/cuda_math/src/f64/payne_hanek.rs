//! The remainder of large arguments modulo π/2.
//!
//! The functions need only the bits of `x · 2/π` near the binary point (Payne and Hanek). A multiple of 4 in this
//! product does not change a sine. `x = mantissa · 2^exponent` is large, so the bits of 2/π before a certain position
//! contribute only multiples of 4.

use super::arithmetic::{from_words, high, mul, mul_add};

/// π/2 as the sum of three doubles. All are positive, so that their products with 0 do not turn −0 into +0.
pub const HALF_PI: [f64; 3] = [core::f64::consts::FRAC_PI_2, 6.123233995736765e-17, 1.082856673921914e-32];

/// 2/π in binary, after the binary point, highest bits first.
static TWO_OVER_PI: [u64; 20] = [
    0x0000000000000000,
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab,
];

/// Returns `r` from −π/4 to π/4, and the whole number `quarters` modulo 4, such that `x = quarters·π/2 + r`. The
/// magnitude of `x` must be at least 2^30.
#[cold]
#[inline(never)]
pub fn reduce(x: f64) -> (f64, i32) {
    let exponent = (high(x) >> 20 & 0x7ff) - 1075;
    if exponent > 971 {
        return (f64::NAN, 0);
    }
    let mantissa = x.to_bits() & 0xf_ffff_ffff_ffff | 0x10_0000_0000_0000;

    // 192 bits of 2/π, from the first whose product with 2^exponent is below 4. For 2^3 these begin with bits 1 and 2.
    let skipped = (exponent + 62) as u32; // The table begins with 64 zero bits.
    let (word, shift) = ((skipped >> 6) as usize, skipped & 63);
    let bits = |i: usize| {
        let (upper, lower) = (TWO_OVER_PI[word + i], TWO_OVER_PI[word + i + 1]);
        if shift == 0 { upper } else { upper << shift | lower >> (64 - shift) }
    };
    // The upper 128 of the product's 192 bits. Higher bits are multiples of 4.
    let wide = |a: u64, b: u64| u128::from(a) * u128::from(b);
    let lowest = wide(mantissa, bits(2)) >> 64;
    let middle = wide(mantissa, bits(1)) + lowest;
    let product = (u128::from(mantissa.wrapping_mul(bits(0))) << 64).wrapping_add(middle);

    // The product has two bits before the binary point. Adding one half rounds it to the nearest whole number.
    let quarters = (product.wrapping_add(1 << 125) >> 126) as i32;
    let fraction = (product << 2) as i128;
    let is_negative = fraction < 0;
    let magnitude = fraction.unsigned_abs();

    // `r` is π/2 times the fraction, which is split into two numbers of 53 bits each.
    let zeros = magnitude.leading_zeros();
    let normal = magnitude << (zeros & 127);
    let upper = (normal >> 75) as u64;
    let lower = (normal >> 22) as u64 & 0x1f_ffff_ffff_ffff;
    // The fraction has the unit 2^−128. Its upper 53 bits were shifted down by 75, so their unit is 2^(75 − 128).
    let scale = from_words((1023 - 53 - zeros as i32) << 20, 0);
    let upper = mul(upper as f64, scale);
    let lower = mul(mul(lower as f64, scale), 1.0 / 9_007_199_254_740_992.0);
    let r = mul_add(upper, HALF_PI[0], mul_add(upper, HALF_PI[1], mul(lower, HALF_PI[0])));
    let r = if is_negative != (x < 0.0) { -r } else { r };
    (r, if x < 0.0 { quarters.wrapping_neg() } else { quarters })
}
