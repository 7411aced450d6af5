//! Operations on `f32` with the same results as on a GPU, and substitutes for the GPU's approximate instructions.

extern crate std;

use crate::backend;

pub fn mul(a: f32, b: f32) -> f32 {
    a * b
}

pub fn div(a: f32, b: f32) -> f32 {
    a / b
}

pub fn add_towards_zero(a: f32, b: f32) -> f32 {
    let sum = a + b;
    // `rest` is the rounding error (Knuth). Its sign differs from that of the sum if the sum is too far from 0.
    let from_b = sum - a;
    let rest = (a - (sum - from_b)) + (b - from_b);
    if rest != 0.0 && (rest < 0.0) == (sum > 0.0) { f32::from_bits(sum.to_bits() - 1) } else { sum }
}

pub fn sqrt(x: f32) -> f32 {
    backend::sqrt_f32(x)
}

pub fn rcp_normal(x: f32) -> f32 {
    1.0 / x
}

pub fn sqrt_normal(x: f32) -> f32 {
    backend::sqrt_f32(x)
}

/// Returns `1 / √x` if `x` is not subnormal. The function rounds to `f64` and then to `f32`. For every `x` the result
/// is the same as with one rounding (`tests/suites/mathematics.rs`).
pub fn rsqrt_not_subnormal(x: f32) -> f32 {
    (1.0 / backend::sqrt_f64(f64::from(x))) as f32
}

/// Returns the logarithm of a number that is not both positive and finite.
pub fn log_of_special(x: f32) -> f32 {
    x.ln()
}

/// Returns the square root of a number that is not both positive and finite.
pub fn sqrt_of_special(x: f32) -> f32 {
    backend::sqrt_f32(x)
}

/// Returns the reciprocal of 0, ∞ or NaN.
pub fn recip_of_special(x: f32) -> f32 {
    1.0 / x
}

/// Returns the lesser of `a` and `b`. If one of them is NaN, returns the other.
pub fn lesser_number(a: f32, b: f32) -> f32 {
    a.min(b)
}

/// Replaces a subnormal number by 0, as instructions with `.ftz` do.
fn flushed(x: f32) -> f32 {
    if x.is_subnormal() { 0.0_f32.copysign(x) } else { x }
}

pub fn ex2_flushed(x: f32) -> f32 {
    flushed(flushed(x).exp2())
}

pub fn rcp_flushed(x: f32) -> f32 {
    flushed(1.0 / flushed(x))
}

macro_rules! of_std {
    ($($name:ident = $method:ident;)*) => {$(
        pub fn $name(x: f32) -> f32 {
            x.$method()
        }
    )*};
}

of_std! {
    floor = floor;
    ceil = ceil;
    trunc = trunc;
    round_ties_even = round_ties_even;
    ex2 = exp2;
    lg2 = log2;
    approximate_sin = sin;
    approximate_cos = cos;
    approximate_rcp = recip;
    approximate_sqrt = sqrt;
}

pub fn approximate_rsqrt(x: f32) -> f32 {
    x.sqrt().recip()
}

pub fn approximate_div(a: f32, b: f32) -> f32 {
    a / b
}
