//! Vectorised: tiles of 16 KiB, loaded and stored by 16 bytes, one tile per block of up to 512 threads, in the order of *y*.
//!
//! What it changes:
//! - A tile's rows and columns are whole cache lines for every element size, and a thread has two 16-byte loads in
//!   flight (four where it turns bytes). The blocks take the tiles down the columns of *x*: what runs at the same time
//!   writes one long piece of each row of *y*.
//! - A thread turns what it loads into words of one column in registers: 4 × 4 bytes or 2 × 2 halves at a time. Shared
//!   memory sees words and 16-byte vectors, never single bytes.
//! - Shared memory holds the tile's columns. Their vectors are permuted (exclusive or with the column's number), so
//!   that neither the stores across columns nor the loads along one meet a bank conflict, without padding that would
//!   misalign the vectors.
//!
//! Every row and column must begin at a multiple of 16 bytes; other matrices are for
//! [`transpose_unaligned()`](super::transpose_unaligned()).
//!
//! Limited by memory. What is left to the speed of the device's copy is the order in which memory is touched: a kernel that
//! moves tiles and turns nothing is no faster. Other shapes, orders and cache hints that were tried are in
//! `docs/notes/transpose.md`. Source: this project; the swizzle is the one that matrix-multiplication kernels use for their
//! tiles.

use cuda_std::{Global, GlobalMut, Shared, Zeroable, kernel, shared_array, thread};

use super::{Bits, assert_size, tile_of_block};

const LANES: usize = 32;

/// Vectors of a patch along a row or column of the tile; a warp moves a patch at a time. 8 vectors fill the banks once.
const PATCH: usize = 8;

/// Lines of a patch: rows of words where it is loaded, columns where it is stored.
const PATCH_LINES: usize = LANES / PATCH;

/// The most rows of words, and the most vectors, that a thread has in flight, of any element.
const MOST: usize = 8;

/// What follows from the size of an element and the shape of its tile.
trait Layout: Bits {
    const COLUMNS: usize = Self::ALIGNED.columns;
    const ROWS: usize = Self::ALIGNED.rows;
    const THREADS: usize = Self::ALIGNED.threads;
    const WARPS: usize = Self::THREADS / LANES;
    /// Vectors of a row of the tile, and of a column.
    const ROW_VECTORS: usize = Self::COLUMNS / Self::PER_VECTOR;
    const COLUMN_VECTORS: usize = Self::ROWS / Self::PER_VECTOR;
    /// Patches side by side in a row, and in a column.
    const ROW_PATCHES: usize = Self::ROW_VECTORS / PATCH;
    const COLUMN_PATCHES: usize = Self::COLUMN_VECTORS / PATCH;
    /// Rows of words that the block's warps load at a time, and columns that they store.
    const ROW_LINES: usize = Self::WARPS / Self::ROW_PATCHES * PATCH_LINES;
    const COLUMN_LINES: usize = Self::WARPS / Self::COLUMN_PATCHES * PATCH_LINES;
    /// Rows of words that a thread loads, and vectors that it stores.
    const LOADS: usize = Self::ROWS / Self::PER_WORD / Self::ROW_LINES;
    const STORES: usize = Self::COLUMNS / Self::COLUMN_LINES;

    /// Whether the threads share the tile evenly.
    const IS_EVEN: bool = Self::ROW_PATCHES * PATCH * Self::PER_VECTOR == Self::COLUMNS
        && Self::COLUMN_PATCHES * PATCH * Self::PER_VECTOR == Self::ROWS
        && Self::LOADS * Self::ROW_LINES * Self::PER_WORD == Self::ROWS
        && Self::STORES * Self::COLUMN_LINES == Self::COLUMNS
        && Self::LOADS <= MOST
        && Self::STORES <= MOST;
}

impl<T: Bits> Layout for T {}

/// A tile: what part of the matrix it is, and where a block keeps it.
struct Tile<T: Bits> {
    /// Its first column and row.
    column: usize,
    row: usize,
    /// Columns and rows of the matrix.
    width: usize,
    height: usize,
    /// Its columns.
    words: Shared<T::Word>,
}

impl<T: Bits> Tile<T> {
    /// This thread's vector and line of its warp's first patch, of `patches` side by side.
    #[inline(always)]
    fn place(patches: usize) -> (usize, usize) {
        // In a block of the right size the remainder changes nothing. It shows the compiler the bound.
        let thread = thread::thread_idx_x() as usize % T::THREADS;
        let (lane, warp) = (thread % LANES, thread / LANES);
        (warp % patches * PATCH + lane % PATCH, warp / patches * PATCH_LINES + lane / PATCH)
    }

    /// Where vector `vector` of column `column` is kept, in vectors.
    #[inline(always)]
    fn slot(column: usize, vector: usize) -> usize {
        column * T::COLUMN_VECTORS + (vector ^ (column / T::PER_VECTOR % PATCH))
    }

