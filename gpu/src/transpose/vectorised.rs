//! Vectorised: tiles of 128 or 256 bytes a side, loaded and stored by 16 bytes, with several loads of a thread in flight.
//!
//! What it changes:
//! - A tile's rows are whole cache lines for every element size, and the blocks take the tiles in bands: down a few
//!   tile rows, then on to the next column. Blocks that run at the same time so read and write long pieces of both
//!   matrices.
//! - A thread turns what it loads into words of one column in registers: 4 × 4 bytes or 2 × 2 halves at a time. Shared
//!   memory sees words and 16-byte vectors, never single bytes.
//! - Shared memory holds the tile's columns. Their vectors are permuted (exclusive or with the column's number), so
//!   that neither the stores across columns nor the loads along one meet a bank conflict, without padding that would
//!   misalign the vectors.
//! - Where width or height is no multiple of a vector, rows start anywhere, and the same tiles are moved an element at
//!   a time, by columns that are padded by one word.
//!
//! Limited by memory. Source: this project; the swizzle is the one that matrix-multiplication kernels use for their tiles.

use cuda_std::{Global, GlobalMut, Shared, Zeroable, kernel, shared_array, thread};

use super::{Bits, assert_size, tile_of_block};

/// Threads of a block.
pub const THREADS: usize = 256;

const LANES: usize = 32;
const WARPS: usize = THREADS / LANES;

/// A warp moves patches of so many vectors along a row of the tile: 8 vectors fill the banks once.
const PATCH: usize = 8;

/// The most words or vectors that a thread has in flight, of any element.
const MOST: usize = 8;

/// What follows from the size of an element.
trait Shape: Bits {
    /// Vectors of a row of the tile, and of a column.
    const VECTORS: usize = Self::SIDE / Self::PER_VECTOR;
    /// Words of a column of the tile.
    const WORDS: usize = Self::SIDE / Self::PER_WORD;
    /// Words of a vector.
    const WORDS_PER_VECTOR: usize = Self::PER_VECTOR / Self::PER_WORD;
    /// Words from a column of the tile to the next, where elements are moved one at a time.
    const PADDED: usize = Self::WORDS + 1;
    /// Patches side by side.
    const PATCHES_ACROSS: usize = Self::VECTORS / PATCH;
    /// Lines of a patch: rows of words where it is loaded, columns where it is stored.
    const PATCH_LINES: usize = LANES / PATCH;
    /// Lines that the block's warps cover at a time.
    const LINES: usize = WARPS / Self::PATCHES_ACROSS * Self::PATCH_LINES;
    /// Rows of words that a thread loads.
    const LOADS: usize = Self::WORDS / Self::LINES;
    /// Vectors that a thread stores.
    const STORES: usize = Self::SIDE / Self::LINES;
    /// Pieces of a warp's width side by side, where elements are moved one at a time.
    const PIECES_ACROSS: usize = Self::SIDE / LANES;
    /// Lines that the block's warps cover at a time by such pieces.
    const PIECE_LINES: usize = WARPS / Self::PIECES_ACROSS;
    /// Words that a thread packs at a time: several loads in flight, and no more registers than for vectors.
    const BATCH: usize = min(MOST / Self::PER_WORD, Self::WORDS / Self::PIECE_LINES);
}

impl<T: Bits> Shape for T {}

/// This thread's number in its warp, and that of its warp.
#[inline(always)]
fn lane_and_warp() -> (usize, usize) {
    // No remainder is taken in a block of the right size.
    let thread = thread::thread_idx_x() as usize % THREADS;
    (thread % LANES, thread / LANES)
}

const fn min(a: usize, b: usize) -> usize {
    if a < b { a } else { b }
}

/// A tile: what part of the matrix it is, and where a block keeps it.
struct Tile<T: Bits> {
    /// Its first column and row.
    column: usize,
    row: usize,
    /// Columns and rows of it that are in the matrix.
    columns: usize,
    rows: usize,
    /// Columns and rows of the matrix.
    width: usize,
    height: usize,
    /// Its columns.
    words: Shared<T::Word>,
}

impl<T: Bits> Tile<T> {
    #[inline(always)]
    fn new(words: Shared<T::Word>, tile_column: usize, tile_row: usize, width: usize, height: usize) -> Self {
        let (column, row) = (tile_column * T::SIDE, tile_row * T::SIDE);
        let (columns, rows) = (min(width - column, T::SIDE), min(height - row, T::SIDE));
        Self { column, row, columns, rows, width, height, words }
    }

