//! A window in shared memory in words of 32 columns, in which objects are found.

use cuda_std::{Shared, unroll, warp};

use super::super::interleaved::logic::WORDS;
use super::stored::Stored;
use super::window::SIDE_PER_LANE;

/// A window in words of 32 columns: bit *i* of word *q* of a row is column `32 · q + i`. A lane has the
/// words of its rows whose number is that of the lane among the lanes that share a row, modulo `ACROSS`.
#[derive(Clone, Copy)]
pub(super) struct Plain<const ACROSS: usize, const ROWS: usize>(Shared<u32>);

impl<const ACROSS: usize, const ROWS: usize> Plain<ACROSS, ROWS> {
    /// The number of columns, and of rows.
    pub(super) const SIDE: i32 = (SIDE_PER_LANE * ACROSS) as i32;
    /// The number of words of a row.
    const ROW_WORDS: i32 = Self::SIDE / 32;

    /// Returns the window in `words`.
    #[inline(always)]
    pub(super) fn new(words: Shared<u32>) -> Self {
        Self(words)
    }

    /// Returns the index of the lane's word `word` of its row `row`.
    #[inline(always)]
    fn index(row: usize, word: usize) -> usize {
        // The remainders are `row` and `word`, and cost less than a check.
        (row % ROWS * warp::SIZE as usize + warp::lane_id() as usize) * WORDS + word % WORDS
    }

    /// Returns the lane's word `word` of its row `row`.
    #[inline(always)]
    fn word(self, row: usize, word: usize) -> u32 {
        self.0.load(Self::index(row, word))
    }

    /// Replaces the lane's word `word` of its row `row`.
    #[inline(always)]
    pub(super) fn set_word(self, row: usize, word: usize, cells: u32) {
        self.0.store(Self::index(row, word), cells);
    }

    /// Returns words `q` and `q + 1` of row `y`. All may be outside of the window, where all cells are dead. All lanes
    /// must call this function with the same `q`.
    #[inline(always)]
    pub(super) fn load_pair(self, y: i32, q: i32) -> [u32; 2] {
        let (across, is_inside, y, mut found) = (ACROSS as u32, y >= 0 && y < Self::SIDE, y as u32, [0; 2]);
        for row in Stored::<ACROSS, ROWS>::rows() {
            unroll!(I in 2 => {
                let q = q + I as i32;
                let word = self.word(row, q as usize / ACROSS);
                let owner = y / ROWS as u32 * across + q as u32 % across;
                let word = warp::shuffle_idx(warp::FULL_MASK, word, owner % warp::SIZE);
                if is_inside && y % ROWS as u32 == row as u32 && Self::has_word(q) {
                    found[I] = word;
                }
            });
        }
        found
    }

    /// Kills `cells` of words `q` and `q + 1` of row `top` and the 31 rows below it. Lane *i* has the cells of row
    /// `top + i`, which are dead outside of the window. All lanes must call this function with the same `top` and `q`.
    #[inline(always)]
    pub(super) fn remove_pair(self, top: i32, q: i32, cells: [u32; 2]) {
        let lane = warp::lane_id() as usize;
        for row in Stored::<ACROSS, ROWS>::rows() {
            let from = (lane / ACROSS * ROWS + row) as i32 - top;
            unroll!(I in 2 => {
                let q = q + I as i32;
                let removed = warp::shuffle_idx(warp::FULL_MASK, cells[I], from as u32 % warp::SIZE);
                let is_owner = Self::has_word(q) && lane % ACROSS == q as usize % ACROSS;
                if is_owner && from >= 0 && from < warp::SIZE as i32 {
                    let word = q as usize / ACROSS;
                    self.set_word(row, word, self.word(row, word) & !removed);
                }
            });
        }
    }

    /// Returns true if rows have a word `q`.
    #[inline(always)]
    fn has_word(q: i32) -> bool {
        q >= 0 && q < Self::ROW_WORDS
    }
}

/// A search for live cells. Each lane searches its own words, row by row.
pub(super) struct Search<const ACROSS: usize, const ROWS: usize> {
    plain: Plain<ACROSS, ROWS>,
    next: usize,
}

impl<const ACROSS: usize, const ROWS: usize> Search<ACROSS, ROWS> {
    #[inline(always)]
    pub(super) fn new(plain: Plain<ACROSS, ROWS>) -> Self {
        Self { plain, next: 0 }
    }

    /// Returns the column and row of a live cell within `depth` cells of an edge, in the first row that has one.
    /// Removed cells must be dead.
    #[inline(always)]
    pub(super) fn next(&mut self, depth: i32) -> Option<[u32; 2]> {
        let (lane, side) = (warp::lane_id() as usize, Plain::<ACROSS, ROWS>::SIDE);
        let (mut x, mut y) = (0, u32::MAX);
        while self.next < ROWS * WORDS {
            let (row, word) = (self.next / WORDS, self.next % WORDS);
            let (at, q) = ((lane / ACROSS * ROWS + row) as i32, word * ACROSS + lane % ACROSS);
            let mask = if at < depth || at >= side - depth {
                u32::MAX
            } else {
                let left = if q == 0 { (1_u32 << depth) - 1 } else { 0 };
                let right = if q + 1 == WORDS * ACROSS { !(u32::MAX >> depth) } else { 0 };
                left | right
            };
            let found = self.plain.word(row, word) & mask;
            if found != 0 {
                (x, y) = (q as u32 * 32 + found.trailing_zeros(), at as u32);
                break;
            }
            self.next += 1;
        }
        let first = warp::reduce_min(warp::FULL_MASK, y);
        if first == u32::MAX {
            return None;
        }
        let lanes = warp::ballot(warp::FULL_MASK, y == first);
        Some([warp::shuffle_idx(warp::FULL_MASK, x, lanes.trailing_zeros()), first])
    }
}
