//! Arithmetic on `f64` that the compiler must not change, and functions in hardware.

use core::arch::asm;

use super::fma_f64;

/// Returns the product of `a` and `b`, rounded once. The function uses assembly, because the compiler may fuse a plain
/// product with a following sum.
#[inline(always)]
pub fn product_f64(a: f64, b: f64) -> f64 {
    let product;
    // SAFETY: the instruction only computes with registers.
    unsafe {
        asm!("mul.rn.f64 {}, {}, {};", out(reg64) product, in(reg64) a, in(reg64) b,
            options(pure, nomem, nostack, preserves_flags));
    }
    product
}

/// Returns the number with these upper and lower 32 bits. The function uses assembly, because the compiler would
/// otherwise turn an addition to `high` into a 64-bit addition.
#[inline(always)]
pub fn from_words_f64(high: i32, low: i32) -> f64 {
    let x;
    // SAFETY: the instruction only computes with registers.
    unsafe {
        asm!("mov.b64 {}, {{{}, {}}};", out(reg64) x, in(reg32) low, in(reg32) high,
            options(pure, nomem, nostack, preserves_flags));
    }
    x
}

/// Returns `1 / x`, correctly rounded, for magnitudes from 2^−1000 to 2^1000.
///
/// The function runs the instructions into which ptxas translates `rcp.rn.f64`, without their branch for other
/// magnitudes. The instructions start from an approximation of 20 bits and apply a third-order correction. Markstein's
/// last step then rounds correctly for any approximation.
#[inline(always)]
pub fn recip_in_range_f64(x: f64) -> f64 {
    let first = recip_estimate_f64(x);
    let error = fma_f64(-x, first, 1.0);
    let second = fma_f64(first, fma_f64(error, error, error), first);
    fma_f64(second, fma_f64(-x, second, 1.0), second)
}

/// Returns `√x`, correctly rounded, for numbers from 2^−1000 to 2^1000. Returns NaN for 0, negative numbers and NaN.
///
/// The function runs the instructions into which ptxas translates `sqrt.rn.f64`, without their branch for other
/// numbers. The branch costs more than the operations, because the code loads each constant again on both sides of the
/// branch.
#[inline(always)]
pub fn sqrt_in_range_f64(x: f64) -> f64 {
    let first = rsqrt_estimate_f64(x);
    let error = fma_f64(-product_f64(first, first), x, 1.0);
    let inverse = fma_f64(fma_f64(error, 0.375, 0.5), product_f64(first, error), first);
    let root = product_f64(inverse, x);
    let bits = inverse.to_bits() as i64;
    let half = from_words_f64((bits >> 32) as i32 - 0x0010_0000, bits as i32);
    fma_f64(fma_f64(-root, root, x), half, root)
}

/// Returns `1 / x` with a relative error of 2^−20, in the upper word of the result. A subnormal operand or result
/// counts as 0.
#[inline(always)]
pub fn recip_estimate_f64(x: f64) -> f64 {
    let estimate;
    // SAFETY: the instruction only computes with registers.
    unsafe {
        asm!("rcp.approx.ftz.f64 {}, {};", out(reg64) estimate, in(reg64) x, options(pure, nomem, nostack, preserves_flags));
    }
    estimate
}

/// Returns `1 / √x` with a relative error of 2^−20, in the upper word of the result. A subnormal operand counts as 0.
#[inline(always)]
pub fn rsqrt_estimate_f64(x: f64) -> f64 {
    let estimate;
    // SAFETY: the instruction only computes with registers.
    unsafe {
        asm!("rsqrt.approx.ftz.f64 {}, {};", out(reg64) estimate, in(reg64) x, options(pure, nomem, nostack, preserves_flags));
    }
    estimate
}

unsafe extern "C" {
    #[link_name = "llvm.floor.f64"]
    fn llvm_floor(x: f64) -> f64;
    #[link_name = "llvm.ceil.f64"]
    fn llvm_ceil(x: f64) -> f64;
    #[link_name = "llvm.trunc.f64"]
    fn llvm_trunc(x: f64) -> f64;
    #[link_name = "llvm.rint.f64"]
    fn llvm_rint(x: f64) -> f64;
}

macro_rules! roundings {
    ($($name:ident = $intrinsic:ident;)*) => {$(
        #[inline(always)]
        pub fn $name(x: f64) -> f64 {
            // SAFETY: the instruction only computes with registers.
            unsafe { $intrinsic(x) }
        }
    )*};
}

roundings! {
    floor_f64 = llvm_floor;
    ceil_f64 = llvm_ceil;
    trunc_f64 = llvm_trunc;
    round_ties_even_f64 = llvm_rint;
}
