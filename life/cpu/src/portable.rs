//! Vectors that use only the baseline instructions.

use std::array::from_fn;

use crate::grid::BandPass;
use crate::vector::{Block, Ring, Rows, Tiled, Vector};

#[derive(Clone, Copy)]
pub struct Portable<const N: usize>([u64; N]);

impl<const N: usize> Vector<N> for Portable<N> {
    #[inline(always)]
    unsafe fn load(block: &Block<N>) -> Self {
        Self(block.0)
    }

    #[inline(always)]
    fn store(self, block: &mut Block<N>) {
        block.0 = self.0;
    }

    #[inline(always)]
    fn filled(self, word: u64) -> Self {
        Self([word; N])
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
}

impl Ring<4> for Portable<4> {
    #[inline(always)]
    fn up(self) -> Self {
        Self(from_fn(|i| self.0[i] << 1 | self.0[(i + 3) % 4] >> 63))
    }

    #[inline(always)]
    fn down(self) -> Self {
        Self(from_fn(|i| self.0[i] >> 1 | self.0[(i + 1) % 4] << 63))
    }
}

impl Tiled<4> for Portable<4> {
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

impl Rows for Portable<8> {
    #[inline(always)]
    fn left(self) -> Self {
        Self(self.0.map(|word| word << 1))
    }

    #[inline(always)]
    fn right(self) -> Self {
        Self(self.0.map(|word| word >> 1))
    }

    #[inline(always)]
    fn shifted_to_east(self) -> Self {
        Self(self.0.map(|word| word << 48))
    }

    #[inline(always)]
    fn shifted_to_west(self) -> Self {
        Self(self.0.map(|word| word >> 48))
    }

    #[inline(always)]
    fn previous_words(self) -> Self {
        Self(from_fn(|i| self.0[i.saturating_sub(1)]))
    }

    #[inline(always)]
    fn next_words(self) -> Self {
        Self(from_fn(|i| self.0[(i + 1).min(7)]))
    }

    #[inline(always)]
    fn halo_above(self) -> Self {
        Self(from_fn(|i| if i == 0 { self.0[6] } else { 0 }))
    }

    #[inline(always)]
    fn halo_below(self) -> Self {
        Self(from_fn(|i| if i == 7 { self.0[1] } else { 0 }))
    }
}

/// Advances a band with instructions that any processor has.
pub fn portable(pass: BandPass<'_, 4>) {
    // SAFETY: `Portable` needs only the baseline instructions, which every processor that runs this program has.
    unsafe { pass.run::<Portable<4>>() }
}
