//! Vectors that use only the baseline instructions.

use std::array::from_fn;

use crate::active::{Generations, Stop};
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

    #[inline(always)]
    fn after(self, above: Self) -> Self {
        Self([above.0[3], self.0[0], self.0[1], self.0[2]])
    }

    #[inline(always)]
    fn before(self, below: Self) -> Self {
        Self([self.0[1], self.0[2], self.0[3], below.0[0]])
    }

    #[inline(always)]
    fn after_bits(self, left: Self) -> Self {
        Self(from_fn(|i| self.0[i] << 1 | left.0[i] >> 63))
    }

    #[inline(always)]
    fn before_bits(self, right: Self) -> Self {
        Self(from_fn(|i| self.0[i] >> 1 | right.0[i] << 63))
    }

    #[inline(always)]
    fn words_with(self, mask: Self) -> u32 {
        (0..4).fold(0, |words, i| words | u32::from(self.0[i] & mask.0[i] != 0) << i)
    }
}

/// Advances a band with instructions that any processor has.
pub fn portable(pass: BandPass<'_, 4>) {
    // SAFETY: `Portable` needs only the baseline instructions, which every processor that runs this program has.
    unsafe { pass.run::<Portable>() }
}

/// Advances a board of tiles with instructions that any processor has.
pub fn portable_tiles(pass: Generations<'_, 4>) -> Stop {
    // SAFETY: `Portable` needs only the baseline instructions, which every processor that runs this program has.
    unsafe { pass.run::<Portable>() }
}