    /// Loads the tile.
    ///
    /// # Safety
    /// `x` must hold the matrix in vectors, of which a row has a whole number. The tile must be `FULL`, or its first row
    /// and column be in the matrix.
    #[inline(always)]
    unsafe fn load<const FULL: bool>(&self, x: Global<T::Vector>) {
        let (vector, line) = Self::place(T::ROW_PATCHES);
        let pitch = self.width / T::PER_VECTOR;
        let first = (self.row + line * T::PER_WORD) * pitch + self.column / T::PER_VECTOR + vector;
        let is_inside = vector * T::PER_VECTOR < self.width - self.column;
        let mut loaded = [[T::Vector::zeroed(); 4]; MOST];
        for i in 0..T::LOADS {
            for j in 0..T::PER_WORD {
                let row = (line + i * T::ROW_LINES) * T::PER_WORD + j;
                if FULL || (is_inside && row < self.height - self.row) {
                    // SAFETY: a row of the matrix, and a vector of it.
                    loaded[i][j] = unsafe { x.load_unchecked(first + (i * T::ROW_LINES * T::PER_WORD + j) * pitch) };
                }
            }
        }
        for i in 0..T::LOADS {
            let word = line + i * T::ROW_LINES;
            let rows = loaded[i].map(T::words);
            for j in 0..T::WORDS {
                let columns = T::turn([rows[0][j], rows[1][j], rows[2][j], rows[3][j]]);
                for k in 0..T::PER_WORD {
                    let column = vector * T::PER_VECTOR + j * T::PER_WORD + k;
                    let index = Self::slot(column, word / T::WORDS) * T::WORDS + word % T::WORDS;
                    // SAFETY: a word of one of the tile's columns, for which there is room.
                    unsafe { self.words.store_unchecked(index, columns[k]) };
                }
            }
        }
    }

    /// Stores the tile's columns.
    ///
    /// # Safety
    /// `y` must have room for the transpose in vectors, of which a column has a whole number. The tile must be `FULL`, or
    /// its first row and column be in the matrix.
    #[inline(always)]
    unsafe fn store<const FULL: bool>(&self, y: GlobalMut<T::Vector>) {
        let (vector, line) = Self::place(T::COLUMN_PATCHES);
        let vectors = self.words.cast::<T::Vector>();
        let mut moved = [T::Vector::zeroed(); MOST];
        for i in 0..T::STORES {
            // SAFETY: a vector of one of the tile's columns.
            moved[i] = unsafe { vectors.load_unchecked(Self::slot(line + i * T::COLUMN_LINES, vector)) };
        }
        let pitch = self.height / T::PER_VECTOR;
        let first = (self.column + line) * pitch + self.row / T::PER_VECTOR + vector;
        let is_inside = vector * T::PER_VECTOR < self.height - self.row;
        for i in 0..T::STORES {
            if FULL || (is_inside && line + i * T::COLUMN_LINES < self.width - self.column) {
                // SAFETY: a column of the matrix, and a vector of it.
                unsafe { y.store_unchecked(first + i * T::COLUMN_LINES * pitch, moved[i]) };
            }
        }
    }
}

/// `y` = the transpose of `x` by accesses of 16 bytes, in tiles of 16 KiB. `x` has `height` rows of `width` elements, and
/// 16 bytes divide the addresses of both and the sizes of a row and of a column. A block of
/// [`ALIGNED.threads`](super::Shape) for each tile: along x down the rows of tiles, along y and z to the next column.
#[kernel(max_threads = 512, instances(T = [u8, u16, u32, u64]), wide(loads, stores))]
pub fn transpose_vectorised<T: Bits>(x: Global<T>, y: GlobalMut<T>, width: usize, height: usize) {
    const { assert!(T::IS_EVEN, "the threads of a block share a tile evenly") };
    assert_size(&x, &y, width, height);
    assert!(thread::block_dim_x() as usize == T::THREADS);
    assert!(width.is_multiple_of(T::PER_VECTOR) && height.is_multiple_of(T::PER_VECTOR));
    assert!((x.as_ptr() as usize | y.as_ptr() as usize).is_multiple_of(size_of::<<T as Bits>::Vector>()));
    let words = shared_array![<T as Bits>::Word; T::COLUMNS * T::ROWS / T::PER_WORD];
    let (tile_row, tile_column) = tile_of_block();
    let (column, row) = (tile_column * T::COLUMNS, tile_row * T::ROWS);
    if column >= width || row >= height {
        return;
    }
    let tile = Tile::<T> { column, row, width, height, words };
    // A tile in the midst of the matrix needs no comparisons, which would stand between its loads.
    let is_full = width - column >= T::COLUMNS && height - row >= T::ROWS;
    // SAFETY: the size was checked, and that the matrices consist of whole vectors; the tile begins in the matrix.
    unsafe {
        let vectors = Global::from_raw_parts(x.as_ptr().cast(), x.len() / T::PER_VECTOR, x.device());
        if is_full { tile.load::<true>(vectors) } else { tile.load::<false>(vectors) }
    }
    thread::sync_threads();
    // SAFETY: as above; the transpose has as many elements.
    unsafe {
        let vectors = GlobalMut::from_raw_parts(y.as_ptr().cast(), y.len() / T::PER_VECTOR, y.device());
        if is_full { tile.store::<true>(vectors) } else { tile.store::<false>(vectors) }
    }
}
