//! Masks that keep cells dead beyond the edges of a bounded plane. The masks are needed because a launch advances the
//! margins together with the cells.
//!
//! # Design
//!
//! In a margin beyond a dead edge, the rule could make a cell alive. On a board with dead edges, `life_streaming_plane`
//! therefore masks the margins in each generation.

use cuda_std::bits::lop3;

use super::super::CELLS_PER_WORD;
use super::logic::{WORDS, Words};
use super::{Interleaved, MARGIN, Surface, TILE_WORDS};

/// The truth table of the logical AND of three inputs.
const ALL: u8 = 0x80;

/// Masks of the bits that are not beyond a dead edge, for one lane's words in one tile.
pub(in super::super) struct Dead {
    /// The mask for columns. The bit of a column is 0 if the column is beyond a dead edge, else 1.
    columns: Words,
    /// The mask for rows above the first row of the folds. The bits of a fold are 0 if these rows are beyond a dead
    /// edge, else 1.
    above: u32,
    /// The mask for rows from `end` on. The bits of a fold are 0 if these rows are beyond a dead edge, else 1.
    below: u32,
    /// The number of rows of the last fold.
    end: i32,
}

impl Dead {
    /// The masks for a board without dead edges, which keep all bits.
    pub(in super::super) const NOTHING: Self =
        Self { columns: [u32::MAX; WORDS], above: u32::MAX, below: u32::MAX, end: 0 };

    /// Returns the masks of lane `lane` for tile `tile`.
    #[inline(always)]
    pub(in super::super) fn new(board: &Interleaved, surface: &Surface, tile: u32, lane: u32) -> Self {
        let [columns, rows] = surface.dead();
        // The first column beyond the board, which may also be in the margin of the second-to-last tile.
        let end = board.width - tile * board.inner() + MARGIN;
        let is_first = tile == 0;
        let kept = |word: u32| {
            let bits = end.saturating_sub(word).div_ceil(TILE_WORDS).min(board.bits());
            let of_first = if bits == 0 { 0 } else { u32::MAX >> (CELLS_PER_WORD as u32 - bits) };
            let first = if is_first && word < MARGIN { 1 } else { 0 };
            if columns { (of_first & !first) * board.lowest_bits() } else { u32::MAX }
        };
        let of_fold = u32::MAX >> (CELLS_PER_WORD as u32 - board.bits());
        let last = board.folds() - 1;
        Self {
            columns: core::array::from_fn(|k| kept(lane * WORDS as u32 + k as u32)),
            above: if rows { !of_fold } else { u32::MAX },
            below: if rows { !(of_fold << (last * board.bits())) } else { u32::MAX },
            end: board.rows_of(last) as i32,
        }
    }

    /// Returns the mask for row `row` of the folds. The bits of a fold are 0 if this row is beyond a dead edge, else 1.
    #[inline(always)]
    pub(in super::super) fn folds(&self, row: i32) -> u32 {
        let kept = if row < 0 { self.above } else { u32::MAX };
        if row < self.end { kept } else { kept & self.below }
    }

    /// Returns the masks of the pipeline's stages for the next row: `entering`, followed by all masks of `last` except
    /// the last one.
    #[inline(always)]
    pub(in super::super) fn after<const DEPTH: usize>(last: [u32; DEPTH], entering: u32) -> [u32; DEPTH] {
        core::array::from_fn(|i| if i == 0 { entering } else { last[i - 1] })
    }

    /// Returns `words` with all bits beyond a dead edge cleared. `folds` must be the result of [`folds`](Self::folds)
    /// for the row.
    #[inline(always)]
    pub(in super::super) fn kept(&self, words: Words, folds: u32) -> Words {
        core::array::from_fn(|k| lop3::<ALL>(words[k], self.columns[k], folds))
    }
}
