//! Conversion between packed words (32 neighbouring cells) and interleaved words, and copies of interleaved rows, with
//! one thread per word.

use cuda_std::{Global, GlobalMut, kernel, thread};

use super::super::CELLS_PER_WORD;
use super::{Interleaved, MARGIN, TILE_WORDS};

/// Converts the packed board `words` to interleaved form in `cells`. Margins and unused bits become 0. Launch a
/// one-dimensional grid with up to 256 threads per block.
#[kernel(max_threads = 256)]
pub fn life_interleave(words: Global<u32>, cells: GlobalMut<u32>, board: Interleaved) {
    assert!(cells.len() == board.words());
    let words_per_row = (board.width as usize).div_ceil(CELLS_PER_WORD);
    for i in thread::grid_stride(cells.len()) {
        let (tile, row, k) = board.place_of(i);
        let (columns, mut word) = (board.own_columns(tile, k), 0);
        for fold in 0..board.folds() {
            if row < 0 || row as u32 >= board.rows_of(fold) {
                continue;
            }
            let start = (board.first_row(fold) as usize + row as usize) * words_per_row;
            for bit in 0..board.bits() {
                if columns >> bit & 1 != 0 {
                    let x = (tile * board.inner() + bit * TILE_WORDS + k - MARGIN) as usize;
                    let from = words.load(start + x / CELLS_PER_WORD);
                    word |= (from >> (x % CELLS_PER_WORD) & 1) << (fold * board.bits() + bit);
                }
            }
        }
        cells.store(i, word);
    }
}

/// Replaces `rows` rows of the interleaved board `cells`, from row `first` on, with the packed rows in `words`. No two
/// of the replaced rows may share words of `cells`. Rows share no words if `rows` is at most 1, if `rows` is less than
/// [`Interleaved::rows`], or if the board has one fold. Launch a one-dimensional grid with up to 256 threads per block.
#[kernel(max_threads = 256)]
pub fn life_interleave_rows(words: Global<u32>, cells: GlobalMut<u32>, board: Interleaved, first: usize, rows: usize) {
    assert!(cells.len() == board.words() && (board.folds() == 1 || rows <= 1 || rows < board.rows() as usize));
    let words_per_row = (board.width as usize).div_ceil(CELLS_PER_WORD);
    let words_in_row = board.tiles() as usize * TILE_WORDS as usize;
    for i in thread::grid_stride(rows * words_in_row) {
        let (y, in_row) = (i / words_in_row, i % words_in_row);
        let (tile, k) = ((in_row / TILE_WORDS as usize) as u32, (in_row % TILE_WORDS as usize) as u32);
        let (fold, row) = board.fold_of((first + y) as u32);
        let (columns, mut part) = (board.own_columns(tile, k), 0);
        for bit in 0..board.bits() {
            if columns >> bit & 1 != 0 {
                let x = (tile * board.inner() + bit * TILE_WORDS + k - MARGIN) as usize;
                let from = words.load(y * words_per_row + x / CELLS_PER_WORD);
                part |= (from >> (x % CELLS_PER_WORD) & 1) << bit;
            }
        }
        let (index, shift) = (board.index(tile, row, k), fold * board.bits());
        cells.store(index, cells.load(index) & !(columns << shift) | part << shift);
    }
}

/// Writes rows of the interleaved board `cells`, from row `first` on, to `words` in packed form. Launch a
/// one-dimensional grid with up to 256 threads per block.
#[kernel(max_threads = 256)]
pub fn life_deinterleave(cells: Global<u32>, words: GlobalMut<u32>, board: Interleaved, first: usize) {
    assert!(cells.len() == board.words());
    let words_per_row = (board.width as usize).div_ceil(CELLS_PER_WORD);
    for i in thread::grid_stride(words.len()) {
        let (y, column) = ((first + i / words_per_row) as u32, (i % words_per_row * CELLS_PER_WORD) as u32);
        let (fold, row) = board.fold_of(y);
        let mut word = 0;
        for bit in 0..(board.width - column).min(CELLS_PER_WORD as u32) {
            let (tile, column) = board.tile_of(column + bit);
            let from = cells.load(board.index(tile, row, column % TILE_WORDS));
            word |= (from >> (fold * board.bits() + column / TILE_WORDS) & 1) << bit;
        }
        words.store(i, word);
    }
}

impl Interleaved {
    /// Returns the number of words that [`life_take_rows()`](super::life_take_rows()) writes per row.
    pub const fn words_in_row(&self) -> usize {
        self.tiles() as usize * TILE_WORDS as usize
    }

    /// Returns the position on the board of word `i` of a copy that starts at row `first`. The result is the index of
    /// the board's word, a mask of the bits of the copy that are cells, and the number of bits by which these cells are
    /// shifted in the board's word.
    #[inline(always)]
    fn in_rows(&self, first: usize, i: usize) -> (usize, u32, u32) {
        let (y, in_row) = (i / self.words_in_row(), i % self.words_in_row());
        let (tile, k) = ((in_row / TILE_WORDS as usize) as u32, (in_row % TILE_WORDS as usize) as u32);
        let (fold, row) = self.fold_of((first + y) as u32);
        (self.index(tile, row, k), self.own_columns(tile, k), fold * self.bits())
    }
}

/// Copies rows of the interleaved board `cells`, from row `first` on, to `words`. The copies stay interleaved, but each
/// row is shifted to the bits of the first fold. [`life_put_rows()`](super::life_put_rows()) can therefore store the
/// copies in another board of the same width and number of folds. Launch a one-dimensional grid with up to 256 threads
/// per block.
#[kernel(max_threads = 256)]
pub fn life_take_rows(cells: Global<u32>, words: GlobalMut<u32>, board: Interleaved, first: usize) {
    assert!(cells.len() == board.words());
    for i in thread::grid_stride(words.len()) {
        let (index, columns, shift) = board.in_rows(first, i);
        words.store(i, cells.load(index) >> shift & columns);
    }
}

/// Replaces rows of the interleaved board `cells`, from row `first` on, with rows that
/// [`life_take_rows()`](super::life_take_rows()) copied. No two of these rows may share words of `cells`; see
/// [`life_interleave_rows()`](super::life_interleave_rows()). Launch a one-dimensional grid with up to 256 threads per
/// block.
#[kernel(max_threads = 256)]
pub fn life_put_rows(words: Global<u32>, cells: GlobalMut<u32>, board: Interleaved, first: usize) {
    let rows = words.len() / board.words_in_row();
    assert!(cells.len() == board.words() && (board.folds() == 1 || rows <= 1 || rows < board.rows() as usize));
    for i in thread::grid_stride(words.len()) {
        let (index, columns, shift) = board.in_rows(first, i);
        cells.store(index, cells.load(index) & !(columns << shift) | words.load(i) << shift);
    }
}
