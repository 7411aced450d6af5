//! Operations on bits that are an instruction of a GPU and no method of Rust's integers.
//!
//! What Rust's integers have is one instruction as well: `count_ones` (`__popc`), `leading_zeros` (`__clz`),
//! `reverse_bits` (`__brev`), `swap_bytes`, `rotate_left`, `abs_diff`.

use crate::backend;

/// Any function of three bits, for each bit of three words. `TABLE` is what the function makes of `a = 0xF0`,
/// `b = 0xCC` and `c = 0xAA`.
///
/// ```
/// use cuda_std::bits::lop3;
///
/// const MAJORITY: u8 = (0xF0 & 0xCC) | (0xF0 & 0xAA) | (0xCC & 0xAA);
/// assert_eq!(lop3::<MAJORITY>(0b1100, 0b1010, 0b1001), 0b1000);
/// ```
#[doc(alias = "lop3.b32")]
#[inline(always)]
pub fn lop3<const TABLE: u8>(a: u32, b: u32, c: u32) -> u32 {
    backend::lop3::<TABLE>(a, b, c)
}

/// As [`lop3`], by the table number `INDEX` (below 128) of those that the launch gives by `LaunchConfig::tables`: a
/// circuit whose function is known when the program runs, at the price of one that the compiler knows. On a GPU the
/// kernel is compiled anew for each list of tables.
///
/// Faults in the simulator, and refuses the launch on a GPU, where the launch gives no such table.
#[inline(always)]
pub fn lop3_given<const INDEX: usize>(a: u32, b: u32, c: u32) -> u32 {
    backend::lop3_given::<INDEX>(a, b, c)
}

/// The upper word of `high:low` shifted left by `shift` modulo 32.
#[doc(alias = "__funnelshift_l")]
#[inline(always)]
pub fn funnel_shift_left(low: u32, high: u32, shift: u32) -> u32 {
    backend::funnel_shift_left(low, high, shift)
}

/// As [`funnel_shift_left`], by at most 32.
#[doc(alias = "__funnelshift_lc")]
#[inline(always)]
pub fn funnel_shift_left_clamped(low: u32, high: u32, shift: u32) -> u32 {
    backend::funnel_shift_left_clamped(low, high, shift)
}

/// The lower word of `high:low` shifted right by `shift` modulo 32.
#[doc(alias = "__funnelshift_r")]
#[inline(always)]
pub fn funnel_shift_right(low: u32, high: u32, shift: u32) -> u32 {
    backend::funnel_shift_right(low, high, shift)
}

/// As [`funnel_shift_right`], by at most 32.
#[doc(alias = "__funnelshift_rc")]
#[inline(always)]
pub fn funnel_shift_right_clamped(low: u32, high: u32, shift: u32) -> u32 {
    backend::funnel_shift_right_clamped(low, high, shift)
}

/// Four bytes of the eight of `b:a`, each chosen by four bits of `selector`: the byte's number, from the lowest of `a`,
/// and above it a bit that asks for its sign in all eight bits.
#[doc(alias = "__byte_perm")]
#[inline(always)]
pub fn byte_permute(a: u32, b: u32, selector: u32) -> u32 {
    backend::byte_permute(a, b, selector)
}

/// `sum` and the products of the four signed bytes of `a` with those of `b`; wraps.
#[doc(alias = "__dp4a")]
#[inline(always)]
pub fn dp4a(a: u32, b: u32, sum: i32) -> i32 {
    backend::dp4a(a, b, sum)
}

/// As [`dp4a`], of unsigned bytes.
#[doc(alias = "__dp4a")]
#[inline(always)]
pub fn dp4a_unsigned(a: u32, b: u32, sum: u32) -> u32 {
    backend::dp4a_unsigned(a, b, sum)
}

/// `sum` and the products of the two signed halves of `a` with the two lower signed bytes of `b`; wraps.
#[doc(alias = "__dp2a_lo")]
#[inline(always)]
pub fn dp2a_low(a: u32, b: u32, sum: i32) -> i32 {
    backend::dp2a_low(a, b, sum)
}

/// As [`dp2a_low`], with the two upper bytes of `b`.
#[doc(alias = "__dp2a_hi")]
#[inline(always)]
pub fn dp2a_high(a: u32, b: u32, sum: i32) -> i32 {
    backend::dp2a_high(a, b, sum)
}

/// The upper word of the product of `a` and `b`.
#[doc(alias = "__umulhi")]
#[inline(always)]
pub fn multiply_high(a: u32, b: u32) -> u32 {
    ((a as u64 * b as u64) >> 32) as u32
}

/// As [`multiply_high`], signed.
#[doc(alias = "__mulhi")]
#[inline(always)]
pub fn multiply_high_signed(a: i32, b: i32) -> i32 {
    ((a as i64 * b as i64) >> 32) as i32
}

/// The upper 64 bits of the product of `a` and `b`.
#[doc(alias = "__umul64hi")]
#[inline(always)]
pub fn multiply_high_64(a: u64, b: u64) -> u64 {
    ((a as u128 * b as u128) >> 64) as u64
}

/// The place of the lowest bit that is set, from 1 on; 0 where there is none.
#[doc(alias = "__ffs")]
#[inline(always)]
pub fn find_first_set(value: u32) -> u32 {
    if value == 0 { 0 } else { value.trailing_zeros() + 1 }
}

/// As [`find_first_set`], of 64 bits.
#[doc(alias = "__ffsll")]
#[inline(always)]
pub fn find_first_set_64(value: u64) -> u32 {
    if value == 0 { 0 } else { value.trailing_zeros() + 1 }
}
