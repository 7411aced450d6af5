//! Operations on `f32` that no compiler flag changes, and the hardware's approximations.

use core::arch::asm;

use super::fma_f32 as fma;

macro_rules! instructions {
    ($($(#[$doc:meta])? $name:ident($($argument:ident),*) = $text:literal;)*) => {$(
        $(#[$doc])?
        #[inline(always)]
        pub fn $name($($argument: f32),*) -> f32 {
            let result: f32;
            // SAFETY: the instruction only computes with registers.
            unsafe {
                asm!($text, out(reg32) result, $(in(reg32) $argument,)* options(pure, nomem, nostack, preserves_flags));
            }
            result
        }
    )*};
}

instructions! {
    /// Returns `a · b`.
    mul(a, b) = "mul.rn.f32 {}, {}, {};";
    /// Returns `a / b`.
    div(a, b) = "div.rn.f32 {}, {}, {};";
    /// Returns the square root of `x`, correctly rounded.
    sqrt(x) = "sqrt.rn.f32 {}, {};";
    /// Returns `a + b`, rounded towards 0.
    add_towards_zero(a, b) = "add.rz.f32 {}, {}, {};";
    floor(x) = "cvt.rmi.f32.f32 {}, {};";
    ceil(x) = "cvt.rpi.f32.f32 {}, {};";
    trunc(x) = "cvt.rzi.f32.f32 {}, {};";
    round_ties_even(x) = "cvt.rni.f32.f32 {}, {};";
    ex2(x) = "ex2.approx.f32 {}, {};";
    ex2_flushed(x) = "ex2.approx.ftz.f32 {}, {};";
    lg2(x) = "lg2.approx.f32 {}, {};";
    approximate_sin(x) = "sin.approx.f32 {}, {};";
    approximate_cos(x) = "cos.approx.f32 {}, {};";
    approximate_rcp(x) = "rcp.approx.f32 {}, {};";
    approximate_rsqrt(x) = "rsqrt.approx.f32 {}, {};";
    approximate_sqrt(x) = "sqrt.approx.f32 {}, {};";
    approximate_div(a, b) = "div.full.f32 {}, {}, {};";
    rcp_flushed(x) = "rcp.approx.ftz.f32 {}, {};";
    rsqrt_seed(x) = "rsqrt.approx.ftz.f32 {}, {};";
    /// Returns the logarithm of ±0, ∞, NaN or a negative number.
    log_of_special(x) = "lg2.approx.ftz.f32 {}, {};";
    /// Returns the square root of a number that is not both positive and finite.
    sqrt_of_special(x) = "sqrt.approx.ftz.f32 {}, {};";
    /// Returns the reciprocal of 0, ∞ or NaN.
    recip_of_special(x) = "rcp.approx.ftz.f32 {}, {};";
    /// Returns the lesser of `a` and `b`. If one of them is NaN, returns the other.
    lesser_number(a, b) = "min.f32 {}, {}, {};";
}

/// Returns `1 / x`, correctly rounded, if `x` and the result are normal. Like `rcp.rn` for such an `x`, the function
/// uses a seed of 23 bits and one Newton step.
#[inline(always)]
pub fn rcp_normal(x: f32) -> f32 {
    let seed = rcp_flushed(x);
    fma(fma(-x, seed, 1.0), seed, seed)
}

/// Returns √`x`, correctly rounded, for finite numbers from 2^−101 on. The function takes the same steps as `sqrt.rn`
/// for such an `x`.
#[inline(always)]
pub fn sqrt_normal(x: f32) -> f32 {
    let seed = rsqrt_seed(x);
    let root = mul(x, seed);
    fma(fma(-root, root, x), mul(seed, 0.5), root)
}

/// Returns `1 / √x` if `x` is not subnormal, from a seed of 22 bits and one Newton step. The PTX documentation states
/// an error of 2^−22.9 for the seed. A test of all arguments showed that every seed within this error leads to the same
/// result. For 0, ∞ and negative numbers the Newton step would be NaN. The function then makes a step without effect
/// and returns the seed.
#[inline(always)]
pub fn rsqrt_not_subnormal(x: f32) -> f32 {
    let seed = rsqrt_seed(x);
    let root = mul(x, seed);
    let rest = fma(-root, seed, 1.0);
    let rest = lesser_number(fma(fma(x, -seed, root), seed, rest), 0.001);
    let half = mul(rest, 0.5);
    fma(fma(mul(half, half), 1.5, half), seed, seed)
}
