//! The layout of boards for the fastest kernels, with interleaved bits: the left and right neighbours of a word's cells
//! are in the words before and after the word.
//!
//! A board is divided along x into tiles of [`TILE_WORDS`] words. Its rows are divided into
//! [`folds`](Interleaved::folds): parts of nearly equal height that share the same words. Each fold owns 32 / folds
//! bits of every word. In word *k* of a tile's row, bit *j* of a fold is the cell in column 128·*j* + *k* of the tile.
//! The left and right neighbours of a word's cells are therefore in the words before and after it. Only the first and
//! the last word of a row need shifts. A high and narrow board has many folds, and a warp then advances one row of each
//! fold at once.
//!
//! The outer [`MARGIN`] columns on each side of a tile are copies of columns of the neighbouring tiles. A kernel loads
//! them from the neighbouring tile in whole vectors. The margins beyond the edges of the board, and [`MARGIN`] rows
//! above and below each fold, are in the board's memory. [`life_edges()`](edges::life_edges()) writes them before each
//! launch if the board is a torus without a shift. For other topologies, [`life_edges_of()`](edges::life_edges_of())
//! writes them according to a [`Surface`].
//!
//! Cells beyond a dead edge must stay dead in all generations of a launch; `life_streaming_plane` ensures this. At a
//! corner where fewer than four quarters of the board meet, the margins are wrong after one generation.
//! [`life_corners()`](corners::life_corners()) corrects the cells near such a corner.
//!
//! The rows of a tile are consecutive in memory, so the distance between two rows is constant.
//!
//! # Design
//!
//! In this layout, a generation needs little more than eight operations with three inputs per word. With more folds,
//! tiles have fewer columns, so the last tile of a row has fewer unused columns. On the host, `life::simulation`
//! selects the numbers of folds and strips.

mod convert;
mod corners;
mod dead;
mod edges;
mod hash;
pub(super) mod logic;
mod population;
mod surface;

pub use convert::{life_deinterleave, life_interleave, life_interleave_rows, life_put_rows, life_take_rows};
pub use corners::{CORNERS_SIDE, CORNERS_THREADS, life_corners};
pub(super) use dead::Dead;
pub use edges::{life_edges, life_edges_of};
pub use hash::life_hash_interleaved;
pub use population::{life_changes_interleaved, life_population_interleaved};
pub use surface::Surface;

use cuda_std::{DeviceCopy, GlobalMut};

use super::CELLS_PER_WORD;

/// The number of words in a row of a tile: four words, one vector, for each lane of a warp.
pub const TILE_WORDS: u32 = 128;

/// The width of a margin. This many columns on each side of a tile, and rows above and below a fold, are copies of
/// other cells.
pub const MARGIN: u32 = 8;

/// The number of rows that a tile has in memory above the rows of the folds.
pub(super) const ROWS_ABOVE: u32 = MARGIN;
/// The number of rows that a tile has in memory below the rows of the folds. Strips may end below the last row.
const ROWS_BELOW: u32 = 16;

/// The largest width and the largest height of a board, in cells.
pub const MAX_CELLS_ALONG: usize = 1 << 30;

/// The layout of an interleaved board in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, DeviceCopy)]
#[repr(C)]
pub struct Interleaved {
    width: u32,
    height: u32,
    /// The base-2 logarithm of the number of folds.
    fold_bits: u32,
    /// The number of tiles along x.
    tiles: u32,
    /// The number of rows of the highest fold. The other folds have as many rows or one fewer.
    rows: u32,
}

impl Interleaved {
    /// Returns the layout of a board of `width` × `height` cells in `1 << fold_bits` folds.
    ///
    /// Returns `None` if `width` or `height` is 0 or above [`MAX_CELLS_ALONG`], or if there would be more folds than
    /// rows, or more than 32 folds.
    pub const fn new(width: usize, height: usize, fold_bits: u32) -> Option<Self> {
        if width == 0 || height == 0 || width > MAX_CELLS_ALONG || height > MAX_CELLS_ALONG {
            return None;
        }
        if fold_bits > 5 || height < 1 << fold_bits {
            return None;
        }
        let (width, height) = (width as u32, height as u32);
        let rows = height.div_ceil(1 << fold_bits);
        let empty = Self { width, height, fold_bits, tiles: 0, rows };
        Some(Self { tiles: width.div_ceil(empty.inner()), ..empty })
    }

    /// Returns the number of folds.
    pub const fn folds(&self) -> u32 {
        1 << self.fold_bits
    }

    /// Returns the number of bits of a word that each fold owns.
    pub const fn bits(&self) -> u32 {
        CELLS_PER_WORD as u32 >> self.fold_bits
    }

    /// Returns the number of columns of a tile without its margins. The last tile may have fewer.
    pub const fn inner(&self) -> u32 {
        TILE_WORDS * self.bits() - 2 * MARGIN
    }

