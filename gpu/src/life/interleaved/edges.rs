//! The margins beyond a board's edges: written into the board's own memory before each launch that reads them.
//!
//! # Design
//!
//! No other kernel knows what lies beyond a board's edges. The board decides who provides the margins:
//!
//! - Where a torus continues in whole vectors and in whole rows of the next fold (`has_whole_margins`),
//!   `life_streaming_torus` reads the margins from there and nothing is written first.
//! - `life_edges` writes the margins of all other tori without a shift before each launch.
//! - `life_edges_of` does so for all other bounded grids. It takes the topology ([`Surface`]) and looks cells up one by
//!   one.
//!
//! Margins that are rotated or mirrored copies are right for all generations of a launch, because rules that count
//! neighbours have no direction.

use cuda_std::{GlobalMut, grid, kernel, thread};

use super::super::CELLS_PER_WORD;
use super::super::streaming::ROWS_TOGETHER;
use super::super::tuning::{DEEPEST, STREAMING_ROWS};
use super::logic::WORDS;
use super::surface::{Surface, on_circle};
use super::{Interleaved, MARGIN, TILE_WORDS};

/// Rows of a tile of which every word is written: above the folds, below them, and the last row, which some folds do not have.
const MARGIN_ROWS: u32 = 2 * MARGIN + 1;

/// Words of the other rows that are written: the first of the first tile, and those after the last cell in the last.
const MARGIN_WORDS: u32 = 2 * MARGIN;

impl Interleaved {
    /// Whether what [`life_streaming_torus()`](super::super::life_streaming_torus()) takes from beyond the edges are whole vectors of other words than those on the other
    /// side, and whole rows of the next fold, no further away than its height; and strips can end with the last row.
    pub const fn has_whole_margins(&self) -> bool {
        let (last, height) = (self.end_of(self.tiles() - 1), self.height());
        let is_apart = (last + WORDS as u32) % TILE_WORDS > MARGIN;
        let is_even = height.is_multiple_of(self.folds() * ROWS_TOGETHER as u32);
        let is_high = self.rows() as usize >= DEEPEST + STREAMING_ROWS;
        last % WORDS as u32 == 0 && last >= 2 * MARGIN && is_apart && is_even && is_high
    }
}

impl Interleaved {
    /// Words that [`life_edges()`] writes.
    pub const fn edge_words(&self) -> usize {
        self.tiles as usize * (MARGIN_ROWS * TILE_WORDS) as usize + (self.rows as usize - 1) * MARGIN_WORDS as usize
    }

    /// The tile, row and word of the edge word with number `number`.
    #[inline(always)]
    fn edge_word(&self, number: usize) -> (u32, i32, u32) {
        let words = TILE_WORDS as usize;
        let (line, word) = (number / words, (number % words) as u32);
        let (tile, row) = (line / MARGIN_ROWS as usize, (line % MARGIN_ROWS as usize) as i32);
        if tile < self.tiles as usize {
            let row = row - MARGIN as i32;
            // Above the first, or from the last on.
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

    /// The word that column `x` of the board is in, as the torus goes on beyond its edges, in row `row` of the folds, so that the
    /// lowest bit of each fold's is that column.
    #[inline(always)]
    fn column(&self, cells: &GlobalMut<u32>, row: i32, x: i32) -> u32 {
        let (tile, column) = self.tile_of(on_circle(x, self.width));
        cells.load_relaxed(self.index(tile, row, column % TILE_WORDS)) >> (column / TILE_WORDS)
    }
}

/// The columns beyond the board's edges that are in a word of a tile's row, at most one on each side.
struct Beyond {
    /// As the columns of the board would be counted, and the bit of a fold's where it is.
    left: Option<i32>,
    right: Option<(i32, u32)>,
}

impl Beyond {
    #[inline(always)]
    fn new(board: &Interleaved, tile: u32, word: u32) -> Self {
        let end = board.end_of(tile);
        // The column after the tile's last whose word this is.
        let after = end + (word + TILE_WORDS - end % TILE_WORDS) % TILE_WORDS;
        let x = (tile * board.inner() + after - MARGIN) as i32;
        Self {
            left: (tile == 0 && word < MARGIN).then_some(word as i32 - MARGIN as i32),
            right: (tile + 1 == board.tiles && after < end + MARGIN).then_some((x, after / TILE_WORDS)),
        }
    }
}

/// Writes what lies beyond the edges of a torus without a shift into the margins of `cells`. A one-dimensional grid of blocks of up to 128 threads.
///
/// A word of a margin also holds cells, and others read it for those: all accesses are relaxed atomics, by which a cell is the same
/// before and after.
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
            // A row of all folds.
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
    /// Whether the cell that is seen at column `x` and row `y` lives, which may be beyond the board's edges.
    #[inline(always)]
    fn seen(&self, cells: &GlobalMut<u32>, surface: &Surface, x: i32, y: i32) -> bool {
        surface.source((self.width, self.height), x, y).is_some_and(|(x, y)| self.lives(cells, x, y))
    }
}

/// As [`life_edges()`], of a board whose edges are joined as `surface` says. Cells beyond them are looked up one by one.
// Without `min_blocks` the assembler takes fewer registers than it needs on some architectures, and spills.
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
        // Cells of a row of all folds stay as they are; in other rows there is nothing to keep.
        let is_inside = row >= 0 && row + 1 < board.rows as i32;
        let mut word = if is_inside { cells.load_relaxed(index) } else { 0 };
        let own = board.own_columns(tile, k);
        let beyond = u32::from(left.is_some()) | right.map_or(0, |(_, bit)| 1 << bit);
        let first = (tile * board.inner() + k) as i32 - MARGIN as i32;
        for fold in 0..board.folds() {
            let y = board.first_row(fold) as i32 + row;
            // The bits of the fold as if it were the first, and those of them that are sought beyond the edges.
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
