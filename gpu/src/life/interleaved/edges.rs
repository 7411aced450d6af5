//! The margins beyond the edges of a board. A kernel writes these margins to the board's memory before each launch that
//! reads them.
//!
//! # Design
//!
//! Only the code here knows which cells are beyond the edges of a board. There are three cases:
//!
//! - If the margins of a torus are whole vectors and whole rows of the next fold (`has_whole_margins`),
//!   `life_streaming_torus` loads them from the opposite side, and no kernel writes them.
//! - For all other tori whose edges are joined without a shift, `life_edges` writes the margins before each launch.
//! - For all other boards, `life_edges_of` writes the margins before each launch. It looks up the cells one by one
//!   according to the topology ([`Surface`]).
//!
//! Some margins are rotated or mirrored copies of cells. Such margins stay correct in all generations of a launch,
//! because a rule that counts neighbours treats all directions alike.

use cuda_std::{GlobalMut, grid, kernel, thread};

use super::super::CELLS_PER_WORD;
use super::super::streaming::ROWS_TOGETHER;
use super::super::tuning::{DEEPEST, STREAMING_ROWS};
use super::logic::WORDS;
use super::surface::{Surface, on_circle};
use super::{Interleaved, MARGIN, TILE_WORDS};

/// The number of rows of a tile that [`life_edges()`] writes completely: the rows above and below the folds, and the
/// last row, which some folds do not have.
const MARGIN_ROWS: u32 = 2 * MARGIN + 1;

/// The number of words that [`life_edges()`] writes in every other row: the first words of the first tile, and the
/// words after the last cell in the last tile.
const MARGIN_WORDS: u32 = 2 * MARGIN;

impl Interleaved {
    /// Returns true if [`life_streaming_torus()`](super::super::life_streaming_torus()) can load its margins from the
    /// opposite side of the board. For this, the margins must be whole vectors that share no word with the other side
    /// of the tile. All folds must have the same height, a multiple of `ROWS_TOGETHER` rows. Each fold must have at
    /// least as many rows as a strip loads above and below itself.
    pub const fn has_whole_margins(&self) -> bool {
        let (last, height) = (self.end_of(self.tiles() - 1), self.height());
        let is_apart = (last + WORDS as u32) % TILE_WORDS > MARGIN;
        let is_even = height.is_multiple_of(self.folds() * ROWS_TOGETHER as u32);
        let is_high = self.rows() as usize >= DEEPEST + STREAMING_ROWS;
        last % WORDS as u32 == 0 && last >= 2 * MARGIN && is_apart && is_even && is_high
    }
}

impl Interleaved {
    /// Returns the number of words that [`life_edges()`] writes.
    pub const fn edge_words(&self) -> usize {
        self.tiles as usize * (MARGIN_ROWS * TILE_WORDS) as usize + (self.rows as usize - 1) * MARGIN_WORDS as usize
    }

    /// Returns the tile, row and word of word number `number` among the words that [`life_edges()`] writes.
    #[inline(always)]
    fn edge_word(&self, number: usize) -> (u32, i32, u32) {
        let words = TILE_WORDS as usize;
        let (line, word) = (number / words, (number % words) as u32);
        let (tile, row) = (line / MARGIN_ROWS as usize, (line % MARGIN_ROWS as usize) as i32);
        if tile < self.tiles as usize {
            let row = row - MARGIN as i32;
            // The completely written rows are above the first row of the folds, or start at the last row.
            return (tile as u32, if row < 0 { row } else { row + self.rows as i32 - 1 }, word);
        }
        let number = number - self.tiles as usize * MARGIN_ROWS as usize * words;
        let (row, word) = (number / MARGIN_WORDS as usize, (number % MARGIN_WORDS as usize) as u32);
        let last = self.tiles - 1;
        match word.checked_sub(MARGIN) {
            None => (0, row as i32, word),
            Some(after) => (last, row as i32, (self.end_of(last) + after) % TILE_WORDS),
        }
    }

    /// Returns the word that contains column `x` of the board in row `row` of the folds. The word is shifted so that
    /// this column becomes the lowest bit of each fold. Columns beyond the edges wrap around the torus.
    #[inline(always)]
    fn column(&self, cells: &GlobalMut<u32>, row: i32, x: i32) -> u32 {
        let (tile, column) = self.tile_of(on_circle(x, self.width));
        cells.load_relaxed(self.index(tile, row, column % TILE_WORDS)) >> (column / TILE_WORDS)
    }
}

/// The columns of one word that are beyond the board's left or right edge, at most one on each side.
struct Beyond {
    /// The column beyond the left edge: a negative number.
    left: Option<i32>,
    /// The column beyond the right edge, and its bit within a fold.
    right: Option<(i32, u32)>,
}

