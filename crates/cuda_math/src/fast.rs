//! Functions of `f32`, and two of `f64`, by the hardware's approximations: a few instructions each, for where speed is
//! worth more than the last bits, as CUDA's `__expf` and its like.
//!
//! Here alone the simulator and a GPU give different bits: the simulator computes each as precisely as the host's
//! library does. The errors are those that the PTX documentation states for the instructions.

use crate::backend;
use crate::backend::single::{self, mul};

const LOG2_E: f32 = core::f32::consts::LOG2_E;
const LOG2_10: f32 = core::f32::consts::LOG2_10;

/// `2^x` (`ex2.approx`), within 2 ulp.
#[inline(always)]
pub fn exp2(x: f32) -> f32 {
    single::ex2(x)
}

/// `e^x`, within 2 + 1.2·|x| ulp.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    single::ex2(mul(x, LOG2_E))
}

/// `10^x`, within 2 + 3·|x| ulp.
#[inline(always)]
pub fn exp10(x: f32) -> f32 {
    single::ex2(mul(x, LOG2_10))
}

/// The logarithm to base 2 (`lg2.approx`): within 2^−21 absolutely from 1/2 to 2, elsewhere within 3 ulp.
#[inline(always)]
pub fn log2(x: f32) -> f32 {
    single::lg2(x)
}

/// The natural logarithm: within 2^−21 absolutely from 1/2 to 2, elsewhere within 4 ulp.
#[inline(always)]
pub fn ln(x: f32) -> f32 {
    mul(single::lg2(x), core::f32::consts::LN_2)
}

/// The logarithm to base 10: within 2^−22 absolutely from 1/2 to 2, elsewhere within 4 ulp.
#[inline(always)]
pub fn log10(x: f32) -> f32 {
    mul(single::lg2(x), core::f32::consts::LOG10_2)
}

/// `x^y` for a positive `x`: `exp2(y · log2(x))`, whose relative error grows with |y·log2(x)|.
#[inline(always)]
pub fn powf(x: f32, y: f32) -> f32 {
    single::ex2(mul(y, single::lg2(x)))
}

/// The sine (`sin.approx`): within 2^−20.5 absolutely from −π to π, and worse beyond.
#[inline(always)]
pub fn sin(x: f32) -> f32 {
    single::approximate_sin(x)
}

/// The cosine (`cos.approx`): within 2^−20.5 absolutely from −π to π, and worse beyond.
#[inline(always)]
pub fn cos(x: f32) -> f32 {
    single::approximate_cos(x)
}

/// [`sin`] and [`cos`].
#[inline(always)]
pub fn sin_cos(x: f32) -> (f32, f32) {
    (sin(x), cos(x))
}

/// The tangent: [`sin`] by [`cos`].
#[inline(always)]
pub fn tan(x: f32) -> f32 {
    div(sin(x), cos(x))
}

/// The hyperbolic tangent, `1 − 2 / (e^2x + 1)` of approximations: within 2^−21 absolutely.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    1.0 - mul(2.0, recip(exp(x + x) + 1.0))
}

/// `1 / x` (`rcp.approx`), within 1 ulp.
#[inline(always)]
pub fn recip(x: f32) -> f32 {
    single::approximate_rcp(x)
}

/// `1 / √x` (`rsqrt.approx`), within 2^−22.4 relative to it.
#[inline(always)]
pub fn rsqrt(x: f32) -> f32 {
    single::approximate_rsqrt(x)
}

/// √x (`sqrt.approx`), within 2^−22 relative to it.
#[inline(always)]
pub fn sqrt(x: f32) -> f32 {
    single::approximate_sqrt(x)
}

/// `a / b` (`div.full`), within 2 ulp.
#[inline(always)]
pub fn div(a: f32, b: f32) -> f32 {
    single::approximate_div(a, b)
}

/// `1 / x` of an `f64` (`rcp.approx.ftz.f64`), within 2^−20 relative to it, and a signed zero or infinity where it or
/// `x` is subnormal. A start for an iteration of one's own: one step of Newton's method doubles its bits.
#[inline(always)]
pub fn recip_f64(x: f64) -> f64 {
    backend::recip_estimate_f64(x)
}

/// `1 / √x` of an `f64` (`rsqrt.approx.ftz.f64`), within 2^−20 relative to it, and an infinity where `x` is subnormal.
#[inline(always)]
pub fn rsqrt_f64(x: f64) -> f64 {
    backend::rsqrt_estimate_f64(x)
}
