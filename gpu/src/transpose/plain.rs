//! Plain: single elements through a padded tile, for matrices of words and double words that are not large.
//!
//! What it changes against [`transpose_padded()`](super::transpose_padded()): the tile has as many bytes as a block of 256 threads
//! has on their way, tiles are taken in the order of *y*, and one in the midst of the matrix needs no comparisons. Against
//! [`transpose_vectorised()`](super::transpose_vectorised()): a block is small and soon done. That counts as long as the matrix
//! has few tiles for each multiprocessor; a large one is moved faster by 16 bytes.
//!
//! Limited by the latency of memory, and by its last blocks. Source: `transposeNoBankConflicts` of Harris 2013.

use cuda_std::{Global, GlobalMut, Shared, kernel, shared_array, thread};

use super::{Bits, assert_size, tile_of_block};

/// The most elements of a thread.
const MOST: usize = 8;

/// What follows from the size of an element and the shape of its tile.
trait PlainLayout: Bits {
    const COLUMNS: usize = Self::SMALL.columns;
    const ROWS: usize = Self::SMALL.rows;
    const THREADS: usize = Self::SMALL.threads;
    /// Elements from a row of the tile to the next: its columns meet no bank conflicts.
    const PITCH: usize = Self::COLUMNS + 1;
    /// Rows that the block loads at a time, and columns that it stores.
    const ROW_STEP: usize = Self::THREADS / Self::COLUMNS;
    const COLUMN_STEP: usize = Self::THREADS / Self::ROWS;
    /// Elements of a thread.
    const ELEMENTS: usize = Self::ROWS / Self::ROW_STEP;

    /// Whether the threads share the tile evenly.
    const IS_EVEN: bool = Self::ROW_STEP * Self::COLUMNS == Self::THREADS
        && Self::COLUMN_STEP * Self::ROWS == Self::THREADS
        && Self::ELEMENTS * Self::THREADS == Self::ROWS * Self::COLUMNS
        && Self::ELEMENTS <= MOST;
}

impl<T: Bits> PlainLayout for T {}

/// `y` = the transpose of `x` by single elements. `x` has `height` rows of `width` elements; the views may begin at any element. A
/// block of [`SMALL.threads`](super::Shape) for each tile of [`SMALL`](super::Bits::SMALL): those below each other along x, and
/// those side by side along y and z.
#[kernel(max_threads = 256, instances(T = [u32, u64]))]
pub fn transpose_plain<T: Bits>(x: Global<T>, y: GlobalMut<T>, width: usize, height: usize) {
    const { assert!(T::IS_EVEN, "the threads of a block share a tile evenly") };
    assert_size(&x, &y, width, height);
    assert!(thread::block_dim_x() as usize == T::THREADS);
    let tile = shared_array![T; <T as PlainLayout>::ROWS * <T as PlainLayout>::PITCH];
    let (tile_row, tile_column) = tile_of_block();
    let (row, column) = (tile_row * T::ROWS, tile_column * T::COLUMNS);
    if row >= height || column >= width {
        return;
    }
    let place = Place { row, column, width, height };
    // SAFETY: the size was checked, and of a whole tile its place.
    unsafe {
        match row + T::ROWS <= height && column + T::COLUMNS <= width {
            true => place.transpose::<T, true>(tile, x, y),
            false => place.transpose::<T, false>(tile, x, y),
        }
    }
}

/// Where a tile is: its first row and column, in a matrix of so many.
struct Place {
    row: usize,
    column: usize,
    width: usize,
    height: usize,
}

impl Place {
    /// Transposes the tile.
    ///
    /// # Safety
    /// The views must have `width * height` elements. If `FULL`, all of the tile must be in the matrix.
    #[inline(always)]
    unsafe fn transpose<T: Bits, const FULL: bool>(self, tile: Shared<T>, x: Global<T>, y: GlobalMut<T>) {
        let Self { row, column, width, height } = self;
        // In a block of the right size the remainder changes nothing. It shows the compiler the bound.
        let thread = thread::thread_idx_x() as usize % T::THREADS;
        let (line, place) = (thread / T::COLUMNS, thread % T::COLUMNS);
        let first = (row + line) * width + column + place;
        let mut values = [T::zeroed(); MOST];
        for i in 0..T::ELEMENTS {
            if FULL || (column + place < width && row + line + i * T::ROW_STEP < height) {
                // SAFETY: a row and a column of the matrix.
                values[i] = unsafe { x.load_unchecked(first + i * T::ROW_STEP * width) };
            }
        }
        for i in 0..T::ELEMENTS {
            // SAFETY: a row and a column of the tile.
            unsafe { tile.store_unchecked((line + i * T::ROW_STEP) * T::PITCH + place, values[i]) };
        }
        thread::sync_threads();
        let (line, place) = (thread / T::ROWS, thread % T::ROWS);
        let first = (column + line) * height + row + place;
        for i in 0..T::ELEMENTS {
            if FULL || (row + place < height && column + line + i * T::COLUMN_STEP < width) {
                // SAFETY: a row and a column of the tile, and of the matrix.
                unsafe {
                    let value = tile.load_unchecked(place * T::PITCH + line + i * T::COLUMN_STEP);
                    y.store_unchecked(first + i * T::COLUMN_STEP * height, value);
                }
            }
        }
    }
}
