//! Vectorised: blocks of up to 512 threads move tiles of 16 KiB in 16-byte accesses, one tile per block. Blocks process
//! the tiles in the order of *y*.
//!
//! Changes from the padded tile:
//!
//! - The rows and columns of a tile are whole cache lines for every element size. A thread has two 16-byte loads in
//!   flight, or four for 1-byte elements. The blocks process the tiles along the columns of *x*, so blocks that run
//!   together write one long part of each row of *y*.
//! - A thread rearranges its elements in registers into words of one column: 4 × 4 bytes or 2 × 2 halves at a time. It
//!   accesses shared memory only in words and 16-byte vectors, never in single bytes.
//! - Shared memory holds the columns of the tile. The position of a vector in its column is XORed with bits of the
//!   column's number. Stores across columns and loads along a column then have no bank conflicts. Vectors stay aligned,
//!   because there is no padding.
//!
//! Every row and column must start at a multiple of 16 bytes. For other matrices use
//! [`transpose_unaligned()`](super::transpose_unaligned()).
//!
//! The kernel is limited by memory. It does not quite reach the copy bandwidth, because of the order of its memory
//! accesses. A kernel that moves the same tiles without transposing them is no faster. `docs/notes/transpose.md` lists
//! other shapes, orders and cache hints. Source: this project. Matrix-multiplication kernels use the same permutation
//! for their tiles.

use cuda_std::{Global, GlobalMut, Shared, Zeroable, kernel, shared_array, thread};

use super::{Bits, assert_size, tile_of_block};

const LANES: usize = 32;

/// The number of vectors of a patch along a row or column. A patch is what a warp loads or stores in one access. 8
/// vectors fill all banks of shared memory once.
const PATCH: usize = 8;

/// The number of lines in a patch. A line is a row of words for loads, and a column for stores.
const PATCH_LINES: usize = LANES / PATCH;

/// The largest number of rows of words, and of vectors, that a thread has in flight, over all element types.
const MAX: usize = 8;

/// Constants that follow from the size of an element and the shape of a tile.
trait Layout: Bits {
    const COLUMNS: usize = Self::ALIGNED.columns;
    const ROWS: usize = Self::ALIGNED.rows;
    const THREADS: usize = Self::ALIGNED.threads;
    const WARPS: usize = Self::THREADS / LANES;
    /// The number of vectors in a row of the tile.
    const ROW_VECTORS: usize = Self::COLUMNS / Self::PER_VECTOR;
    /// The number of vectors in a column of the tile.
    const COLUMN_VECTORS: usize = Self::ROWS / Self::PER_VECTOR;
    /// The number of adjacent patches in a row of the tile.
    const ROW_PATCHES: usize = Self::ROW_VECTORS / PATCH;
    /// The number of adjacent patches in a column of the tile.
    const COLUMN_PATCHES: usize = Self::COLUMN_VECTORS / PATCH;
    /// The number of rows of words that the block's warps load at once.
    const ROW_LINES: usize = Self::WARPS / Self::ROW_PATCHES * PATCH_LINES;
    /// The number of columns that the block's warps store at once.
    const COLUMN_LINES: usize = Self::WARPS / Self::COLUMN_PATCHES * PATCH_LINES;
    /// The number of rows of words from which a thread loads.
    const LOADS: usize = Self::ROWS / Self::PER_WORD / Self::ROW_LINES;
    /// The number of vectors that a thread stores.
    const STORES: usize = Self::COLUMNS / Self::COLUMN_LINES;

    /// True if the threads share the tile evenly.
    const IS_EVEN: bool = Self::ROW_PATCHES * PATCH * Self::PER_VECTOR == Self::COLUMNS
        && Self::COLUMN_PATCHES * PATCH * Self::PER_VECTOR == Self::ROWS
        && Self::LOADS * Self::ROW_LINES * Self::PER_WORD == Self::ROWS
        && Self::STORES * Self::COLUMN_LINES == Self::COLUMNS
        && Self::LOADS <= MAX
        && Self::STORES <= MAX;
}

impl<T: Bits> Layout for T {}

/// A tile: its position in the matrix, and its shared memory.
struct Tile<T: Bits> {
    /// The column of the tile's first element.
    column: usize,
    /// The row of the tile's first element.
    row: usize,
    /// The width of the matrix.
    width: usize,
    /// The height of the matrix.
    height: usize,
    /// The columns of the tile in shared memory.
    words: Shared<T::Word>,
}

impl<T: Bits> Tile<T> {
    /// Returns the position of this thread's vector in its warp's first patch: the number of the vector in its line,
    /// and the number of the line. `patches` is the number of adjacent patches.
    #[inline(always)]
    fn place(patches: usize) -> (usize, usize) {
        // In a block of `THREADS` threads, the remainder never changes the value. It lets the compiler see the bound.
        let thread = thread::thread_idx_x() as usize % T::THREADS;
        let (lane, warp) = (thread % LANES, thread / LANES);
        (warp % patches * PATCH + lane % PATCH, warp / patches * PATCH_LINES + lane / PATCH)
    }

