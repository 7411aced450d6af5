//! The operands of the bandwidth kernels: 1, 2, 4, 8 or 16 bytes per load or store.

use core::fmt::Debug;
use core::ops::BitXor;

use cuda_std::{DeviceCopy, Element, Pod, Zeroable};

/// The type that one load or store transfers. Kernels combine values of this type by XOR, which is exact and
/// commutative.
pub trait Operand: Element + BitXor<Output = Self> + PartialEq + Debug {
    /// The identity of XOR.
    const ZERO: Self;

    /// Returns the low bytes of `word`, or `word` twice for a 16-byte operand.
    fn from_word(word: u64) -> Self;
}

macro_rules! operands {
    ($($type:ident)*) => {$(
        impl Operand for $type {
            const ZERO: Self = 0;

            #[inline(always)]
            fn from_word(word: u64) -> Self {
                word as $type
            }
        }
    )*};
}

operands! { u8 u16 u32 u64 }

/// 16 bytes as four 32-bit registers. With a `u128`, the compiler would emit extra instructions that join and split
/// these registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, DeviceCopy)]
#[repr(C, align(16))]
pub struct U32x4(pub [u32; 4]);

// SAFETY: the field is four `u32`, and all-zero bits are a valid `u32`.
unsafe impl Zeroable for U32x4 {}
// SAFETY: the field is four `u32`, which fill the 16 bytes without padding, and any bits are a valid `u32`.
unsafe impl Pod for U32x4 {}

impl BitXor for U32x4 {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        let (a, b) = (self.0, other.0);
        Self([a[0] ^ b[0], a[1] ^ b[1], a[2] ^ b[2], a[3] ^ b[3]])
    }
}

impl Operand for U32x4 {
    const ZERO: Self = Self([0; 4]);

    #[inline(always)]
    fn from_word(word: u64) -> Self {
        let (low, high) = (word as u32, (word >> 32) as u32);
        Self([low, high, low, high])
    }
}
