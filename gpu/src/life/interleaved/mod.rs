//! The layout of the fastest rungs: bits interleaved, so that the neighbours of a word are other words.
//!
//! A board is cut into tiles of [`TILE_WORDS`] words along x, and its rows into [`folds`](Interleaved::folds) parts of
//! (nearly) equal height, the folds, which lie over one another: each has 32 / folds bits of every word. Bit *j* of a fold's
//! in word *k* of a tile's row is column 128·*j* + *k* of the tile. So a word's horizontal neighbours are the words before and
//! after it, and nothing shifts but the first and last word of a row. A board that is high and narrow has many folds, and
//! a warp then works on as many of its rows at once.
//!
//! The outer [`MARGIN`] columns of a tile on each side belong to the tiles beside it. Where there is one, a kernel loads them from it
//! in whole vectors. Those beyond the board's own edges, and [`MARGIN`] rows above and below each fold, are in the
//! board's memory: [`life_edges()`](edges::life_edges()) writes them before each launch, or
//! [`life_edges_of()`](edges::life_edges_of()) where the board is no torus without a shift, by what a [`Surface`] says of what lies
//! beyond an edge. Where that is dead it has to stay so in all generations of a launch (`life_streaming_plane`), and around corners
//! that are no four quarters of a board a margin is wrong after one generation, and [`life_corners()`](corners::life_corners())
//! mends it.
//!
//! In memory a tile's rows lie one after the other, so that the next is a constant apart.
//!
//! # Design
//!
//! Eight three-input operations per word are nearly all that a generation costs in this layout. Folds make tiles
//! narrower, so that less is wasted at the right edge of a board. The plan, `life::simulation`, takes the folds and
//! strips with the fewest rounds of warps.

mod convert;
mod corners;
mod dead;
mod edges;
pub(super) mod logic;
mod population;
mod surface;

pub use convert::{life_deinterleave, life_interleave, life_interleave_rows, life_put_rows, life_take_rows};
pub use corners::{CORNERS_SIDE, CORNERS_THREADS, life_corners};
pub(super) use dead::Dead;
pub use edges::{life_edges, life_edges_of};
pub use population::{life_changes_interleaved, life_population_interleaved};
pub use surface::Surface;

use cuda_std::{DeviceCopy, GlobalMut};

use super::CELLS_PER_WORD;

/// Words of a tile's row: a vector of four for each lane of a warp.
pub const TILE_WORDS: u32 = 128;

/// Columns on each side of a tile, and rows above and below a fold, that are copies of other cells.
pub const MARGIN: u32 = 8;

/// Rows in memory above those of the folds, and below them. Below, strips of rows may end beyond the last one.
pub(super) const ROWS_ABOVE: u32 = MARGIN;
const ROWS_BELOW: u32 = 16;

/// The largest width and height.
pub const MOST_CELLS_ALONG: usize = 1 << 30;

/// How a board lies in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, DeviceCopy)]
#[repr(C)]
pub struct Interleaved {
    width: u32,
    height: u32,
    /// The logarithm of the number of folds.
    fold_bits: u32,
    /// Tiles along x.
    tiles: u32,
    /// Rows of the highest fold. The others have as many or one less.
    rows: u32,
}

