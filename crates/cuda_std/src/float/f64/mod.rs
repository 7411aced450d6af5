//! The functions of `f64`.

use crate::backend;

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
pub fn mul_add(x: f64, a: f64, b: f64) -> f64 {
    backend::fma_f64(x, a, b)
}

#[inline(always)]
pub fn sqrt(x: f64) -> f64 {
    backend::sqrt_f64(x)
}

#[inline(always)]
pub fn minimum_number(x: f64, y: f64) -> f64 {
    backend::minimum_number_f64(x, y)
}

#[inline(always)]
pub fn maximum_number(x: f64, y: f64) -> f64 {
    backend::maximum_number_f64(x, y)
}

#[inline(always)]
pub fn min(x: f64, y: f64) -> f64 {
    backend::minimum_number_f64(x, y)
}

#[inline(always)]
pub fn max(x: f64, y: f64) -> f64 {
    backend::maximum_number_f64(x, y)
}

#[inline(always)]
pub fn saturate(x: f64) -> f64 {
    min(max(x, 0.0), 1.0)
}

#[inline(always)]
pub fn fdim(x: f64, y: f64) -> f64 {
    libm::fdim(x, y)
}

#[inline(always)]
pub fn floor(x: f64) -> f64 {
    libm::floor(x)
}

#[inline(always)]
pub fn ceil(x: f64) -> f64 {
    libm::ceil(x)
}

#[inline(always)]
pub fn round(x: f64) -> f64 {
    libm::round(x)
}

#[inline(always)]
pub fn round_ties_even(x: f64) -> f64 {
    libm::rint(x)
}

#[inline(always)]
pub fn trunc(x: f64) -> f64 {
    libm::trunc(x)
}

#[inline(always)]
pub fn cbrt(x: f64) -> f64 {
    libm::cbrt(x)
}

#[inline(always)]
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

#[inline(always)]
pub fn exp2(x: f64) -> f64 {
    libm::exp2(x)
}

#[inline(always)]
pub fn exp10(x: f64) -> f64 {
    libm::exp10(x)
}

#[inline(always)]
pub fn exp_m1(x: f64) -> f64 {
    libm::expm1(x)
}

#[inline(always)]
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

#[inline(always)]
pub fn ln_1p(x: f64) -> f64 {
    libm::log1p(x)
}

#[inline(always)]
pub fn log2(x: f64) -> f64 {
    libm::log2(x)
}

#[inline(always)]
pub fn log10(x: f64) -> f64 {
    libm::log10(x)
}

#[inline(always)]
pub fn sin(x: f64) -> f64 {
    libm::sin(x)
}

#[inline(always)]
pub fn cos(x: f64) -> f64 {
    libm::cos(x)
}

#[inline(always)]
pub fn tan(x: f64) -> f64 {
    libm::tan(x)
}

#[inline(always)]
pub fn asin(x: f64) -> f64 {
    libm::asin(x)
}

#[inline(always)]
pub fn acos(x: f64) -> f64 {
    libm::acos(x)
}

#[inline(always)]
pub fn atan(x: f64) -> f64 {
    libm::atan(x)
}

#[inline(always)]
pub fn sinh(x: f64) -> f64 {
    libm::sinh(x)
}

#[inline(always)]
pub fn cosh(x: f64) -> f64 {
    libm::cosh(x)
}

#[inline(always)]
pub fn tanh(x: f64) -> f64 {
    libm::tanh(x)
}

#[inline(always)]
pub fn asinh(x: f64) -> f64 {
    libm::asinh(x)
}

#[inline(always)]
pub fn acosh(x: f64) -> f64 {
    libm::acosh(x)
}

#[inline(always)]
pub fn atanh(x: f64) -> f64 {
    libm::atanh(x)
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
pub fn fract(x: f64) -> f64 {
    x - trunc(x)
}

#[inline(always)]
pub fn modf(x: f64) -> (f64, f64) {
    let (part, whole) = libm::modf(x);
    (part, whole)
}

#[inline(always)]
pub fn fmod(x: f64, y: f64) -> f64 {
    libm::fmod(x, y)
}

#[inline(always)]
pub fn remainder(x: f64, y: f64) -> f64 {
    libm::remainder(x, y)
}

#[inline(always)]
pub fn remquo(x: f64, y: f64) -> (f64, i32) {
    libm::remquo(x, y)
}

#[inline(always)]
pub fn div_euclid(x: f64, y: f64) -> f64 {
    let q = trunc(x / y);
    if fmod(x, y) < 0.0 { if y > 0.0 { q - 1.0 } else { q + 1.0 } } else { q }
}

#[inline(always)]
pub fn rem_euclid(x: f64, y: f64) -> f64 {
    let r = fmod(x, y);
    if r < 0.0 { r + abs(y) } else { r }
}

#[inline(always)]
pub fn ldexp(x: f64, n: i32) -> f64 {
    libm::ldexp(x, n)
}

#[inline(always)]
pub fn scalbn(x: f64, n: i32) -> f64 {
    ldexp(x, n)
}

#[inline(always)]
pub fn frexp(x: f64) -> (f64, i32) {
    libm::frexp(x)
}

#[inline(always)]
pub fn ilogb(x: f64) -> i32 {
    libm::ilogb(x)
}

#[inline(always)]
pub fn logb(x: f64) -> f64 {
    f64::from(ilogb(x) as i16)
}

#[inline(always)]
pub fn nextafter(x: f64, y: f64) -> f64 {
    libm::nextafter(x, y)
}

#[inline(always)]
pub fn rsqrt(x: f64) -> f64 {
    1.0 / sqrt(x)
}

#[inline(always)]
pub fn rcbrt(x: f64) -> f64 {
    1.0 / cbrt(x)
}

#[inline(always)]
pub fn hypot(x: f64, y: f64) -> f64 {
    libm::hypot(x, y)
}

#[inline(always)]
pub fn rhypot(x: f64, y: f64) -> f64 {
    1.0 / hypot(x, y)
}

#[inline(always)]
pub fn norm3d(x: f64, y: f64, z: f64) -> f64 {
    hypot(hypot(x, y), z)
}

#[inline(always)]
pub fn rnorm3d(x: f64, y: f64, z: f64) -> f64 {
    1.0 / norm3d(x, y, z)
}

#[inline(always)]
pub fn norm4d(x: f64, y: f64, z: f64, w: f64) -> f64 {
    hypot(hypot(x, y), hypot(z, w))
}

#[inline(always)]
pub fn rnorm4d(x: f64, y: f64, z: f64, w: f64) -> f64 {
    1.0 / norm4d(x, y, z, w)
}

#[inline(always)]
pub fn log(x: f64, base: f64) -> f64 {
    ln(x) / ln(base)
}

#[inline(always)]
pub fn powf(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

#[inline(always)]
pub fn powi(x: f64, n: i32) -> f64 {
    powf(x, n as f64)
}

#[inline(always)]
pub fn sin_cos(x: f64) -> (f64, f64) {
    (sin(x), cos(x))
}

#[inline(always)]
pub fn sinpi(x: f64) -> f64 {
    sin(core::f64::consts::PI * remainder(x, 2.0))
}

#[inline(always)]
pub fn cospi(x: f64) -> f64 {
    cos(core::f64::consts::PI * remainder(x, 2.0))
}

#[inline(always)]
pub fn sincospi(x: f64) -> (f64, f64) {
    (sinpi(x), cospi(x))
}

#[inline(always)]
pub fn atan2(x: f64, y: f64) -> f64 {
    libm::atan2(x, y)
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
