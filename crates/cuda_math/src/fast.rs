//! Approximate functions that the GPU's hardware computes, like CUDA's `__expf`. All are on `f32`, except for two on
//! `f64`. Each takes a few instructions. Use these functions if speed matters more than the last bits.
//!
//! The functions of this module, and no others, return different bits in the simulator and on a GPU, because the
//! simulator uses the host's library. The stated errors are those of the PTX documentation.

use crate::backend;
use crate::backend::single::{self, mul};

const LOG2_E: f32 = core::f32::consts::LOG2_E;
const LOG2_10: f32 = core::f32::consts::LOG2_10;

/// Returns `2^x` (`ex2.approx`), within 2 ulp.
#[inline(always)]
pub fn exp2(x: f32) -> f32 {
    single::ex2(x)
}

/// Returns `2^x` (`ex2.approx.ftz`), within 2 ulp. A subnormal argument or result is replaced by 0. On a GPU this is
/// one instruction, and [`exp2`] is four.
#[inline(always)]
pub fn exp2_flushed(x: f32) -> f32 {
    single::ex2_flushed(x)
}

/// Returns `e^x`, within 2 + 1.2·|x| ulp.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    single::ex2(mul(x, LOG2_E))
}

/// Returns `10^x`, within 2 + 3·|x| ulp.
#[inline(always)]
pub fn exp10(x: f32) -> f32 {
    single::ex2(mul(x, LOG2_10))
}

/// Returns the logarithm to base 2 (`lg2.approx`). For `x` from 1/2 to 2 the absolute error is 2^−21. For any other `x`
/// the error is 3 ulp.
#[inline(always)]
pub fn log2(x: f32) -> f32 {
    single::lg2(x)
}

/// Returns the natural logarithm. For `x` from 1/2 to 2 the absolute error is 2^−21. For any other `x` the error is 4
/// ulp.
#[inline(always)]
pub fn ln(x: f32) -> f32 {
    mul(single::lg2(x), core::f32::consts::LN_2)
}

/// Returns the logarithm to base 10. For `x` from 1/2 to 2 the absolute error is 2^−22. For any other `x` the error is
/// 4 ulp.
#[inline(always)]
pub fn log10(x: f32) -> f32 {
    mul(single::lg2(x), core::f32::consts::LOG10_2)
}

/// Returns `x^y` for a positive `x` as `exp2(y · log2(x))`. The relative error grows with |y·log2(x)|.
#[inline(always)]
pub fn powf(x: f32, y: f32) -> f32 {
    single::ex2(mul(y, single::lg2(x)))
}

/// Returns the sine (`sin.approx`). The absolute error is 2^−20.5 for `x` from −π to π, and larger for any other `x`.
#[inline(always)]
pub fn sin(x: f32) -> f32 {
    single::approximate_sin(x)
}

/// Returns the cosine (`cos.approx`). The absolute error is 2^−20.5 for `x` from −π to π, and larger for any other `x`.
#[inline(always)]
pub fn cos(x: f32) -> f32 {
    single::approximate_cos(x)
}

/// Returns [`sin`] and [`cos`].
#[inline(always)]
pub fn sin_cos(x: f32) -> (f32, f32) {
    (sin(x), cos(x))
}

/// Returns the tangent, [`sin`] divided by [`cos`].
#[inline(always)]
pub fn tan(x: f32) -> f32 {
    div(sin(x), cos(x))
}

/// Returns the hyperbolic tangent as `1 − 2 / (e^2x + 1)`, with an absolute error of 2^−21.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    1.0 - mul(2.0, recip(exp(x + x) + 1.0))
}

/// Returns `1 / x` (`rcp.approx`), within 1 ulp.
#[inline(always)]
pub fn recip(x: f32) -> f32 {
    single::approximate_rcp(x)
}

/// Returns `1 / x` (`rcp.approx.ftz`), within 1 ulp. A subnormal argument or result is replaced by 0. On a GPU this is
/// one instruction, and [`recip`] is seven.
#[inline(always)]
pub fn recip_flushed(x: f32) -> f32 {
    single::rcp_flushed(x)
}

/// Returns `1 / √x` (`rsqrt.approx`), with a relative error of 2^−22.4.
#[inline(always)]
pub fn rsqrt(x: f32) -> f32 {
    single::approximate_rsqrt(x)
}

/// Returns √x (`sqrt.approx`), with a relative error of 2^−22.
#[inline(always)]
pub fn sqrt(x: f32) -> f32 {
    single::approximate_sqrt(x)
}

/// Returns `a / b` (`div.full`), within 2 ulp.
#[inline(always)]
pub fn div(a: f32, b: f32) -> f32 {
    single::approximate_div(a, b)
}

/// Returns `1 / x` of an `f64` (`rcp.approx.ftz.f64`), with a relative error of 2^−20. If `x` or the result is
/// subnormal, returns a signed infinity or zero. The result can start a Newton iteration, in which each step doubles
/// the number of correct bits.
#[inline(always)]
pub fn recip_f64(x: f64) -> f64 {
    backend::recip_estimate_f64(x)
}

/// Returns `1 / √x` of an `f64` (`rsqrt.approx.ftz.f64`), with a relative error of 2^−20. Returns an infinity if `x` is
/// subnormal.
#[inline(always)]
pub fn rsqrt_f64(x: f64) -> f64 {
    backend::rsqrt_estimate_f64(x)
}
