//! Vectors that use only the baseline instructions.

use std::array::from_fn;

use crate::grid::BandPass;
use crate::vector::{Block, Vector};

#[derive(Clone, Copy)]
struct Portable([u64; 4]);

impl Vector<4> for Portable {
    #[inline(always)]
    unsafe fn load(block: &Block<4>) -> Self {
        Self(block.0)
    }

    #[inline(always)]
    fn store(self, block: &mut Block<4>) {
        block.0 = self.0;
    }

    #[inline(always)]
    fn filled(self, word: u64) -> Self {
        Self([word; 4])
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(from_fn(|i| self.0[i] & other.0[i]))
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(from_fn(|i| self.0[i] | other.0[i]))
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(from_fn(|i| self.0[i] ^ other.0[i]))
    }

    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        Self(from_fn(|i| self.0[i] & !other.0[i]))
    }

    #[inline(always)]
    fn up(self) -> Self {
        Self(from_fn(|i| self.0[i] << 1 | self.0[(i + 3) % 4] >> 63))
    }

    #[inline(always)]
    fn down(self) -> Self {
        Self(from_fn(|i| self.0[i] >> 1 | self.0[(i + 1) % 4] << 63))
    }
}

/// Advances a band with instructions that any processor has.
pub fn portable(pass: BandPass<'_, 4>) {
    // SAFETY: `Portable` needs only the baseline instructions, which every processor that runs this program has.
    unsafe { pass.run::<Portable>() }
}