    /// Returns the number of tiles along x.
    pub const fn tiles(&self) -> u32 {
        self.tiles
    }

    /// Returns the number of rows of the board.
    pub const fn height(&self) -> u32 {
        self.height
    }

    /// Returns the number of rows of the highest fold.
    pub const fn rows(&self) -> u32 {
        self.rows
    }

    /// Returns the number of rows of a tile in memory.
    pub(super) const fn pitch(&self) -> u32 {
        ROWS_ABOVE + self.rows + ROWS_BELOW
    }

    /// Returns the number of words of the board in memory.
    pub const fn words(&self) -> usize {
        self.tiles as usize * self.pitch() as usize * TILE_WORDS as usize
    }

    /// Returns a word in which the lowest bit of each fold is set.
    pub(super) const fn lowest_bits(&self) -> u32 {
        u32::MAX / (u32::MAX >> (CELLS_PER_WORD as u32 - self.bits()))
    }

    /// Returns the index of a word in memory. `row` counts from the first row of the folds and may be in their margins.
    #[inline(always)]
    fn index(&self, tile: u32, row: i32, word: u32) -> usize {
        let row = tile as usize * self.pitch() as usize + (row + ROWS_ABOVE as i32) as usize;
        row * TILE_WORDS as usize + word as usize
    }

    /// Returns the number on the board of the first row of fold `fold`.
    #[inline(always)]
    fn first_row(&self, fold: u32) -> u32 {
        ((u64::from(fold) * u64::from(self.height)) >> self.fold_bits) as u32
    }

    /// Returns the number of rows of a fold.
    #[inline(always)]
    fn rows_of(&self, fold: u32) -> u32 {
        self.first_row(fold + 1) - self.first_row(fold)
    }

    /// Returns the fold that contains row `y` of the board, and the row's number in that fold.
    #[inline(always)]
    fn fold_of(&self, y: u32) -> (u32, i32) {
        // No fold has more than `rows` rows, so the row is in this fold or in a later one.
        let mut fold = y / self.rows;
        while self.first_row(fold + 1) <= y {
            fold += 1;
        }
        (fold, (y - self.first_row(fold)) as i32)
    }

    /// Returns the tile that contains column `x` of the board, and the column's number in that tile.
    #[inline(always)]
    fn tile_of(&self, x: u32) -> (u32, u32) {
        let tile = x / self.inner();
        (tile, x - tile * self.inner() + MARGIN)
    }

    /// Returns the position in memory of the cell at column `x` and row `y` of the board: the index of the word, and
    /// the bit.
    #[inline(always)]
    fn place(&self, x: u32, y: u32) -> (usize, u32) {
        let ((tile, column), (fold, row)) = (self.tile_of(x), self.fold_of(y));
        (self.index(tile, row, column % TILE_WORDS), fold * self.bits() + column / TILE_WORDS)
    }

    /// Returns true if the cell at column `x` and row `y` of the board is alive.
    #[inline(always)]
    fn lives(&self, cells: &GlobalMut<u32>, x: u32, y: u32) -> bool {
        let (index, bit) = self.place(x, y);
        cells.load_relaxed(index) >> bit & 1 != 0
    }

    /// Returns the number, in the tile, of the first column after the columns that the tile owns. The tile's right
    /// margin begins there.
    #[inline(always)]
    pub(super) const fn end_of(&self, tile: u32) -> u32 {
        MARGIN + if tile + 1 == self.tiles { self.width - tile * self.inner() } else { self.inner() }
    }

    /// Returns a mask of the bits of word `word` whose columns the tile owns, for a fold that starts at bit 0.
    #[inline(always)]
    fn own_columns(&self, tile: u32, word: u32) -> u32 {
        let end = self.end_of(tile);
        if word >= end {
            return 0;
        }
        let bits = (end - word).div_ceil(TILE_WORDS);
        let margin = u32::from(word < MARGIN);
        u32::MAX >> (CELLS_PER_WORD as u32 - bits) & !margin
    }

    /// Returns a mask of the bits of a word that are cells of the board. `row` counts from the first row of the folds
    /// and may be in their margins.
    #[inline(always)]
    fn own_cells(&self, tile: u32, row: i32, word: u32) -> u32 {
        let own = self.own_columns(tile, word);
        let mut cells = 0;
        for fold in 0..self.folds() {
            if row >= 0 && (row as u32) < self.rows_of(fold) {
                cells |= own << (fold * self.bits());
            }
        }
        cells
    }

    /// Returns the tile, the row, and the position in the row of the word at index `index` in memory.
    #[inline(always)]
    fn place_of(&self, index: usize) -> (u32, i32, u32) {
        let (row, word) = (index / TILE_WORDS as usize, index % TILE_WORDS as usize);
        let pitch = self.pitch() as usize;
        ((row / pitch) as u32, (row % pitch) as i32 - ROWS_ABOVE as i32, word as u32)
    }
}
