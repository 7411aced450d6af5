//! A window in shared memory.
//!
//! A lane has the same rows there as in its registers ([`window`](super::window)), and accesses no other lane's rows.
//! No memory access therefore needs to be ordered.
//!
//! Everything that a soup needs only now and then works on this copy, and not on the registers. The loops over its rows
//! are not unrolled, so that the kernel's code stays small, and the rows occupy no registers meanwhile.

use core::ops::Range;

use cuda_std::{Shared, opaque, unroll, warp};

use super::super::interleaved::logic::{WORDS, Words};
use super::plain::Plain;
use super::window::{Place, SIDE_PER_LANE};
use super::{SHIFT, SOUP_SIDE, TICK};

/// A window in shared memory, with the bits in the same order as in [`window`](super::window).
#[derive(Clone, Copy)]
pub(super) struct Stored<const ACROSS: usize, const ROWS: usize> {
    words: Shared<u32>,
    rows: Shared<Words>,
}

/// Returns `bits` with `stride - 1` zeros after each bit. `stride` is 4 or 8, and `bits` has `32 / stride` bits.
#[inline(always)]
fn spread(bits: u32, stride: usize) -> u32 {
    if stride == 4 {
        let bits = (bits | bits << 12) & 0x000f_000f;
        let bits = (bits | bits << 6) & 0x0303_0303;
        (bits | bits << 3) & 0x1111_1111
    } else {
        bits.wrapping_mul(0x0020_4081) & 0x0101_0101
    }
}

/// Returns every `stride`-th bit of `bits`, from the lowest on. `stride` is 4 or 8.
#[inline(always)]
fn gather(bits: u32, stride: usize) -> u32 {
    if stride == 4 {
        let bits = bits & 0x1111_1111;
        let bits = (bits | bits >> 3) & 0x0303_0303;
        let bits = (bits | bits >> 6) & 0x000f_000f;
        (bits | bits >> 12) & 0xff
    } else {
        (bits & 0x0101_0101).wrapping_mul(0x0102_0408) >> 24 & 0xf
    }
}

impl<const ACROSS: usize, const ROWS: usize> Stored<ACROSS, ROWS> {
    /// The number of words of a window.
    pub(super) const LEN: usize = ROWS * WORDS * warp::SIZE as usize;
    /// The number of columns, and of rows.
    const SIDE: u32 = (SIDE_PER_LANE * ACROSS) as u32;
    /// The distance in columns between two bits of a word.
    const STRIDE: usize = WORDS * ACROSS;

    /// Returns the window in `words`, of which there must be [`LEN`](Self::LEN).
    #[inline(always)]
    pub(super) fn new(words: Shared<u32>) -> Self {
        Self { words, rows: words.cast() }
    }

    /// Returns the numbers of a lane's rows. The compiler does not unroll a loop over them.
    #[inline(always)]
    pub(super) fn rows() -> Range<usize> {
        0..opaque(ROWS)
    }

    /// Returns the index of the lane's row `row`.
    #[inline(always)]
    fn index(row: usize) -> usize {
        // The remainder is `row`. It costs less than the check of an index that the compiler does not know.
        row % ROWS * warp::SIZE as usize + warp::lane_id() as usize
    }

    /// Returns the lane's row `row`.
    #[inline(always)]
    pub(super) fn row(self, row: usize) -> Words {
        self.rows.load(Self::index(row))
    }

    /// Replaces the lane's row `row`.
    #[inline(always)]
    pub(super) fn set_row(self, row: usize, words: Words) {
        self.rows.store(Self::index(row), words);
    }

    /// Returns the window.
    #[inline(always)]
    pub(super) fn load(self) -> [Words; ROWS] {
        let mut cells = [[0; WORDS]; ROWS];
        unroll!(I in ROWS => {
            cells[I] = self.row(I);
        });
        cells
    }

    /// Replaces the window by `cells`.
    #[inline(always)]
    pub(super) fn store(self, cells: &[Words; ROWS]) {
        unroll!(I in ROWS => {
            self.set_row(I, cells[I]);
        });
    }