    /// Returns the position of vector `vector` of column `column` in shared memory, in vectors.
    #[inline(always)]
    fn slot(column: usize, vector: usize) -> usize {
        column * T::COLUMN_VECTORS + (vector ^ (column / T::PER_VECTOR % PATCH))
    }

    /// Loads the tile into shared memory.
    ///
    /// # Safety
    /// `x` must contain the matrix in vectors, with a whole number of vectors per row. If `FULL` is true, the whole
    /// tile must be in the matrix, otherwise at least its first row and column.
    #[inline(always)]
    unsafe fn load<const FULL: bool>(&self, x: Global<T::Vector>) {
        let (vector, line) = Self::place(T::ROW_PATCHES);
        let pitch = self.width / T::PER_VECTOR;
        let first = (self.row + line * T::PER_WORD) * pitch + self.column / T::PER_VECTOR + vector;
        let is_inside = vector * T::PER_VECTOR < self.width - self.column;
        let mut loaded = [[T::Vector::zeroed(); 4]; MAX];
        for i in 0..T::LOADS {
            for j in 0..T::PER_WORD {
                let row = (line + i * T::ROW_LINES) * T::PER_WORD + j;
                if FULL || (is_inside && row < self.height - self.row) {
                    // SAFETY: the row is in the matrix, and the vector is in that row.
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
                    // SAFETY: the word belongs to a column of the tile, and shared memory has room for all of them.
                    unsafe { self.words.store_unchecked(index, columns[k]) };
                }
            }
        }
    }

    /// Stores the columns of the tile.
    ///
    /// # Safety
    /// `y` must have room for the transpose in vectors, with a whole number of vectors per column. If `FULL` is true,
    /// the whole tile must be in the matrix, otherwise at least its first row and column.
    #[inline(always)]
    unsafe fn store<const FULL: bool>(&self, y: GlobalMut<T::Vector>) {
        let (vector, line) = Self::place(T::COLUMN_PATCHES);
        let vectors = self.words.cast::<T::Vector>();
        let mut moved = [T::Vector::zeroed(); MAX];
        for i in 0..T::STORES {
            // SAFETY: the vector belongs to a column of the tile.
            moved[i] = unsafe { vectors.load_unchecked(Self::slot(line + i * T::COLUMN_LINES, vector)) };
        }
        let pitch = self.height / T::PER_VECTOR;
        let first = (self.column + line) * pitch + self.row / T::PER_VECTOR + vector;
        let is_inside = vector * T::PER_VECTOR < self.height - self.row;
        for i in 0..T::STORES {
            if FULL || (is_inside && line + i * T::COLUMN_LINES < self.width - self.column) {
                // SAFETY: the column is in the matrix, and the vector is in that column.
                unsafe { y.store_unchecked(first + i * T::COLUMN_LINES * pitch, moved[i]) };
            }
        }
    }
}

/// Writes the transpose of `x` to `y` in 16-byte accesses, in tiles of 16 KiB. `x` has `height` rows of `width`
/// elements. Both addresses, and the bytes of a row and of a column, must be multiples of 16. Launch one block of
/// [`ALIGNED.threads`](super::Shape) threads per tile. Blocks along x process the tiles of one column of tiles. Blocks
/// along y and z process the other columns of tiles.
#[kernel(max_threads = 512, instances(T = [u8, u16, u32, u64]), wide(loads, stores))]
pub fn transpose_vectorised<T: Bits>(x: Global<T>, y: GlobalMut<T>, width: usize, height: usize) {
    const { assert!(T::IS_EVEN, "the threads of a block must share a tile evenly") };
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
    // A tile inside the matrix needs no comparisons, which would delay its loads.
    let is_full = width - column >= T::COLUMNS && height - row >= T::ROWS;
    // SAFETY: the assertions above have checked the size and that rows and columns are whole vectors. The tile starts
    // in the matrix.
    unsafe {
        let vectors = Global::from_raw_parts(x.as_ptr().cast(), x.len() / T::PER_VECTOR, x.device());
        if is_full { tile.load::<true>(vectors) } else { tile.load::<false>(vectors) }
    }
    thread::sync_threads();
    // SAFETY: the assertions above have checked that `y` has as many elements, in columns of whole vectors.
    unsafe {
        let vectors = GlobalMut::from_raw_parts(y.as_ptr().cast(), y.len() / T::PER_VECTOR, y.device());
        if is_full { tile.store::<true>(vectors) } else { tile.store::<false>(vectors) }
    }
}
