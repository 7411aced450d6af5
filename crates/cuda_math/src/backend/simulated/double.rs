//! Arithmetic on `f64` that has other instructions on a GPU, with the same results.

/// The rounded product.
#[inline(always)]
pub fn product_f64(a: f64, b: f64) -> f64 {
    a * b
}

/// The number with these upper and lower 32 bits.
#[inline(always)]
pub fn from_words_f64(high: i32, low: i32) -> f64 {
    f64::from_bits((high as u32 as u64) << 32 | low as u32 as u64)
}

/// `1 / x`, correctly rounded, for magnitudes from 2^−1000 to 2^1000.
#[inline(always)]
pub fn recip_in_range_f64(x: f64) -> f64 {
    1.0 / x
}

/// `√x`, correctly rounded, for numbers from 2^−1000 to 2^1000.
#[inline(always)]
pub fn sqrt_in_range_f64(x: f64) -> f64 {
    x.sqrt()
}

/// `1 / x`, where a GPU has 2^−20 of it.
#[inline(always)]
pub fn recip_estimate_f64(x: f64) -> f64 {
    1.0 / x
}

/// `1 / √x`, where a GPU has 2^−20 of it.
#[inline(always)]
pub fn rsqrt_estimate_f64(x: f64) -> f64 {
    1.0 / x.sqrt()
}

#[inline(always)]
pub fn floor_f64(x: f64) -> f64 {
    x.floor()
}

#[inline(always)]
pub fn ceil_f64(x: f64) -> f64 {
    x.ceil()
}

#[inline(always)]
pub fn trunc_f64(x: f64) -> f64 {
    x.trunc()
}

#[inline(always)]
pub fn round_ties_even_f64(x: f64) -> f64 {
    x.round_ties_even()
}
