//! The functions of `f32`.

use crate::backend;

#[inline(always)]
pub fn abs(x: f32) -> f32 {
    x.abs()
}

#[inline(always)]
pub fn signum(x: f32) -> f32 {
    x.signum()
}

#[inline(always)]
pub fn copysign(x: f32, sign: f32) -> f32 {
    x.copysign(sign)
}

#[inline(always)]
pub fn recip(x: f32) -> f32 {
    1.0 / x
}

#[inline(always)]
pub fn mul_add(x: f32, a: f32, b: f32) -> f32 {
    backend::fma_f32(x, a, b)
}

#[inline(always)]
pub fn sqrt(x: f32) -> f32 {
    backend::sqrt_f32(x)
}

#[inline(always)]
pub fn minimum_number(x: f32, y: f32) -> f32 {
    backend::minimum_number_f32(x, y)
}

#[inline(always)]
pub fn maximum_number(x: f32, y: f32) -> f32 {
    backend::maximum_number_f32(x, y)
}

#[inline(always)]
pub fn min(x: f32, y: f32) -> f32 {
    backend::minimum_number_f32(x, y)
}

#[inline(always)]
pub fn max(x: f32, y: f32) -> f32 {
    backend::maximum_number_f32(x, y)
}

#[inline(always)]
pub fn saturate(x: f32) -> f32 {
    min(max(x, 0.0), 1.0)
}

#[inline(always)]
pub fn fdim(x: f32, y: f32) -> f32 {
    libm::fdimf(x, y)
}

#[inline(always)]
pub fn floor(x: f32) -> f32 {
    libm::floorf(x)
}

#[inline(always)]
pub fn ceil(x: f32) -> f32 {
    libm::ceilf(x)
}

#[inline(always)]
pub fn round(x: f32) -> f32 {
    libm::roundf(x)
}

#[inline(always)]
pub fn round_ties_even(x: f32) -> f32 {
    libm::rintf(x)
}

#[inline(always)]
pub fn trunc(x: f32) -> f32 {
    libm::truncf(x)
}

#[inline(always)]
pub fn cbrt(x: f32) -> f32 {
    libm::cbrtf(x)
}

#[inline(always)]
pub fn exp(x: f32) -> f32 {
    libm::expf(x)
}

#[inline(always)]
pub fn exp2(x: f32) -> f32 {
    libm::exp2f(x)
}

#[inline(always)]
pub fn exp10(x: f32) -> f32 {
    libm::exp10f(x)
}

#[inline(always)]
pub fn exp_m1(x: f32) -> f32 {
    libm::expm1f(x)
}

#[inline(always)]
pub fn ln(x: f32) -> f32 {
    libm::logf(x)
}

#[inline(always)]
pub fn ln_1p(x: f32) -> f32 {
    libm::log1pf(x)
}

#[inline(always)]
pub fn log2(x: f32) -> f32 {
    libm::log2f(x)
}

#[inline(always)]
pub fn log10(x: f32) -> f32 {
    libm::log10f(x)
}

#[inline(always)]
pub fn sin(x: f32) -> f32 {
    libm::sinf(x)
}

#[inline(always)]
pub fn cos(x: f32) -> f32 {
    libm::cosf(x)
}

#[inline(always)]
pub fn tan(x: f32) -> f32 {
    libm::tanf(x)
}

#[inline(always)]
pub fn asin(x: f32) -> f32 {
    libm::asinf(x)
}

#[inline(always)]
pub fn acos(x: f32) -> f32 {
    libm::acosf(x)
}

#[inline(always)]
pub fn atan(x: f32) -> f32 {
    libm::atanf(x)
}

#[inline(always)]
pub fn sinh(x: f32) -> f32 {
    libm::sinhf(x)
}

#[inline(always)]
pub fn cosh(x: f32) -> f32 {
    libm::coshf(x)
}

#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    libm::tanhf(x)
}

#[inline(always)]
pub fn asinh(x: f32) -> f32 {
    libm::asinhf(x)
}

#[inline(always)]
pub fn acosh(x: f32) -> f32 {
    libm::acoshf(x)
}

#[inline(always)]
pub fn atanh(x: f32) -> f32 {
    libm::atanhf(x)
}

#[inline(always)]
pub fn erf(x: f32) -> f32 {
    libm::erff(x)
}

#[inline(always)]
pub fn erfc(x: f32) -> f32 {
    libm::erfcf(x)
}

#[inline(always)]
pub fn gamma(x: f32) -> f32 {
    libm::tgammaf(x)
}

#[inline(always)]
pub fn tgamma(x: f32) -> f32 {
    libm::tgammaf(x)
}

#[inline(always)]
pub fn lgamma(x: f32) -> f32 {
    libm::lgammaf(x)
}

#[inline(always)]
pub fn j0(x: f32) -> f32 {
    libm::j0f(x)
}

#[inline(always)]
pub fn j1(x: f32) -> f32 {
    libm::j1f(x)
}

#[inline(always)]
pub fn y0(x: f32) -> f32 {
    libm::y0f(x)
}

#[inline(always)]
pub fn y1(x: f32) -> f32 {
    libm::y1f(x)
}

#[inline(always)]
pub fn fract(x: f32) -> f32 {
    x - trunc(x)
}

