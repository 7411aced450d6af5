//! Plain: the kernel moves single elements through a padded tile. It is for small matrices of 4-byte and 8-byte
//! elements.
//!
//! In contrast to [`transpose_padded()`](super::transpose_padded()), the shape of the tile depends on the size of the
//! matrix, and blocks process the tiles in the order of *y*. Few instructions precede the loads, because indices have
//! 32 bits, edges have no separate code, and the kernel checks the size only after it has issued the loads.
//!
//! In contrast to [`transpose_vectorised()`](super::transpose_vectorised()), a block is small and finishes soon. This
//! is an advantage while the matrix has few tiles per multiprocessor. For a large matrix, 16-byte accesses are faster.
//!
//! The kernel is limited by the latency of memory, and by its last blocks. Source: `transposeNoBankConflicts` of Harris
//! 2013.

use core::marker::PhantomData;

use cuda_std::{Global, GlobalMut, Zeroable, kernel, shared_array, thread};

use super::Bits;
use super::tuning::{plain_row_bytes, plain_rows};

/// The largest number of elements per thread.
const MAX: usize = 8;

/// The shape of the tile of a block of `THREADS` threads.
struct Tile<T, const THREADS: usize>(PhantomData<T>);

impl<T: Bits, const THREADS: usize> Tile<T, THREADS> {
    const ROWS: usize = plain_rows(THREADS);
    const COLUMNS: usize = plain_row_bytes(THREADS) / size_of::<T>();
    /// The distance between two rows of the tile, in elements. The padding avoids bank conflicts in columns.
    const PITCH: usize = Self::COLUMNS + 1;
    /// The number of rows that the block loads at once.
    const ROW_STEP: usize = THREADS / Self::COLUMNS;
    /// The number of columns that the block stores at once.
    const COLUMN_STEP: usize = THREADS / Self::ROWS;
    /// The number of elements per thread.
    const ELEMENTS: usize = Self::ROWS / Self::ROW_STEP;

    /// True if the threads share the tile evenly.
    const IS_EVEN: bool = Self::ROW_STEP * Self::COLUMNS == THREADS
        && Self::COLUMN_STEP * Self::ROWS == THREADS
        && Self::ELEMENTS * THREADS == Self::ROWS * Self::COLUMNS
        && Self::ELEMENTS <= MAX;
}

/// Writes the transpose of `x` to `y`, element by element. `x` has `height` rows of `width` elements, both below 2³².
/// The views may begin at any element. Launch one block of `THREADS` threads per tile of
/// [`plain_rows`](super::plain_rows()) rows of [`plain_row_bytes`](super::plain_row_bytes()) bytes. Blocks along x
/// process the tiles of one column of tiles. Blocks along y and z process the other columns of tiles.
#[kernel(max_threads = 512, instances(T = [u32, u64], THREADS = [128, 256, 512]))]
pub fn transpose_plain<T: Bits, const THREADS: usize>(x: Global<T>, y: GlobalMut<T>, width: usize, height: usize) {
    const { assert!(Tile::<T, THREADS>::IS_EVEN, "the threads of a block must share a tile evenly") };
    // With sizes of 32 bits, the product fits into 64 bits, and a comparison takes one instruction.
    let (columns, rows) = (width as u32, height as u32);
    let is_right = ((width | height) >> 32 == 0)
        & (columns as u64 * rows as u64 == x.len() as u64)
        & (y.len() == x.len())
        & (thread::block_dim_x() as usize == THREADS);
    let (high, wide) = (Tile::<T, THREADS>::ROWS as u32, Tile::<T, THREADS>::COLUMNS as u32);
    let pitch = Tile::<T, THREADS>::PITCH;
    let tile = shared_array![T; Tile::<T, THREADS>::ROWS * Tile::<T, THREADS>::PITCH];
    // In a block of `THREADS` threads, the remainder never changes the value. It lets the compiler see the bound.
    let thread = thread::thread_idx_x() % THREADS as u32;
    let row = thread::block_idx_x() * high;
    let column = (thread::block_idx_z() * thread::grid_dim_y() + thread::block_idx_y()) * wide;
    let (line, place) = (thread / wide, thread % wide);
    let (at_row, at_column) = (row + line, column + place);
    let first = at_row as usize * columns as usize + at_column as usize;
    // The number of rows of the matrix from the thread's first row on, or 0 if its column is outside.
    let left = if is_right & (at_column < columns) { rows.saturating_sub(at_row) } else { 0 };
    let mut values = [<T as Zeroable>::zeroed(); MAX];
    for i in 0..Tile::<T, THREADS>::ELEMENTS {
        if ((i * Tile::<T, THREADS>::ROW_STEP) as u32) < left {
            // SAFETY: the row and the column are in the matrix.
            values[i] = unsafe { x.load_unchecked(first + i * Tile::<T, THREADS>::ROW_STEP * columns as usize) };
        }
    }
    assert!(is_right);
    for i in 0..Tile::<T, THREADS>::ELEMENTS {
        let at = (line as usize + i * Tile::<T, THREADS>::ROW_STEP) * pitch + place as usize;
        // SAFETY: the row and the column are in the tile.
        unsafe { tile.store_unchecked(at, values[i]) };
    }
    thread::sync_threads();
    let (line, place) = (thread / high, thread % high);
    let (at_column, at_row) = (column + line, row + place);
    let first = at_column as usize * rows as usize + at_row as usize;
    let left = if at_row < rows { columns.saturating_sub(at_column) } else { 0 };
    for i in 0..Tile::<T, THREADS>::ELEMENTS {
        // This branch ends the thread, so that the compiler keeps the stores apart. With predicated stores instead, all
        // stores would be issued at once. Stores that start inside sectors would then fill the queue to memory and
        // delay the loads of other warps.
        if (i * Tile::<T, THREADS>::COLUMN_STEP) as u32 >= left {
            break;
        }
        // SAFETY: the row and the column are in the tile and in the matrix.
        unsafe {
            let at = place as usize * pitch + line as usize + i * Tile::<T, THREADS>::COLUMN_STEP;
            let value = tile.load_unchecked(at);
            y.store_unchecked(first + i * Tile::<T, THREADS>::COLUMN_STEP * rows as usize, value);
        }
    }
}
