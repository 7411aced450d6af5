//! What the bandwidth kernels load and store at once: 1, 2, 4, 8 or 16 bytes.

use core::ops::BitXor;

use cuda_std::Element;

/// An unsigned integer as an operand of one access. Exclusive or combines operands exactly and in any order.
pub trait Operand: Element + BitXor<Output = Self> + PartialEq + core::fmt::Debug {
    /// What exclusive or leaves as it is.
    const ZERO: Self;

    /// The low bytes of `word`, or `word` twice for 16 bytes.
    fn from_word(word: u64) -> Self;
}

macro_rules! operands {
    ($($type:ident $word:ident => $value:expr;)*) => {$(
        impl Operand for $type {
            const ZERO: Self = 0;

            #[inline(always)]
            fn from_word($word: u64) -> Self {
                $value
            }
        }
    )*};
}

operands! {
    u8 word => word as u8;
    u16 word => word as u16;
    u32 word => word as u32;
    u64 word => word;
    u128 word => word as u128 | (word as u128) << 64;
}
