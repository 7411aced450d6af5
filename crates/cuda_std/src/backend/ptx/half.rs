//! Arithmetic on 16-bit floats, with instructions where the architecture has them. From sm_80 on, `bf16` has a fused
//! multiply-add; before sm_90 this instruction also computes sums and products. Before sm_80 `bf16` has no
//! instructions.

use core::arch::asm;

use crate::half::rounding::BF16;

macro_rules! instructions {
    ($($name:ident($($argument:ident),*) $word:ident $register:ident $instruction:literal $places:literal;)*) => {$(
        #[inline(always)]
        pub fn $name($($argument: $word),*) -> $word {
            let result: $word;
            // SAFETY: the instruction only computes on registers.
            unsafe {
                asm!(concat!($instruction, " {}, ", $places, ";"), out($register) result, $(in($register) $argument),*,
                    options(pure, nomem, nostack, preserves_flags));
            }
            result
        }
    )*};
}

instructions! {
    f16_add(a, b) u16 reg16 "add.rn.f16" "{}, {}";
    f16_sub(a, b) u16 reg16 "sub.rn.f16" "{}, {}";
    f16_mul(a, b) u16 reg16 "mul.rn.f16" "{}, {}";
    f16_fma(a, b, c) u16 reg16 "fma.rn.f16" "{}, {}, {}";
    f16x2_add(a, b) u32 reg32 "add.rn.f16x2" "{}, {}";
    f16x2_sub(a, b) u32 reg32 "sub.rn.f16x2" "{}, {}";
    f16x2_mul(a, b) u32 reg32 "mul.rn.f16x2" "{}, {}";
    f16x2_fma(a, b, c) u32 reg32 "fma.rn.f16x2" "{}, {}, {}";
}

macro_rules! conversions {
    ($($name:ident $from:ident $from_register:ident $to:ident $to_register:ident $instruction:literal;)*) => {$(
        #[inline(always)]
        pub fn $name(value: $from) -> $to {
            let result: $to;
            // SAFETY: the instruction only computes on registers.
            unsafe {
                asm!(concat!($instruction, " {}, {};"), out($to_register) result, in($from_register) value,
                    options(pure, nomem, nostack, preserves_flags));
            }
            result
        }
    )*};
}

conversions! {
    f16_from_f32 f32 reg32 u16 reg16 "cvt.rn.f16.f32";
    f16_from_number f64 reg64 u16 reg16 "cvt.rn.f16.f64";
}

unsafe extern "C" {
    #[link_name = "llvm.convert.from.fp16.f32"]
    fn llvm_from_fp16(bits: u16) -> f32;
}

/// Converts by an intrinsic, which is the instruction `cvt.f32.f16` without the comments of inline assembly.
#[inline(always)]
pub fn f16_to_f32(bits: u16) -> f32 {
    // SAFETY: the instruction only computes on registers.
    unsafe { llvm_from_fp16(bits) }
}

/// Returns the `f16` nearest to `value`. NaN is a separate case, because the instruction would keep bits of the NaN.
#[inline(always)]
pub fn f16_from_f64(value: f64) -> u16 {
    if value.is_nan() { 0x7FFF } else { f16_from_number(value) }
}

#[inline(always)]
pub fn bf16_from_f64(value: f64) -> u16 {
    BF16.round(value)
}

#[inline(always)]
pub fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits((bits as u32) << 16)
}

#[cfg(target_feature = "sm_80")]
instructions! {
    bf16_fma(a, b, c) u16 reg16 "fma.rn.bf16" "{}, {}, {}";
    bf16x2_fma(a, b, c) u32 reg32 "fma.rn.bf16x2" "{}, {}, {}";
}

#[cfg(target_feature = "sm_80")]
conversions! {
    bf16_from_f32 f32 reg32 u16 reg16 "cvt.rn.bf16.f32";
}

macro_rules! conversions_of_pairs {
    ($($name:ident $instruction:literal $single:ident;)*) => {$(
        #[cfg(target_feature = "sm_80")]
        #[inline(always)]
        pub fn $name(low: f32, high: f32) -> u32 {
            let result: u32;
            // SAFETY: the instruction only computes on registers.
            unsafe {
                asm!(concat!($instruction, " {}, {}, {};"), out(reg32) result, in(reg32) high, in(reg32) low,
                    options(pure, nomem, nostack, preserves_flags));
            }
            result
        }

        #[cfg(not(target_feature = "sm_80"))]
        #[inline(always)]
        pub fn $name(low: f32, high: f32) -> u32 {
            $single(low) as u32 | ($single(high) as u32) << 16
        }
    )*};
}

conversions_of_pairs! {
    f16x2_from_f32 "cvt.rn.f16x2.f32" f16_from_f32;
    bf16x2_from_f32 "cvt.rn.bf16x2.f32" bf16_from_f32;
}

#[cfg(target_feature = "sm_90")]
instructions! {
    bf16_add(a, b) u16 reg16 "add.rn.bf16" "{}, {}";
    bf16_sub(a, b) u16 reg16 "sub.rn.bf16" "{}, {}";
    bf16_mul(a, b) u16 reg16 "mul.rn.bf16" "{}, {}";
    bf16x2_add(a, b) u32 reg32 "add.rn.bf16x2" "{}, {}";
    bf16x2_sub(a, b) u32 reg32 "sub.rn.bf16x2" "{}, {}";
    bf16x2_mul(a, b) u32 reg32 "mul.rn.bf16x2" "{}, {}";
}

#[cfg(not(target_feature = "sm_80"))]
#[inline(always)]
pub fn bf16_from_f32(value: f32) -> u16 {
    let bits = value.to_bits();
    // Adds just under half of the last place that stays, and the rest of the half if that place is odd. A number beyond
    // the largest one becomes infinity.
    let rounded = ((bits.wrapping_add(0x7FFF + (bits >> 16 & 1))) >> 16) as u16;
    if value.is_nan() { 0x7FFF } else { rounded }
}

#[cfg(not(target_feature = "sm_80"))]
#[inline(always)]
pub fn bf16_fma(a: u16, b: u16, c: u16) -> u16 {
    BF16.fma(a, b, c)
}

#[cfg(not(target_feature = "sm_80"))]
#[inline(always)]
pub fn bf16x2_fma(a: u32, b: u32, c: u32) -> u32 {
    let high = bf16_fma((a >> 16) as u16, (b >> 16) as u16, (c >> 16) as u16);
    bf16_fma(a as u16, b as u16, c as u16) as u32 | (high as u32) << 16
}

/// Computes sums and products of `bf16` by a fused multiply-add. With a factor 1 or −1 the result is a sum or
/// difference. With an addend −0, which keeps the sign of a zero, the result is a product.
#[cfg(not(target_feature = "sm_90"))]
macro_rules! by_fused {
    ($($word:ident $one:literal $sign:literal $fma:ident $add:ident $sub:ident $mul:ident;)*) => {$(
        #[inline(always)]
        pub fn $add(a: $word, b: $word) -> $word { $fma(a, $one, b) }
        #[inline(always)]
        pub fn $sub(a: $word, b: $word) -> $word { $fma(b, $one ^ $sign, a) }
        #[inline(always)]
        pub fn $mul(a: $word, b: $word) -> $word { $fma(a, b, $sign) }
    )*};
}

#[cfg(not(target_feature = "sm_90"))]
by_fused! {
    u16 0x3F80 0x8000 bf16_fma bf16_add bf16_sub bf16_mul;
    u32 0x3F80_3F80 0x8000_8000 bf16x2_fma bf16x2_add bf16x2_sub bf16x2_mul;
}
