//! Operations on bits that are one instruction each.

use core::arch::asm;

macro_rules! instructions {
    ($($name:ident($type:ident) $instruction:literal;)*) => {$(
        #[inline(always)]
        pub fn $name(a: u32, b: u32, c: $type) -> $type {
            let result;
            // SAFETY: the instruction only computes on registers.
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
    // SAFETY: the instruction only computes on registers.
    unsafe {
        asm!("lop3.b32 {}, {}, {}, {}, {};", out(reg32) result, in(reg32) a, in(reg32) b, in(reg32) c,
            const TABLE as u32, options(pure, nomem, nostack, preserves_flags));
    }
    result
}

/// Returns the placeholder for `lop3` table `index`. The host finds the placeholder by the comment in the PTX and
/// replaces it before the driver compiles the kernel. The placeholders of indices below 218 are distinct, and each
/// depends on all three inputs, so the compiler treats it like a real table.
const fn stand_in(index: usize) -> u32 {
    let (mut table, mut before) = (0_u32, 0);
    loop {
        table += 1;
        let depends =
            (table >> 4 ^ table) & 0x0F != 0 && (table >> 2 ^ table) & 0x33 != 0 && (table >> 1 ^ table) & 0x55 != 0;
        if depends && before == index {
            return table;
        }
        before += depends as usize;
    }
}

#[inline(always)]
pub fn lop3_given<const INDEX: usize>(a: u32, b: u32, c: u32) -> u32 {
    const { assert!(INDEX < 128, "a launch has at most 128 tables: the index must be below 128") };
    let result;
    // SAFETY: the instruction only computes on registers.
    unsafe {
        asm!("lop3.b32 {}, {}, {}, {}, {} /*table {}*/;", out(reg32) result, in(reg32) a, in(reg32) b, in(reg32) c,
            const stand_in(INDEX), const INDEX, options(pure, nomem, nostack, preserves_flags));
    }
    result
}