impl Beyond {
    #[inline(always)]
    fn new(board: &Interleaved, tile: u32, word: u32) -> Self {
        let end = board.end_of(tile);
        // The first column in this word that is beyond the last column of the tile.
        let after = end + (word + TILE_WORDS - end % TILE_WORDS) % TILE_WORDS;
        let x = (tile * board.inner() + after - MARGIN) as i32;
        Self {
            left: (tile == 0 && word < MARGIN).then_some(word as i32 - MARGIN as i32),
            right: (tile + 1 == board.tiles && after < end + MARGIN).then_some((x, after / TILE_WORDS)),
        }
    }
}

/// Writes to `cells` the margins of a torus whose edges are joined without a shift. Launch a one-dimensional grid with
/// up to 128 threads per block.
///
/// A word of a margin may also contain cells that other threads read. All accesses are therefore relaxed atomics, and a
/// store does not change these cells.
#[kernel(max_threads = 128)]
pub fn life_edges(cells: GlobalMut<u32>, board: Interleaved) {
    grid::launch_dependents();
    assert!(cells.len() == board.words());
    grid::wait_for_dependencies();
    let (bits, lowest) = (board.bits(), board.lowest_bits());
    for i in thread::grid_stride(board.edge_words()) {
        let (tile, row, k) = board.edge_word(i);
        let Beyond { left, right } = Beyond::new(&board, tile, k);
        let index = board.index(tile, row, k);
        if row >= 0 && row + 1 < board.rows as i32 {
            // This row exists in all folds, so the word contains cells.
            let mut word = cells.load_relaxed(index);
            if let Some(x) = left {
                word = word & !lowest | board.column(&cells, row, x) & lowest;
            }
            if let Some((x, bit)) = right {
                word = word & !(lowest << bit) | (board.column(&cells, row, x) & lowest) << bit;
            }
            cells.store_relaxed(index, word);
            continue;
        }
        let (own, mut word) = (board.own_columns(tile, k), 0);
        for fold in 0..board.folds() {
            let (from, row) = if row >= 0 && (row as u32) < board.rows_of(fold) {
                (fold, row)
            } else {
                board.fold_of(on_circle(board.first_row(fold) as i32 + row, board.height))
            };
            let mut part = cells.load_relaxed(board.index(tile, row, k)) >> (from * bits) & own;
            if let Some(x) = left {
                part |= board.column(&cells, row, x) >> (from * bits) & 1;
            }
            if let Some((x, bit)) = right {
                part |= (board.column(&cells, row, x) >> (from * bits) & 1) << bit;
            }
            word |= part << (fold * bits);
        }
        cells.store_relaxed(index, word);
    }
}

impl Interleaved {
    /// Returns true if the cell at column `x` and row `y` is alive. The position may be beyond the board's edges.
    #[inline(always)]
    fn seen(&self, cells: &GlobalMut<u32>, surface: &Surface, x: i32, y: i32) -> bool {
        surface.source((self.width, self.height), x, y).is_some_and(|(x, y)| self.lives(cells, x, y))
    }
}

/// Writes the margins of a board whose edges are joined according to `surface`. This kernel writes the same words as
/// [`life_edges()`], but looks up each cell beyond the edges separately.
// Without `min_blocks`, ptxas uses too few registers on some architectures and spills.
#[kernel(max_threads = 128, min_blocks = 8)]
pub fn life_edges_of(cells: GlobalMut<u32>, board: Interleaved, surface: Surface) {
    grid::launch_dependents();
    assert!(cells.len() == board.words());
    grid::wait_for_dependencies();
    let (bits, height) = (board.bits(), board.height as i32);
    for i in thread::grid_stride(board.edge_words()) {
        let (tile, row, k) = board.edge_word(i);
        let Beyond { left, right } = Beyond::new(&board, tile, k);
        let index = board.index(tile, row, k);
        // Cells must keep their values. Only rows that all folds have contain cells.
        let is_inside = row >= 0 && row + 1 < board.rows as i32;
        let mut word = if is_inside { cells.load_relaxed(index) } else { 0 };
        let own = board.own_columns(tile, k);
        let beyond = u32::from(left.is_some()) | right.map_or(0, |(_, bit)| 1 << bit);
        let first = (tile * board.inner() + k) as i32 - MARGIN as i32;
        for fold in 0..board.folds() {
            let y = board.first_row(fold) as i32 + row;
            // The bits of the fold, shifted to the lowest position, and a mask of the bits that are beyond the edges
            // and must be looked up.
            let (mut part, mut sought) = if is_inside {
                (word >> (fold * bits) & own, beyond)
            } else if (0..height).contains(&y) {
                let (from, row) = board.fold_of(y as u32);
                (cells.load_relaxed(board.index(tile, row, k)) >> (from * bits) & own, beyond)
            } else {
                (0, own | beyond)
            };
            while sought != 0 {
                let bit = sought.trailing_zeros();
                part |= u32::from(board.seen(&cells, &surface, first + (bit * TILE_WORDS) as i32, y)) << bit;
                sought &= sought - 1;
            }
            let fold_bits = u32::MAX >> (CELLS_PER_WORD as u32 - bits) << (fold * bits);
            word = word & !fold_bits | part << (fold * bits);
        }
        cells.store_relaxed(index, word);
    }
}