    /// This thread's vector and line of its warp's first patch.
    #[inline(always)]
    fn place() -> (usize, usize) {
        let (lane, warp) = lane_and_warp();
        let vector = warp % T::PATCHES_ACROSS * PATCH + lane % PATCH;
        (vector, warp / T::PATCHES_ACROSS * T::PATCH_LINES + lane / PATCH)
    }

    /// This thread's element and line of its warp's first piece.
    #[inline(always)]
    fn place_in_piece() -> (usize, usize) {
        let (lane, warp) = lane_and_warp();
        (warp % T::PIECES_ACROSS * LANES + lane, warp / T::PIECES_ACROSS)
    }

    /// Where vector `vector` of column `column` is kept, in vectors.
    #[inline(always)]
    fn slot(column: usize, vector: usize) -> usize {
        column * T::VECTORS + (vector ^ (column / T::PER_VECTOR % PATCH))
    }

    /// Loads the tile by vectors.
    ///
    /// # Safety
    /// `x` must hold the matrix in vectors, and the width be a multiple of a vector.
    #[inline(always)]
    unsafe fn load<const FULL: bool>(&self, x: Global<T::Vector>) {
        let (vector, line) = Self::place();
        let pitch = self.width / T::PER_VECTOR;
        let first = (self.row + line * T::PER_WORD) * pitch + self.column / T::PER_VECTOR + vector;
        let is_inside = vector < self.columns / T::PER_VECTOR;
        let mut loaded = [[T::Vector::zeroed(); 4]; MOST];
        for i in 0..T::LOADS {
            for j in 0..T::PER_WORD {
                let row = (line + i * T::LINES) * T::PER_WORD + j;
                if FULL || (is_inside && row < self.rows) {
                    // SAFETY: a row of the matrix, and a vector of it.
                    loaded[i][j] = unsafe { x.load_unchecked(first + (i * T::LINES * T::PER_WORD + j) * pitch) };
                }
            }
        }
        for i in 0..T::LOADS {
            let word = line + i * T::LINES;
            let columns = T::columns(loaded[i]);
            for j in 0..T::PER_VECTOR {
                let slot = Self::slot(vector * T::PER_VECTOR + j, word / T::WORDS_PER_VECTOR);
                let index = slot * T::WORDS_PER_VECTOR + word % T::WORDS_PER_VECTOR;
                // SAFETY: a word of one of the tile's columns, for which there is room.
                unsafe { self.words.store_unchecked(index, columns[j]) };
            }
        }
    }

    /// Stores the tile's columns by vectors.
    ///
    /// # Safety
    /// `y` must have room for the transpose in vectors, and the height be a multiple of a vector.
    #[inline(always)]
    unsafe fn store<const FULL: bool>(&self, y: GlobalMut<T::Vector>) {
        let (vector, line) = Self::place();
        let vectors = self.words.cast::<T::Vector>();
        let mut moved = [T::Vector::zeroed(); MOST];
        for i in 0..T::STORES {
            // SAFETY: a vector of one of the tile's columns.
            moved[i] = unsafe { vectors.load_unchecked(Self::slot(line + i * T::LINES, vector)) };
        }
        let pitch = self.height / T::PER_VECTOR;
        let first = (self.column + line) * pitch + self.row / T::PER_VECTOR + vector;
        let is_inside = vector < self.rows / T::PER_VECTOR;
        for i in 0..T::STORES {
            if FULL || (is_inside && line + i * T::LINES < self.columns) {
                // SAFETY: a column of the matrix, and a vector of it.
                unsafe { y.store_unchecked(first + i * T::LINES * pitch, moved[i]) };
            }
        }
    }

    /// Loads the tile an element at a time.
    ///
    /// # Safety
    /// `x` must hold the matrix.
    #[inline(always)]
    unsafe fn load_elements<const FULL: bool>(&self, x: Global<T>) {
        let (column, line) = Self::place_in_piece();
        let mut word = line;
        while word < T::WORDS {
            let first = (self.row + word * T::PER_WORD) * self.width + self.column + column;
            let mut loaded = [[T::zeroed(); 4]; MOST];
            for i in 0..T::BATCH {
                for j in 0..T::PER_WORD {
                    let row = i * T::PIECE_LINES * T::PER_WORD + j;
                    if FULL || (column < self.columns && word * T::PER_WORD + row < self.rows) {
                        // SAFETY: a row and a column of the matrix.
                        loaded[i][j] = unsafe { x.load_unchecked(first + row * self.width) };
                    }
                }
            }
            for i in 0..T::BATCH {
                let index = column * T::PADDED + word + i * T::PIECE_LINES;
                // SAFETY: a word of one of the tile's columns, for which there is room with the padding.
                unsafe { self.words.store_unchecked(index, T::pack(loaded[i])) };
            }
            word += T::BATCH * T::PIECE_LINES;
        }
    }

