//! Operations on bits: an instruction each.

use core::arch::asm;

macro_rules! instructions {
    ($($name:ident($type:ident) $instruction:literal;)*) => {$(
        #[inline(always)]
        pub fn $name(a: u32, b: u32, c: $type) -> $type {
            let result;
            // SAFETY: arithmetic.
            unsafe {
                asm!(concat!($instruction, " {}, {}, {}, {};"), out(reg32) result, in(reg32) a, in(reg32) b, in(reg32) c,
                    options(pure, nomem, nostack, preserves_flags));
            }
            result
        }
    )*};
}

instructions! {
    funnel_shift_left(u32) "shf.l.wrap.b32";
    funnel_shift_left_clamped(u32) "shf.l.clamp.b32";
    funnel_shift_right(u32) "shf.r.wrap.b32";
    funnel_shift_right_clamped(u32) "shf.r.clamp.b32";
    byte_permute(u32) "prmt.b32";
    dp4a(i32) "dp4a.s32.s32";
    dp4a_unsigned(u32) "dp4a.u32.u32";
    dp2a_low(i32) "dp2a.lo.s32.s32";
    dp2a_high(i32) "dp2a.hi.s32.s32";
}

#[inline(always)]
pub fn lop3<const TABLE: u8>(a: u32, b: u32, c: u32) -> u32 {
    let result;
    // SAFETY: arithmetic.
    unsafe {
        asm!("lop3.b32 {}, {}, {}, {}, {};", out(reg32) result, in(reg32) a, in(reg32) b, in(reg32) c,
            const TABLE as u32, options(pure, nomem, nostack, preserves_flags));
    }
    result
}
