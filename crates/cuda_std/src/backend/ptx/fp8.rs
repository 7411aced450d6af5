//! Conversions of 8-bit floats, which are instructions from sm_89 on.

#[cfg(target_feature = "sm_89")]
mod hardware {
    use core::arch::asm;

    macro_rules! conversions {
        ($($from_f32:ident $to_f16x2:ident $format:literal;)*) => {$(
            #[inline(always)]
            pub fn $from_f32(low: f32, high: f32) -> u16 {
                let result: u16;
                // SAFETY: the instruction only computes on registers.
                unsafe {
                    asm!(concat!("cvt.rn.satfinite.", $format, ".f32 {}, {}, {};"), out(reg16) result, in(reg32) high,
                        in(reg32) low, options(pure, nomem, nostack, preserves_flags));
                }
                result
            }

            #[inline(always)]
            pub fn $to_f16x2(pair: u16) -> u32 {
                let result: u32;
                // SAFETY: the instruction only computes on registers.
                unsafe {
                    asm!(concat!("cvt.rn.f16x2.", $format, " {}, {};"), out(reg32) result, in(reg16) pair,
                        options(pure, nomem, nostack, preserves_flags));
                }
                result
            }
        )*};
    }

    conversions! {
        e4m3x2_from_f32 e4m3x2_to_f16x2 "e4m3x2";
        e5m2x2_from_f32 e5m2x2_to_f16x2 "e5m2x2";
    }
}

#[cfg(target_feature = "sm_89")]
pub use hardware::*;

#[cfg(not(target_feature = "sm_89"))]
pub use crate::fp8::software::*;