    /// Replaces the window by one with a soup in its middle. Lane *i* has `row` *i* of the soup.
    #[inline(always)]
    pub(super) fn begin(self, row: u32, place: &Place) {
        let first = Self::SIDE / 2 - SOUP_SIDE / 2;
        for index in Self::rows() {
            let in_soup = (place.first_row + index as u32).wrapping_sub(first);
            let bits = warp::shuffle_idx(warp::FULL_MASK, row, in_soup % SOUP_SIDE);
            let bits = if in_soup < SOUP_SIDE { bits >> (WORDS as u32 * place.half) } else { 0 };
            let mut words = [0; WORDS];
            unroll!(K in WORDS => {
                words[K] = gather(bits >> K, Self::STRIDE) << (first as usize / Self::STRIDE);
            });
            self.set_row(index, words);
        }
    }

    /// Kills all cells in columns `left..=right` of rows `top..=bottom`.
    #[inline(always)]
    pub(super) fn clear(self, place: &Place, [left, top, right, bottom]: [i32; 4]) {
        let stride = Self::STRIDE as i32;
        let mut masks = [0; WORDS];
        // `opaque`, so that the columns of the words do not stay in registers.
        let [left, right] = [left, right].map(|side| opaque(side - WORDS as i32 * place.half as i32));
        unroll!(K in WORDS => {
            // The bits `i` with left ≤ stride · i + K ≤ right.
            let first = (left - K as i32 + stride - 1).max(0) / stride;
            let end = (right - K as i32 + stride).max(0) / stride;
            let upto = |end: i32| if end >= 32 { u32::MAX } else { (1 << end) - 1 };
            masks[K] = upto(end) & !upto(first);
        });
        for index in Self::rows() {
            let y = (place.first_row + index as u32) as i32;
            if y >= top && y <= bottom {
                let mut words = self.row(index);
                unroll!(K in WORDS => {
                    words[K] &= !masks[K];
                });
                self.set_row(index, words);
            }
        }
    }

    /// Moves all cells by [`SHIFT`] columns and rows in the direction `x`, `y`, each −1, 0 or 1. Returns false, and
    /// moves nothing, if a cell would come within [`TICK`] cells of the edge ahead or beyond it.
    #[inline(always)]
    pub(super) fn move_cells(self, place: &Place, [x, y]: [i32; 2]) -> bool {
        let (stride, rows, ahead) = (Self::STRIDE as u32, ROWS as u32, SHIFT + TICK);
        let bits = ahead.div_ceil(stride);
        let columns = if x > 0 { !(u32::MAX >> bits) } else { 0 } | if x < 0 { (1 << bits) - 1 } else { 0 };
        let is_ahead = y > 0 && place.first_row + rows + ahead > Self::SIDE || y < 0 && place.first_row < ahead;
        let mask = if is_ahead { u32::MAX } else { columns };
        let mut any = 0;
        for index in Self::rows() {
            any |= self.row(index).iter().fold(0, |any, word| any | word) & mask;
        }
        if warp::any(warp::FULL_MASK, any != 0) {
            return false;
        }
        let from = warp::lane_id().wrapping_add_signed(-y * (SHIFT / rows * ACROSS as u32) as i32) % warp::SIZE;
        let (right, left) = (if x > 0 { SHIFT / stride } else { 0 }, if x < 0 { SHIFT / stride } else { 0 });
        for index in Self::rows() {
            let words = warp::shuffle_idx(warp::FULL_MASK, self.row(index), from);
            self.set_row(index, words.map(|word| word << right >> left));
        }
        true
    }

    /// Writes the window to the memory of `to`, which may be the same, as a [`Plain`] window.
    #[inline(always)]
    pub(super) fn write_plain(self, place: &Place, to: Self) -> Plain<ACROSS, ROWS> {
        let (half, plain) = (place.half as usize, Plain::new(to.words));
        for index in Self::rows() {
            let words = self.row(index);
            // Returns this lane's cells of word `q`.
            let part = |q: usize| {
                let mut word = 0;
                unroll!(K in WORDS => {
                    let bits = words[K] >> (q * 32 / Self::STRIDE) & ((1 << (32 / Self::STRIDE)) - 1);
                    word |= spread(bits, Self::STRIDE) << K;
                });
                word << (WORDS * half)
            };
            for word in 0..opaque(WORDS) {
                let mut cells = part(word * ACROSS + half);
                if ACROSS > 1 {
                    cells |= warp::shuffle_xor(warp::FULL_MASK, part(word * ACROSS + 1 - half), 1);
                }
                plain.set_word(index, word, cells);
            }
        }
        plain
    }
}