#[inline(always)]
pub fn modf(x: f32) -> (f32, f32) {
    let (part, whole) = libm::modff(x);
    (part, whole)
}

#[inline(always)]
pub fn fmod(x: f32, y: f32) -> f32 {
    libm::fmodf(x, y)
}

#[inline(always)]
pub fn remainder(x: f32, y: f32) -> f32 {
    libm::remainderf(x, y)
}

#[inline(always)]
pub fn remquo(x: f32, y: f32) -> (f32, i32) {
    libm::remquof(x, y)
}

#[inline(always)]
pub fn div_euclid(x: f32, y: f32) -> f32 {
    let q = trunc(x / y);
    if fmod(x, y) < 0.0 { if y > 0.0 { q - 1.0 } else { q + 1.0 } } else { q }
}

#[inline(always)]
pub fn rem_euclid(x: f32, y: f32) -> f32 {
    let r = fmod(x, y);
    if r < 0.0 { r + abs(y) } else { r }
}

#[inline(always)]
pub fn ldexp(x: f32, n: i32) -> f32 {
    libm::ldexpf(x, n)
}

#[inline(always)]
pub fn scalbn(x: f32, n: i32) -> f32 {
    ldexp(x, n)
}

#[inline(always)]
pub fn frexp(x: f32) -> (f32, i32) {
    libm::frexpf(x)
}

#[inline(always)]
pub fn ilogb(x: f32) -> i32 {
    libm::ilogbf(x)
}

#[inline(always)]
pub fn logb(x: f32) -> f32 {
    f32::from(ilogb(x) as i16)
}

#[inline(always)]
pub fn nextafter(x: f32, y: f32) -> f32 {
    libm::nextafterf(x, y)
}

#[inline(always)]
pub fn rsqrt(x: f32) -> f32 {
    1.0 / sqrt(x)
}

#[inline(always)]
pub fn rcbrt(x: f32) -> f32 {
    1.0 / cbrt(x)
}

#[inline(always)]
pub fn hypot(x: f32, y: f32) -> f32 {
    libm::hypotf(x, y)
}

#[inline(always)]
pub fn rhypot(x: f32, y: f32) -> f32 {
    1.0 / hypot(x, y)
}

#[inline(always)]
pub fn norm3d(x: f32, y: f32, z: f32) -> f32 {
    hypot(hypot(x, y), z)
}

#[inline(always)]
pub fn rnorm3d(x: f32, y: f32, z: f32) -> f32 {
    1.0 / norm3d(x, y, z)
}

#[inline(always)]
pub fn norm4d(x: f32, y: f32, z: f32, w: f32) -> f32 {
    hypot(hypot(x, y), hypot(z, w))
}

#[inline(always)]
pub fn rnorm4d(x: f32, y: f32, z: f32, w: f32) -> f32 {
    1.0 / norm4d(x, y, z, w)
}

#[inline(always)]
pub fn log(x: f32, base: f32) -> f32 {
    ln(x) / ln(base)
}

#[inline(always)]
pub fn powf(x: f32, y: f32) -> f32 {
    libm::powf(x, y)
}

#[inline(always)]
pub fn powi(x: f32, n: i32) -> f32 {
    powf(x, n as f32)
}

#[inline(always)]
pub fn sin_cos(x: f32) -> (f32, f32) {
    (sin(x), cos(x))
}

#[inline(always)]
pub fn sinpi(x: f32) -> f32 {
    sin(core::f32::consts::PI * remainder(x, 2.0))
}

#[inline(always)]
pub fn cospi(x: f32) -> f32 {
    cos(core::f32::consts::PI * remainder(x, 2.0))
}

#[inline(always)]
pub fn sincospi(x: f32) -> (f32, f32) {
    (sinpi(x), cospi(x))
}

#[inline(always)]
pub fn atan2(x: f32, y: f32) -> f32 {
    libm::atan2f(x, y)
}

#[inline(always)]
pub fn erfcx(x: f32) -> f32 {
    exp(x * x) * erfc(x)
}

#[inline(always)]
pub fn erfinv(x: f32) -> f32 {
    let mut y = x;
    for _ in 0..50 {
        y -= (erf(y) - x) * 0.886 * exp(y * y);
    }
    y
}

#[inline(always)]
pub fn erfcinv(x: f32) -> f32 {
    erfinv(1.0 - x)
}

#[inline(always)]
pub fn normcdf(x: f32) -> f32 {
    0.5 * erfc(-x * core::f32::consts::FRAC_1_SQRT_2)
}

#[inline(always)]
pub fn normcdfinv(x: f32) -> f32 {
    -core::f32::consts::SQRT_2 * erfcinv(2.0 * x)
}

#[inline(always)]
pub fn ln_gamma(x: f32) -> (f32, i32) {
    libm::lgammaf_r(x)
}

#[inline(always)]
pub fn jn(x: f32, n: i32) -> f32 {
    libm::jnf(n, x)
}

#[inline(always)]
pub fn yn(x: f32, n: i32) -> f32 {
    libm::ynf(n, x)
}

#[inline(always)]
pub fn cyl_bessel_i0(x: f32) -> f32 {
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
pub fn cyl_bessel_i1(x: f32) -> f32 {
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
