//! Arithmetic on `f64` for which a GPU has special instructions.

/// Returns the product of `a` and `b`, rounded once.
#[inline(always)]
pub fn product_f64(a: f64, b: f64) -> f64 {
    a * b
}

/// Returns the `f64` whose upper 32 bits are `high` and whose lower 32 bits are `low`.
#[inline(always)]
pub fn from_words_f64(high: i32, low: i32) -> f64 {
    f64::from_bits((high as u32 as u64) << 32 | low as u32 as u64)
}

/// Returns `1 / x`, correctly rounded, for magnitudes from 2^−1000 to 2^1000.
#[inline(always)]
pub fn recip_in_range_f64(x: f64) -> f64 {
    1.0 / x
}

/// Returns `√x`, correctly rounded, for numbers from 2^−1000 to 2^1000.
#[inline(always)]
pub fn sqrt_in_range_f64(x: f64) -> f64 {
    x.sqrt()
}

/// Returns `1 / x`, correctly rounded. A GPU's result has a relative error of 2^−20.
#[inline(always)]
pub fn recip_estimate_f64(x: f64) -> f64 {
    1.0 / x
}

/// Returns `1 / √x` to full precision. A GPU's result has a relative error of 2^−20.
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
