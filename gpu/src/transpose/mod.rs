//! Transpose of a matrix. The input *x* has height × width elements in row-major order, the result *y* has width ×
//! height.
//!
//! | rung | idea | limited by |
//! |---|---|---|
//! | [`transpose_copy()`] | no transpose: the same blocks copy *x*, the baseline | memory |
//! | [`transpose_copy_tile()`] | the copy through shared memory: the cost of that detour | memory |
//! | [`transpose_naive()`] | reads along rows, writes along columns | writes: each lane writes to another cache line |
//! | [`transpose_tile()`] | a tile in shared memory: reads and writes along rows | shared memory: a column of the tile lies in one bank |
//! | [`transpose_padded()`] | tile rows one element longer: no bank conflicts | memory: transfers of 32 elements |
//! | [`transpose_vectorised()`] | 16-byte accesses, larger tiles, several loads in flight, tiles in the order of *y* | memory |
//! | [`transpose_plain()`] | single elements through small tiles, for matrices of at most a few MiB | the latency of memory |
//! | [`transpose_unaligned()`] | the last rung for any size and address: 16-byte stores that start at sectors | memory |
//! | [`transpose_gathered()`] | the same for large matrices of 1-byte and 2-byte elements: 16-byte loads too | memory |
//!
//! A transpose moves bits and never interprets them. The kernels are built for elements of 1, 2, 4 and 8 bytes, and can
//! transpose every type of these sizes. Width and height are arbitrary. Each block processes one tile, and the grid has
//! one block per tile.
//!
//! Floor (the least possible time): the device reads and writes every element once, at its copy bandwidth.
//!
//! Sources: M. Harris, "An Efficient Matrix Transpose in CUDA C/C++", NVIDIA, 2013; G. Ruetsch and P. Micikevicius,
//! "Optimizing Matrix Transpose in CUDA", NVIDIA, 2009.
//!
//! # Design
//!
//! The last rung consists of four kernels:
//!
//! - [`transpose_vectorised()`] is for matrices whose rows, columns and addresses are multiples of 16 bytes.
//! - [`transpose_unaligned()`] is for all other matrices. Columns of these matrices begin at different positions in a
//!   32-byte sector. A block therefore stores, in each column, only the rows that fill whole sectors of *y*.
//! - [`transpose_gathered()`] is for large matrices of 1-byte and 2-byte elements.
//! - [`transpose_plain()`] is for smaller matrices of 4-byte and 8-byte elements. It has three tile shapes; larger
//!   matrices use larger tiles.
//!
//! The host selects the kernel. `tuning.rs` has the shapes of tiles and blocks, and the thresholds of the selection.

#![allow(clippy::needless_range_loop, reason = "an iterator over an array can put it in local memory")]

mod tuning;

pub use tuning::{
    BLOCK_ROWS, GATHERED_FROM, GATHERED_THREADS, Shape, TILE, UnalignedShape, plain_row_bytes, plain_rows,
    plain_threads,
};

mod bits;

pub use bits::Bits;
pub use unaligned::{gathered_tile_columns, gathered_tile_rows, unaligned_tile_columns, unaligned_tile_rows};

use cuda_std::{Element, Global, GlobalMut, thread};

cuda_std::ladder! {
    /// The transpose of a matrix with elements of 1, 2, 4 or 8 bytes.
    pub enum TransposeRung: transpose {
        /// Returns the kernel call of any rung. For the last rung, rows, columns and addresses must be multiples of 16
        /// bytes.
        pub fn call<'call, T: Bits>(x: Global<'call, T>, y: GlobalMut<'call, T>, width: usize, height: usize) {
            /// No transpose: the textbook's blocks copy x, the baseline.
            copy,
            /// The copy through shared memory.
            copy_tile,
            /// Reads along rows, writes along columns.
            naive,
            /// A tile in shared memory, so that both reads and writes follow rows.
            tile,
            /// A tile whose rows are one element longer, so that its columns have no bank conflicts.
            padded,
            /// 16-byte accesses, larger tiles, several loads in flight. Separate kernels serve any size and address.
            vectorised = transpose_vectorised
            + plain::transpose_plain<128>
            + plain::transpose_plain<256>
            + plain::transpose_plain<512>
            + unaligned::transpose_unaligned
            + unaligned::transpose_gathered,
        }
    }
}

