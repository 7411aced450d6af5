//! Plain: single elements through a padded tile, for matrices of words and double words that are not large.
//!
//! What it changes against [`transpose_padded()`](super::transpose_padded()): the tile's shape depends on how large the matrix is, tiles
//! are taken in the order of *y*, and few instructions come before the loads: numbers have 32 bits, edges have no code of their own,
//! and a wrong size is reported only when the loads are on their way. Against
//! [`transpose_vectorised()`](super::transpose_vectorised()): a block is small and soon done. That counts as long as the matrix
//! has few tiles for each multiprocessor; a large one is moved faster by 16 bytes.
//!
//! Limited by the latency of memory, and by its last blocks. Source: `transposeNoBankConflicts` of Harris 2013.

use core::marker::PhantomData;

use cuda_std::{Global, GlobalMut, Zeroable, kernel, shared_array, thread};

use super::Bits;
use super::tuning::{plain_row_bytes, plain_rows};

/// The most elements of a thread.
const MOST: usize = 8;

/// The tile of a block of `THREADS` threads.
struct Tile<T, const THREADS: usize>(PhantomData<T>);

impl<T: Bits, const THREADS: usize> Tile<T, THREADS> {
    const ROWS: usize = plain_rows(THREADS);
    const COLUMNS: usize = plain_row_bytes(THREADS) / size_of::<T>();
    /// Elements from a row of the tile to the next: its columns meet no bank conflicts.
    const PITCH: usize = Self::COLUMNS + 1;
    /// Rows that the block loads at a time, and columns that it stores.
    const ROW_STEP: usize = THREADS / Self::COLUMNS;
    const COLUMN_STEP: usize = THREADS / Self::ROWS;
    /// Elements of a thread.
    const ELEMENTS: usize = Self::ROWS / Self::ROW_STEP;

    /// Whether the threads share the tile evenly.
    const IS_EVEN: bool = Self::ROW_STEP * Self::COLUMNS == THREADS
        && Self::COLUMN_STEP * Self::ROWS == THREADS
        && Self::ELEMENTS * THREADS == Self::ROWS * Self::COLUMNS
        && Self::ELEMENTS <= MOST;
}

/// `y` = the transpose of `x` by single elements. `x` has `height` rows of `width` elements, both below 2³²; the views may begin
/// at any element. A block of `THREADS` threads for each tile of [`plain_rows`](super::plain_rows()) rows of
/// [`plain_row_bytes`](super::plain_row_bytes()) bytes: those below each other along x, and those side by side along y and z.
#[kernel(max_threads = 512, instances(T = [u32, u64], THREADS = [128, 256, 512]))]
pub fn transpose_plain<T: Bits, const THREADS: usize>(x: Global<T>, y: GlobalMut<T>, width: usize, height: usize) {
    const { assert!(Tile::<T, THREADS>::IS_EVEN, "the threads of a block share a tile evenly") };
    // Sizes of 32 bits: their product does not overflow, and comparisons take one instruction.
    let (columns, rows) = (width as u32, height as u32);
    let is_right = ((width | height) >> 32 == 0)
        & (columns as u64 * rows as u64 == x.len() as u64)
        & (y.len() == x.len())
        & (thread::block_dim_x() as usize == THREADS);
    let (high, wide) = (Tile::<T, THREADS>::ROWS as u32, Tile::<T, THREADS>::COLUMNS as u32);
    let pitch = Tile::<T, THREADS>::PITCH;
    let tile = shared_array![T; Tile::<T, THREADS>::ROWS * Tile::<T, THREADS>::PITCH];
    // In a block of the right size the remainder changes nothing. It shows the compiler the bound.
    let thread = thread::thread_idx_x() % THREADS as u32;
    let row = thread::block_idx_x() * high;
    let column = (thread::block_idx_z() * thread::grid_dim_y() + thread::block_idx_y()) * wide;
    let (line, place) = (thread / wide, thread % wide);
    let (at_row, at_column) = (row + line, column + place);
    let first = at_row as usize * columns as usize + at_column as usize;
    // How many rows there are from the thread's first one on.
    let left = if is_right & (at_column < columns) { rows.saturating_sub(at_row) } else { 0 };
    let mut values = [<T as Zeroable>::zeroed(); MOST];
    for i in 0..Tile::<T, THREADS>::ELEMENTS {
        if ((i * Tile::<T, THREADS>::ROW_STEP) as u32) < left {
            // SAFETY: a row and a column of the matrix.
            values[i] = unsafe { x.load_unchecked(first + i * Tile::<T, THREADS>::ROW_STEP * columns as usize) };
        }
    }
    assert!(is_right);
    for i in 0..Tile::<T, THREADS>::ELEMENTS {
        let at = (line as usize + i * Tile::<T, THREADS>::ROW_STEP) * pitch + place as usize;
        // SAFETY: a row and a column of the tile.
        unsafe { tile.store_unchecked(at, values[i]) };
    }
    thread::sync_threads();
    let (line, place) = (thread / high, thread % high);
    let (at_column, at_row) = (column + line, row + place);
    let first = at_column as usize * rows as usize + at_row as usize;
    let left = if at_row < rows { columns.saturating_sub(at_column) } else { 0 };
    for i in 0..Tile::<T, THREADS>::ELEMENTS {
        // Tests that end the thread keep its stores apart. As a burst under predicates, those that begin within sectors fill the
        // queue to memory, and other warps' loads wait behind them.
        if (i * Tile::<T, THREADS>::COLUMN_STEP) as u32 >= left {
            break;
        }
        // SAFETY: a row and a column of the tile, and of the matrix.
        unsafe {
            let at = place as usize * pitch + line as usize + i * Tile::<T, THREADS>::COLUMN_STEP;
            let value = tile.load_unchecked(at);
            y.store_unchecked(first + i * Tile::<T, THREADS>::COLUMN_STEP * rows as usize, value);
        }
    }
}
