//! The functions of `f64`.

mod arithmetic;
mod exponential;
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
pub use exponential::{exp, exp_m1, exp2, exp10};
pub use hyperbolic::{acosh, asinh, atanh, cosh, sinh, tanh};
pub use inverse::{acos, asin, atan, atan2};
pub use logarithm::{ln, ln_1p, log, log2, log10};
pub use power::{powf, powi};
pub use root::{cbrt, hypot, norm3d, norm4d, rcbrt, rhypot, rnorm3d, rnorm4d, rsqrt};
pub use trigonometric::{cos, cospi, sin, sin_cos, sincospi, sinpi, tan};
pub use whole::{
    ceil, div_euclid, fdim, floor, fmod, fract, frexp, ilogb, ldexp, logb, max, maximum_number, min, minimum_number,
    modf, nextafter, rem_euclid, remainder, remquo, round, round_ties_even, saturate, scalbn, trunc,
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

#[inline(always)]
pub fn erf(x: f64) -> f64 {
    libm::erf(x)
}

#[inline(always)]
pub fn erfc(x: f64) -> f64 {
    libm::erfc(x)
}

#[inline(always)]
pub fn gamma(x: f64) -> f64 {
    libm::tgamma(x)
}

#[inline(always)]
pub fn tgamma(x: f64) -> f64 {
    libm::tgamma(x)
}

#[inline(always)]
pub fn lgamma(x: f64) -> f64 {
    libm::lgamma(x)
}

#[inline(always)]
pub fn j0(x: f64) -> f64 {
    libm::j0(x)
}

#[inline(always)]
pub fn j1(x: f64) -> f64 {
    libm::j1(x)
}

#[inline(always)]
pub fn y0(x: f64) -> f64 {
    libm::y0(x)
}

#[inline(always)]
pub fn y1(x: f64) -> f64 {
    libm::y1(x)
}

#[inline(always)]
pub fn erfcx(x: f64) -> f64 {
    exp(x * x) * erfc(x)
}

#[inline(always)]
pub fn erfinv(x: f64) -> f64 {
    let mut y = x;
    for _ in 0..50 {
        y -= (erf(y) - x) * 0.886 * exp(y * y);
    }
    y
}

#[inline(always)]
pub fn erfcinv(x: f64) -> f64 {
    erfinv(1.0 - x)
}

#[inline(always)]
pub fn normcdf(x: f64) -> f64 {
    0.5 * erfc(-x * core::f64::consts::FRAC_1_SQRT_2)
}

#[inline(always)]
pub fn normcdfinv(x: f64) -> f64 {
    -core::f64::consts::SQRT_2 * erfcinv(2.0 * x)
}

#[inline(always)]
pub fn ln_gamma(x: f64) -> (f64, i32) {
    libm::lgamma_r(x)
}

#[inline(always)]
pub fn jn(x: f64, n: i32) -> f64 {
    libm::jn(n, x)
}

#[inline(always)]
pub fn yn(x: f64, n: i32) -> f64 {
    libm::yn(n, x)
}

#[inline(always)]
pub fn cyl_bessel_i0(x: f64) -> f64 {
    let mut term = 1.0;
    let mut sum = term;
    let mut k = 1.0;
    while term > sum * 1e-17 {
        term *= x * x * 0.25 / (k * (k + 0.0));
        sum += term;
        k += 1.0;
    }
    sum
}

#[inline(always)]
pub fn cyl_bessel_i1(x: f64) -> f64 {
    let mut term = x * 0.5;
    let mut sum = term;
    let mut k = 1.0;
    while term > sum * 1e-17 {
        term *= x * x * 0.25 / (k * (k + 1.0));
        sum += term;
        k += 1.0;
    }
    sum
}