/// The number of elements of a tile that one thread moves.
const PER_THREAD: usize = TILE / BLOCK_ROWS;

/// Traps if `x` or `y` does not have `width * height` elements. After this call, accesses below `width * height` are in
/// bounds.
#[inline(always)]
#[track_caller]
fn assert_size<T: Element>(x: &Global<T>, y: &GlobalMut<T>, width: usize, height: usize) {
    assert!(width.checked_mul(height) == Some(x.len()) && y.len() == x.len());
}

/// Traps if the block does not have 32 × 8 threads. All rungs except the last require this.
#[inline(always)]
#[track_caller]
fn assert_block() {
    assert!(thread::block_dim_x() as usize == TILE && thread::block_dim_y() as usize == BLOCK_ROWS);
}

/// Returns the column and row of the block's tile in the grid of tiles. The column is the block's number along x. The
/// row counts along y and then along z, because a grid has at most 65535 blocks along y.
#[inline(always)]
fn tile_of_block() -> (usize, usize) {
    let (y, z) = (thread::block_idx_y() as usize, thread::block_idx_z() as usize);
    (thread::block_idx_x() as usize, z * thread::grid_dim_y() as usize + y)
}

/// Returns the column of the thread's elements in the tile, and the row of the first of these elements.
#[inline(always)]
fn place_in_tile() -> (usize, usize) {
    // In a block of 32 × 8 threads, the remainders never change the values. They let the compiler see the bounds, so
    // that it omits index checks.
    (thread::thread_idx_x() as usize % TILE, thread::thread_idx_y() as usize % BLOCK_ROWS)
}

/// The positions of a thread's elements in a matrix: every [`BLOCK_ROWS`]-th row of one column of a tile.
#[derive(Clone, Copy)]
struct Strip {
    column: usize,
    row: usize,
    width: usize,
    height: usize,
}

impl Strip {
    /// Returns this thread's strip of the tile at `tile_column` and `tile_row` in a matrix of `width` × `height`
    /// elements.
    #[inline(always)]
    fn new(tile_column: usize, tile_row: usize, width: usize, height: usize) -> Self {
        let (tx, ty) = place_in_tile();
        Self { column: tile_column * TILE + tx, row: tile_row * TILE + ty, width, height }
    }

    /// Returns the strip of the thread at the same column in the mirrored row of threads. The last row mirrors the
    /// first, the second-to-last row mirrors the second, and so on.
    #[inline(always)]
    fn mirrored(self) -> Self {
        let (_, ty) = place_in_tile();
        Self { row: self.row - ty + (BLOCK_ROWS - 1 - ty), ..self }
    }

    /// Loads and returns all elements of the strip. Skips positions outside the matrix.
    ///
    /// # Safety
    /// `x` must have `width * height` elements.
    #[inline(always)]
    unsafe fn load<T: Element>(self, x: &Global<T>) -> [T; PER_THREAD] {
        core::array::from_fn(|i| {
            let row = self.row + i * BLOCK_ROWS;
            if self.column < self.width && row < self.height {
                // SAFETY: the row and the column are in the matrix, and by this function's contract `x` has all its
                // elements.
                unsafe { x.load_unchecked(row * self.width + self.column) }
            } else {
                T::zeroed()
            }
        })
    }

    /// Stores the strip's elements. Skips positions outside the matrix.
    ///
    /// # Safety
    /// `y` must have `width * height` elements.
    #[inline(always)]
    unsafe fn store<T: Element>(self, y: &GlobalMut<T>, values: [T; PER_THREAD]) {
        for i in 0..PER_THREAD {
            let row = self.row + i * BLOCK_ROWS;
            if self.column < self.width && row < self.height {
                // SAFETY: the row and the column are in the matrix, and by this function's contract `y` has all its
                // elements.
                unsafe { y.store_unchecked(row * self.width + self.column, values[i]) };
            }
        }
    }
}
