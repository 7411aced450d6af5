//! Bit operations that are one GPU instruction and that Rust's integers lack.
//!
//! These methods of Rust's integers are one instruction, too: `count_ones` (`__popc`), `leading_zeros` (`__clz`),
//! `reverse_bits` (`__brev`), `swap_bytes`, `rotate_left` and `abs_diff`.

use crate::backend;

/// Applies a function of three bits to each bit of three words. `TABLE` is the function's result for the words `a =
/// 0xF0`, `b = 0xCC` and `c = 0xAA`.
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

/// Applies a function like [`lop3`], but with a table that the host chooses at run time: table `INDEX` (below 128) of
/// the launch's `LaunchConfig::tables`. The instruction costs as much as one with a constant table. A GPU's driver
/// compiles the kernel anew for each list of tables.
///
/// If the launch has no such table, the simulator reports a fault and a GPU refuses the launch.
#[inline(always)]
pub fn lop3_given<const INDEX: usize>(a: u32, b: u32, c: u32) -> u32 {
    backend::lop3_given::<INDEX>(a, b, c)
}

/// Returns the upper word of `high:low` shifted left by `shift` modulo 32.
#[doc(alias = "__funnelshift_l")]
#[inline(always)]
pub fn funnel_shift_left(low: u32, high: u32, shift: u32) -> u32 {
    backend::funnel_shift_left(low, high, shift)
}

/// Returns the upper word of `high:low` shifted left by `shift`. A `shift` above 32 counts as 32.
#[doc(alias = "__funnelshift_lc")]
#[inline(always)]
pub fn funnel_shift_left_clamped(low: u32, high: u32, shift: u32) -> u32 {
    backend::funnel_shift_left_clamped(low, high, shift)
}

/// Returns the lower word of `high:low` shifted right by `shift` modulo 32.
#[doc(alias = "__funnelshift_r")]
#[inline(always)]
pub fn funnel_shift_right(low: u32, high: u32, shift: u32) -> u32 {
    backend::funnel_shift_right(low, high, shift)
}

/// Returns the lower word of `high:low` shifted right by `shift`. A `shift` above 32 counts as 32.
#[doc(alias = "__funnelshift_rc")]
#[inline(always)]
pub fn funnel_shift_right_clamped(low: u32, high: u32, shift: u32) -> u32 {
    backend::funnel_shift_right_clamped(low, high, shift)
}

/// Returns a word of four bytes that `selector` selects from the eight bytes of `b:a`. For each byte, the lower three
/// of four bits of `selector` are the byte's number, counted from the lowest byte of `a`. If the fourth bit is set, the
/// byte is replaced by eight copies of its sign bit.
#[doc(alias = "__byte_perm")]
#[inline(always)]
pub fn byte_permute(a: u32, b: u32, selector: u32) -> u32 {
    backend::byte_permute(a, b, selector)
}

/// Returns `sum` plus the products of the four signed bytes of `a` and `b`. The result wraps on overflow.
#[doc(alias = "__dp4a")]
#[inline(always)]
pub fn dp4a(a: u32, b: u32, sum: i32) -> i32 {
    backend::dp4a(a, b, sum)
}

/// Returns `sum` plus the products of the four unsigned bytes of `a` and `b`. The result wraps on overflow.
#[doc(alias = "__dp4a")]
#[inline(always)]
pub fn dp4a_unsigned(a: u32, b: u32, sum: u32) -> u32 {
    backend::dp4a_unsigned(a, b, sum)
}

/// Returns `sum` plus the products of the two signed halves of `a` and the two lower signed bytes of `b`. The result
/// wraps on overflow.
#[doc(alias = "__dp2a_lo")]
#[inline(always)]
pub fn dp2a_low(a: u32, b: u32, sum: i32) -> i32 {
    backend::dp2a_low(a, b, sum)
}

/// Returns `sum` plus the products of the two signed halves of `a` and the two upper signed bytes of `b`. The result
/// wraps on overflow.
#[doc(alias = "__dp2a_hi")]
#[inline(always)]
pub fn dp2a_high(a: u32, b: u32, sum: i32) -> i32 {
    backend::dp2a_high(a, b, sum)
}

/// Returns the upper word of the product of `a` and `b`.
#[doc(alias = "__umulhi")]
#[inline(always)]
pub fn multiply_high(a: u32, b: u32) -> u32 {
    ((a as u64 * b as u64) >> 32) as u32
}

/// Returns the upper word of the product of the signed integers `a` and `b`.
#[doc(alias = "__mulhi")]
#[inline(always)]
pub fn multiply_high_signed(a: i32, b: i32) -> i32 {
    ((a as i64 * b as i64) >> 32) as i32
}

/// Returns the upper 64 bits of the product of `a` and `b`.
#[doc(alias = "__umul64hi")]
#[inline(always)]
pub fn multiply_high_64(a: u64, b: u64) -> u64 {
    ((a as u128 * b as u128) >> 64) as u64
}

/// Returns the position of the lowest set bit, counted from 1, or 0 if no bit is set.
#[doc(alias = "__ffs")]
#[inline(always)]
pub fn find_first_set(value: u32) -> u32 {
    if value == 0 { 0 } else { value.trailing_zeros() + 1 }
}

/// Returns the position of the lowest set bit of a 64-bit integer, counted from 1, or 0 if no bit is set.
#[doc(alias = "__ffsll")]
#[inline(always)]
pub fn find_first_set_64(value: u64) -> u32 {
    if value == 0 { 0 } else { value.trailing_zeros() + 1 }
}