impl Interleaved {
    /// A board of `width` × `height` cells in `1 << fold_bits` folds.
    ///
    /// There is none without cells, larger than [`MOST_CELLS_ALONG`], with more folds than rows or than 32.
    pub const fn new(width: usize, height: usize, fold_bits: u32) -> Option<Self> {
        if width == 0 || height == 0 || width > MOST_CELLS_ALONG || height > MOST_CELLS_ALONG {
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

    /// Parts of the board's rows that lie over one another.
    pub const fn folds(&self) -> u32 {
        1 << self.fold_bits
    }

    /// Bits of a word that each fold has.
    pub const fn bits(&self) -> u32 {
        CELLS_PER_WORD as u32 >> self.fold_bits
    }

    /// Columns of a tile that are its own; the last tile may have less.
    pub const fn inner(&self) -> u32 {
        TILE_WORDS * self.bits() - 2 * MARGIN
    }

    /// Tiles along x.
    pub const fn tiles(&self) -> u32 {
        self.tiles
    }

    /// Rows of the board.
    pub const fn height(&self) -> u32 {
        self.height
    }

    /// Rows of the highest fold.
    pub const fn rows(&self) -> u32 {
        self.rows
    }

    /// Rows of a tile in memory.
    pub(super) const fn pitch(&self) -> u32 {
        ROWS_ABOVE + self.rows + ROWS_BELOW
    }

    /// Words of the board in memory.
    pub const fn words(&self) -> usize {
        self.tiles as usize * self.pitch() as usize * TILE_WORDS as usize
    }

    /// A word for each fold whose lowest bit for it is set.
    pub(super) const fn lowest_bits(&self) -> u32 {
        u32::MAX / (u32::MAX >> (CELLS_PER_WORD as u32 - self.bits()))
    }

    /// The index of a word in memory. `row` counts from the folds' first and may be in their margins.
    #[inline(always)]
    fn index(&self, tile: u32, row: i32, word: u32) -> usize {
        let row = tile as usize * self.pitch() as usize + (row + ROWS_ABOVE as i32) as usize;
        row * TILE_WORDS as usize + word as usize
    }

    /// The row of the board that is a fold's first.
    #[inline(always)]
    fn first_row(&self, fold: u32) -> u32 {
        ((u64::from(fold) * u64::from(self.height)) >> self.fold_bits) as u32
    }

    /// Rows of a fold.
    #[inline(always)]
    fn rows_of(&self, fold: u32) -> u32 {
        self.first_row(fold + 1) - self.first_row(fold)
    }

    /// The fold that row `y` of the board is in, and its row there.
    #[inline(always)]
    fn fold_of(&self, y: u32) -> (u32, i32) {
        // No fold is higher than `rows`: so this one is none after it.
        let mut fold = y / self.rows;
        while self.first_row(fold + 1) <= y {
            fold += 1;
        }
        (fold, (y - self.first_row(fold)) as i32)
    }

    /// The tile that column `x` of the board is in, and its column there.
    #[inline(always)]
    fn tile_of(&self, x: u32) -> (u32, u32) {
        let tile = x / self.inner();
        (tile, x - tile * self.inner() + MARGIN)
    }

    /// The index in memory of the word that the cell at column `x` and row `y` of the board is in, and its bit there.
    #[inline(always)]
    fn place(&self, x: u32, y: u32) -> (usize, u32) {
        let ((tile, column), (fold, row)) = (self.tile_of(x), self.fold_of(y));
        (self.index(tile, row, column % TILE_WORDS), fold * self.bits() + column / TILE_WORDS)
    }

    /// Whether the cell at column `x` and row `y` of the board lives.
    #[inline(always)]
    fn lives(&self, cells: &GlobalMut<u32>, x: u32, y: u32) -> bool {
        let (index, bit) = self.place(x, y);
        cells.load_relaxed(index) >> bit & 1 != 0
    }

    /// The column of a tile that is the first beyond those of its own.
    #[inline(always)]
    pub(super) const fn end_of(&self, tile: u32) -> u32 {
        MARGIN + if tile + 1 == self.tiles { self.width - tile * self.inner() } else { self.inner() }
    }

    /// The bits of a fold, as if it were the first, whose columns in word `word` are the tile's own.
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

    /// The bits of a word that are cells of the board. `row` counts from the folds' first and may be in their margins.
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

    /// The tile, row and word of the word with index `index` in memory.
    #[inline(always)]
    fn place_of(&self, index: usize) -> (u32, i32, u32) {
        let (row, word) = (index / TILE_WORDS as usize, index % TILE_WORDS as usize);
        let pitch = self.pitch() as usize;
        ((row / pitch) as u32, (row % pitch) as i32 - ROWS_ABOVE as i32, word as u32)
    }
}
