//! The functions of `f64`.

pub(super) mod arithmetic;
mod bessel;
mod error;
mod error_inverse;
mod exponential;
mod gamma;
mod hyperbolic;
mod inverse;
mod logarithm;
mod payne_hanek;
mod power;
mod root;
mod trigonometric;
mod whole;

use crate::backend;

pub use arithmetic::mul_add;
pub use backend::sqrt_f64 as sqrt;
pub use bessel::{cyl_bessel_i0, cyl_bessel_i1, j0, j1, jn, y0, y1, yn};
pub use error::{erf, erfc, erfcx, normcdf};
pub use error_inverse::{erfcinv, erfinv, normcdfinv};
pub use exponential::{exp, exp_m1, exp2, exp10};
pub use gamma::{gamma, lgamma, ln_gamma, tgamma};
pub use hyperbolic::{acosh, asinh, atanh, cosh, sinh, tanh};
pub use inverse::{acos, asin, atan, atan2};
pub use logarithm::{ln, ln_1p, log, log2, log10};
pub use power::{powf, powi};
pub use root::{cbrt, hypot, norm3d, norm4d, rcbrt, rhypot, rnorm3d, rnorm4d, rsqrt};
pub use trigonometric::{cos, cospi, sin, sin_cos, sincospi, sinpi, tan};
pub use whole::{
    ceil, div_euclid, fdim, floor, fmod, fract, frexp, ilogb, ldexp, llrint, llround, logb, lrint, lround, max,
    maximum, maximum_number, min, minimum, minimum_number, modf, nearbyint, nextafter, rem_euclid, remainder, remquo,
    rint, round, round_ties_even, saturate, scalbn, trunc,
};

#[inline(always)]
pub fn abs(x: f64) -> f64 {
    x.abs()
}

#[inline(always)]
pub fn signum(x: f64) -> f64 {
    x.signum()
}

#[inline(always)]
pub fn copysign(x: f64, sign: f64) -> f64 {
    x.copysign(sign)
}

#[inline(always)]
pub fn recip(x: f64) -> f64 {
    1.0 / x
}
