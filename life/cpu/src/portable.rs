//! Vectors for the baseline instructions.

use crate::grid::{Grid, Scratch};
use crate::sweep;
use crate::vector::{Block, Vector, composed_of_gates};

#[derive(Clone, Copy)]
struct Portable([u64; 4]);

#[allow(unused_unsafe)] // These gates are safe.
impl Vector<4> for Portable {
    #[inline(always)]
    unsafe fn load(block: &Block<4>) -> Self {
        Self(block.0)
    }

    #[inline(always)]
    unsafe fn store(self, block: &mut Block<4>) {
        block.0 = self.0;
    }

    #[inline(always)]
    unsafe fn splat(word: u64) -> Self {
        Self([word; 4])
    }

    #[inline(always)]
    unsafe fn and(self, Self(b): Self) -> Self {
        let Self(a) = self;
        Self([a[0] & b[0], a[1] & b[1], a[2] & b[2], a[3] & b[3]])
    }

    #[inline(always)]
    unsafe fn or(self, Self(b): Self) -> Self {
        let Self(a) = self;
        Self([a[0] | b[0], a[1] | b[1], a[2] | b[2], a[3] | b[3]])
    }

    #[inline(always)]
    unsafe fn xor(self, Self(b): Self) -> Self {
        let Self(a) = self;
        Self([a[0] ^ b[0], a[1] ^ b[1], a[2] ^ b[2], a[3] ^ b[3]])
    }

    #[inline(always)]
    unsafe fn and_not(self, Self(b): Self) -> Self {
        let Self(a) = self;
        Self([a[0] & !b[0], a[1] & !b[1], a[2] & !b[2], a[3] & !b[3]])
    }

    #[inline(always)]
    unsafe fn up(self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] << 1 | self.0[(i + 3) % 4] >> 63))
    }

    #[inline(always)]
    unsafe fn down(self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] >> 1 | self.0[(i + 1) % 4] << 63))
    }

    composed_of_gates!();
}

/// # Safety
/// Always safe: every processor that runs this program has the baseline instructions.
pub unsafe fn portable(
    grid: &Grid<4>,
    strip: usize,
    first_row: usize,
    out: &mut [Block<4>],
    generations: usize,
    scratch: &mut Scratch<4>,
) {
    // SAFETY: `Portable` needs only the baseline instructions.
    unsafe { sweep::tile::<Portable, 4>(grid, strip, first_row, out, generations, scratch) }
}
