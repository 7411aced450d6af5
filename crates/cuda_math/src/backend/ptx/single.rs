//! Operations on f32 that no flag of a build changes, and the hardware's approximations.

use core::arch::asm;

use super::fma_f32 as fma;

macro_rules! instructions {
    ($($(#[$doc:meta])? $name:ident($($argument:ident),*) = $text:literal;)*) => {$(
        $(#[$doc])?
        #[inline(always)]
        pub fn $name($($argument: f32),*) -> f32 {
            let result: f32;
            // SAFETY: computes one register from others.
            unsafe {
                asm!($text, out(reg32) result, $(in(reg32) $argument,)* options(pure, nomem, nostack, preserves_flags));
            }
            result
        }
    )*};
}

instructions! {
    /// `a · b`.
    mul(a, b) = "mul.rn.f32 {}, {}, {};";
    /// `a / b`.
    div(a, b) = "div.rn.f32 {}, {}, {};";
    /// √`x`.
    sqrt(x) = "sqrt.rn.f32 {}, {};";
    /// `a + b`, rounded towards 0.
    add_towards_zero(a, b) = "add.rz.f32 {}, {}, {};";
    floor(x) = "cvt.rmi.f32.f32 {}, {};";
    ceil(x) = "cvt.rpi.f32.f32 {}, {};";
    trunc(x) = "cvt.rzi.f32.f32 {}, {};";
    round_ties_even(x) = "cvt.rni.f32.f32 {}, {};";
    ex2(x) = "ex2.approx.f32 {}, {};";
    lg2(x) = "lg2.approx.f32 {}, {};";
    approximate_sin(x) = "sin.approx.f32 {}, {};";
    approximate_cos(x) = "cos.approx.f32 {}, {};";
    approximate_rcp(x) = "rcp.approx.f32 {}, {};";
    approximate_rsqrt(x) = "rsqrt.approx.f32 {}, {};";
    approximate_sqrt(x) = "sqrt.approx.f32 {}, {};";
    approximate_div(a, b) = "div.full.f32 {}, {}, {};";
    rcp_seed(x) = "rcp.approx.ftz.f32 {}, {};";
    rsqrt_seed(x) = "rsqrt.approx.ftz.f32 {}, {};";
    /// The logarithm of what is neither a positive, finite number nor subnormal: of ±0, ∞, NaN, or what is negative.
    log_of_special(x) = "lg2.approx.ftz.f32 {}, {};";
    /// The root of what is no positive, finite number.
    sqrt_of_special(x) = "sqrt.approx.ftz.f32 {}, {};";
    /// The reciprocal of 0, ∞ or NaN.
    recip_of_special(x) = "rcp.approx.ftz.f32 {}, {};";
    /// The lesser of both, or the one that is a number.
    lesser_number(a, b) = "min.f32 {}, {}, {};";
}

/// `1 / x` where neither is subnormal, infinite or 0: a seed of 23 bits and a step of Newton's, which round as a
/// division does. It is the path that `rcp.rn` takes for such a divisor.
#[inline(always)]
pub fn rcp_normal(x: f32) -> f32 {
    let seed = rcp_seed(x);
    fma(fma(-x, seed, 1.0), seed, seed)
}

/// √`x` from 2^−101 on, where it is not infinite: the path that `sqrt.rn` takes for such an operand.
#[inline(always)]
pub fn sqrt_normal(x: f32) -> f32 {
    let seed = rsqrt_seed(x);
    let root = mul(x, seed);
    fma(fma(-root, root, x), mul(seed, 0.5), root)
}

/// `1 / √x` where `x` is not subnormal: a seed of 22 bits and a step of Newton's in which nothing is rounded that would
/// show in the result, whichever seed it is of those within the 2^−22.9 that the PTX documentation states (all
/// arguments were tried with each). Of 0, ∞ and what is negative the seed is the result; the step is NaN
/// there, for which another stands that leaves the seed as it is.
#[inline(always)]
pub fn rsqrt_not_subnormal(x: f32) -> f32 {
    let seed = rsqrt_seed(x);
    let root = mul(x, seed);
    let rest = fma(-root, seed, 1.0);
    let rest = lesser_number(fma(fma(x, -seed, root), seed, rest), 0.001);
    let half = mul(rest, 0.5);
    fma(fma(mul(half, half), 1.5, half), seed, seed)
}
