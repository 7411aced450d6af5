//! The functions of `f32`.
#![allow(
    clippy::approx_constant,
    clippy::excessive_precision,
    reason = "the digits of a coefficient identify the float"
)]

pub(crate) mod arithmetic;
mod error;
mod exponential;
mod hyperbolic;
mod inverse;
mod logarithm;
mod power;
mod remainder;
mod rounding;
mod special;
mod trigonometric;

pub use error::{erf, erfc};
pub use exponential::{exp, exp_m1, exp2, exp10};
pub use hyperbolic::{acosh, asinh, atanh, cosh, sinh, tanh};
pub use inverse::{acos, asin, atan, atan2};
pub use logarithm::{ln, ln_1p, log2, log10};
pub use power::{cbrt, hypot, norm3d, norm4d, powf, powi, rcbrt, rhypot, rnorm3d, rnorm4d, rsqrt};
pub use remainder::{div_euclid, fmod, rem_euclid, remainder, remquo};
pub use rounding::*;
pub use special::*;
pub use trigonometric::{cos, cospi, sin, sin_cos, sincospi, sinpi, tan};

/// Returns the logarithm of `x` to `base`.
#[inline(always)]
pub fn log(x: f32, base: f32) -> f32 {
    arithmetic::div(ln(x), ln(base))
}