    /// Stores the tile's columns an element at a time.
    ///
    /// # Safety
    /// `y` must have room for the transpose.
    #[inline(always)]
    unsafe fn store_elements<const FULL: bool>(&self, y: GlobalMut<T>) {
        let (row, line) = Self::place_in_piece();
        let elements = self.words.cast::<T>();
        let mut column = line;
        while column < T::SIDE {
            let mut moved = [T::zeroed(); MOST];
            for i in 0..min(MOST, T::SIDE / T::PIECE_LINES) {
                let index = (column + i * T::PIECE_LINES) * T::PADDED * T::PER_WORD + row;
                // SAFETY: an element of one of the tile's columns.
                moved[i] = unsafe { elements.load_unchecked(index) };
            }
            let first = (self.column + column) * self.height + self.row + row;
            for i in 0..min(MOST, T::SIDE / T::PIECE_LINES) {
                let line = i * T::PIECE_LINES;
                if FULL || (row < self.rows && column + line < self.columns) {
                    // SAFETY: a row and a column of the matrix.
                    unsafe { y.store_unchecked(first + line * self.height, moved[i]) };
                }
            }
            column += min(MOST, T::SIDE / T::PIECE_LINES) * T::PIECE_LINES;
        }
    }
}

/// `y` = the transpose of `x` by accesses of 16 bytes, in tiles of 128 or 256 bytes a side, several loads in flight.
/// `x` has `height` rows of `width` elements. A block of 256 threads for each tile.
///
/// Along x blocks go down the `1 << band` tile rows of a band and then on to its next column, along y and z to the next
/// band. `band` is below 32.
#[kernel(max_threads = 256, instances(T = [u8, u16, u32, u64]))]
pub fn transpose_vectorised<T: Bits>(x: Global<T>, y: GlobalMut<T>, width: usize, height: usize, band: u32) {
    assert_size(&x, &y, width, height);
    assert!(thread::block_dim_x() as usize == THREADS);
    let words = shared_array![<T as Bits>::Word; T::SIDE * (T::SIDE / T::PER_WORD + 1)];
    let is_vector = width.is_multiple_of(T::PER_VECTOR)
        && height.is_multiple_of(T::PER_VECTOR)
        && (x.as_ptr() as usize | y.as_ptr() as usize).is_multiple_of(size_of::<<T as Bits>::Vector>());
    let (tile_columns, tile_rows) = (width.div_ceil(T::SIDE), height.div_ceil(T::SIDE));
    let (number, first_row) = tile_of_block();
    let tile_row = (first_row << band) + (number & ((1 << band) - 1));
    if number >> band >= tile_columns || tile_row >= tile_rows {
        return;
    }
    let tile = Tile::<T>::new(words, number >> band, tile_row, width, height);
    // A tile in the midst of the matrix needs no comparisons, which stand between its loads.
    let is_full = tile.columns == T::SIDE && tile.rows == T::SIDE;
    // SAFETY: the size was checked, and where vectors are used, that the matrices consist of whole ones.
    unsafe {
        let vectors = || Global::from_raw_parts(x.as_ptr().cast(), x.len() / T::PER_VECTOR, x.device());
        match (is_vector, is_full) {
            (true, true) => tile.load::<true>(vectors()),
            (true, false) => tile.load::<false>(vectors()),
            (false, true) => tile.load_elements::<true>(x),
            (false, false) => tile.load_elements::<false>(x),
        }
    }
    thread::sync_threads();
    // SAFETY: as above; the transpose has as many elements.
    unsafe {
        let vectors = || GlobalMut::from_raw_parts(y.as_ptr().cast(), y.len() / T::PER_VECTOR, y.device());
        match (is_vector, is_full) {
            (true, true) => tile.store::<true>(vectors()),
            (true, false) => tile.store::<false>(vectors()),
            (false, true) => tile.store_elements::<true>(y),
            (false, false) => tile.store_elements::<false>(y),
        }
    }
}
