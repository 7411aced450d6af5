//! The operations that the functions are made of: IEEE 754's, each rounded once and to nearest, whatever flags a project's
//! kernels are built with. A product that the compiler may see is contracted with a sum where contraction is on, and `/` may
//! be an approximation; these are neither.

use crate::backend;

/// `a · b + c` with one rounding.
#[inline(always)]
pub fn fma(a: f32, b: f32, c: f32) -> f32 {
    backend::fma_f32(a, b, c)
}

/// 1.5·2^23: what is added to it is rounded to a whole number, which is in the low bits of the sum.
pub const MAGIC: f32 = 12_582_912.0;

/// 2^`n`, for `n` from −126 to 127.
#[inline(always)]
pub fn power_of_two(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) as u32) << 23)
}

/// Of the polynomial with these coefficients, lowest first, the value at `x`, by Horner's rule.
macro_rules! horner {
    ($x:expr; $last:expr) => { $last };
    ($x:expr; $first:expr, $($rest:expr),+) => {
        $crate::float::f32::arithmetic::fma($crate::float::f32::arithmetic::horner!($x; $($rest),+), $x, $first)
    };
}
pub(crate) use horner;

#[cfg(target_arch = "nvptx64")]
mod operations {
    use core::arch::asm;

    use super::fma;

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
        rcp_seed(x) = "rcp.approx.ftz.f32 {}, {};";
        rsqrt_seed(x) = "rsqrt.approx.ftz.f32 {}, {};";
    }

    /// `1 / x` where neither is subnormal, infinite or 0: a seed of 23 bits and a step of Newton's, which round as a division
    /// does. It is the path that `rcp.rn` takes for such a divisor.
    #[inline(always)]
    pub fn rcp_normal(x: f32) -> f32 {
        let seed = rcp_seed(x);
        fma(fma(-x, seed, 1.0), seed, seed)
    }

    /// `a / b` where neither `b`, `1 / b` nor the quotient is subnormal, infinite or 0, nor `a` above 2^100 or so: the path
    /// that `div.rn` takes for such operands.
    #[inline(always)]
    pub fn div_normal(a: f32, b: f32) -> f32 {
        let inverse = rcp_normal(b);
        let quotient = mul(a, inverse);
        let quotient = fma(fma(-b, quotient, a), inverse, quotient);
        fma(fma(-b, quotient, a), inverse, quotient)
    }

    /// √`x` where neither is subnormal, infinite or 0: the path that `sqrt.rn` takes for such an operand.
    #[inline(always)]
    pub fn sqrt_normal(x: f32) -> f32 {
        let seed = rsqrt_seed(x);
        let root = mul(x, seed);
        fma(fma(-root, root, x), mul(seed, 0.5), root)
    }

    /// `1 / √x` where neither is subnormal, infinite or 0: a seed of 22 bits and a step of Newton's in which nothing is
    /// rounded that would show in the result.
    #[inline(always)]
    pub fn rsqrt_normal(x: f32) -> f32 {
        let seed = rsqrt_seed(x);
        let root = mul(x, seed);
        let rest = fma(-root, seed, 1.0);
        let rest = fma(fma(x, -seed, root), seed, rest);
        let half = mul(rest, 0.5);
        fma(fma(mul(half, half), 1.5, half), seed, seed)
    }
}

#[cfg(not(target_arch = "nvptx64"))]
mod operations {
    use crate::backend;

    pub fn mul(a: f32, b: f32) -> f32 {
        a * b
    }

    pub fn div(a: f32, b: f32) -> f32 {
        a / b
    }

    pub fn add_towards_zero(a: f32, b: f32) -> f32 {
        let sum = a + b;
        // What rounding left (Knuth): of the other sign if the sum is too far from 0.
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

    pub fn div_normal(a: f32, b: f32) -> f32 {
        a / b
    }

    pub fn sqrt_normal(x: f32) -> f32 {
        backend::sqrt_f32(x)
    }

    /// Rounded once more than the exact value, to 53 bits, which shows for no operand (`tests/mathematics.rs`).
    pub fn rsqrt_normal(x: f32) -> f32 {
        (1.0 / backend::sqrt_f64(f64::from(x))) as f32
    }
}

pub use operations::*;
