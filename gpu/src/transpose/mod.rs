//! The transpose of a matrix: *x* of height × width elements, row after row, becomes *y* of width × height.
//!
//! | rung | idea | limited by |
//! |---|---|---|
//! | [`transpose_copy()`] | no transpose: the same blocks copy *x*, the yardstick | memory |
//! | [`transpose_copy_tile()`] | the copy by way of shared memory: what that costs | memory |
//! | [`transpose_naive()`] | reads along rows, writes down columns | writes: each of a warp goes to another line |
//! | [`transpose_tile()`] | a tile in shared memory: reads and writes along rows | shared memory: its columns lie in one bank |
//! | [`transpose_padded()`] | a tile whose rows are one element longer: no bank conflicts | memory: pieces of 32 elements |
//! | [`transpose_vectorised()`] | 16-byte accesses, larger tiles, several in flight, tiles in the order of *y* | memory |
//! | [`transpose_plain()`] | single elements through small tiles, for matrices of at most some MiB | the latency of memory |
//! | [`transpose_unaligned()`] | the last rung for any size and address: 16-byte stores that begin with sectors | memory |
//! | [`transpose_gathered()`] | the same for large matrices of bytes and halves: 16-byte loads, too | memory |
//!
//! A transpose moves bits and does not look at them: the kernels are built for elements of 1, 2, 4 and 8 bytes, and serve
//! every type of those sizes. Width and height are any. A block takes one tile, and there are blocks for every tile.
//!
//! Floor: every element is read once and written once, at the device's copy speed.
//!
//! Sources: M. Harris, "An Efficient Matrix Transpose in CUDA C/C++", NVIDIA, 2013; G. Ruetsch and P. Micikevicius,
//! "Optimizing Matrix Transpose in CUDA", NVIDIA, 2009.
//!
//! # Design
//!
//! The last rung has two kernels that take any size, and two more for some sizes:
//!
//! - [`transpose_vectorised()`] where 16 bytes divide the rows, the columns and the addresses.
//! - [`transpose_unaligned()`] elsewhere: each column begins at another place in a sector, and a block takes of each
//!   column the rows whose elements fill whole sectors of *y*.
//! - [`transpose_gathered()`] for large matrices of bytes and halves.
//! - [`transpose_plain()`] for smaller matrices of words and double words, in three shapes, the larger for larger
//!   matrices.
//!
//! The host chooses. `tuning.rs` has the shapes of tiles and blocks, and the sizes at which the choice changes.

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
    /// The transpose of a matrix, of elements of 1, 2, 4 or 8 bytes.
    pub enum TransposeRung: transpose {
        /// A call of any rung; of the last, for a matrix of whole vectors.
        pub fn call<'call, T: Bits>(x: Global<'call, T>, y: GlobalMut<'call, T>, width: usize, height: usize) {
            /// No transpose: the textbook's blocks copy x, the yardstick.
            copy,
            /// The copy by way of shared memory.
            copy_tile,
            /// Reads along rows, writes down columns.
            naive,
            /// A tile in shared memory, so that both reads and writes go along rows.
            tile,
            /// A tile whose rows are one element longer, so that its columns meet no bank conflicts.
            padded,
            /// 16-byte accesses, larger tiles, several loads in flight. Any size and address, by a kernel of its own.
            vectorised = transpose_vectorised
            + plain::transpose_plain<128>
            + plain::transpose_plain<256>
            + plain::transpose_plain<512>
            + unaligned::transpose_unaligned
            + unaligned::transpose_gathered,
        }
    }
}

/// Elements of a tile that a thread moves.
const PER_THREAD: usize = TILE / BLOCK_ROWS;

/// Traps unless both views are of a matrix of that size. Accesses below `width * height` are in bounds from there on.
#[inline(always)]
#[track_caller]
fn assert_size<T: Element>(x: &Global<T>, y: &GlobalMut<T>, width: usize, height: usize) {
    assert!(width.checked_mul(height) == Some(x.len()) && y.len() == x.len());
}

/// Traps unless the block has the 32 × 8 threads of all rungs but the last.
#[inline(always)]
#[track_caller]
fn assert_block() {
    assert!(thread::block_dim_x() as usize == TILE && thread::block_dim_y() as usize == BLOCK_ROWS);
}

/// The block's place in a grid of tiles: column and row. The column is the block's number along x. Rows go on along y, and
/// from there along z, because a grid has at most 65535 blocks along y.
#[inline(always)]
fn tile_of_block() -> (usize, usize) {
    let (y, z) = (thread::block_idx_y() as usize, thread::block_idx_z() as usize);
    (thread::block_idx_x() as usize, z * thread::grid_dim_y() as usize + y)
}

/// The column of the tile in which the thread's elements are, and the row of the first.
#[inline(always)]
fn place_in_tile() -> (usize, usize) {
    // In a block of 32 × 8 the remainders change nothing. They show the compiler the bounds, which saves the checks of indices.
    (thread::thread_idx_x() as usize % TILE, thread::thread_idx_y() as usize % BLOCK_ROWS)
}

/// Where a thread's elements of a tile are in a matrix: in one column, every [`BLOCK_ROWS`]-th row.
#[derive(Clone, Copy)]
struct Strip {
    column: usize,
    row: usize,
    width: usize,
    height: usize,
}

impl Strip {
    /// This thread's strip of the tile in `tile_column` and `tile_row` of a matrix of `width` × `height`.
    #[inline(always)]
    fn new(tile_column: usize, tile_row: usize, width: usize, height: usize) -> Self {
        let (tx, ty) = place_in_tile();
        Self { column: tile_column * TILE + tx, row: tile_row * TILE + ty, width, height }
    }

    /// The strip of another thread: the one as far from the block's last row of threads as this thread is from the first.
    #[inline(always)]
    fn mirrored(self) -> Self {
        let (_, ty) = place_in_tile();
        Self { row: self.row - ty + (BLOCK_ROWS - 1 - ty), ..self }
    }

    /// Loads the strip's elements, all of them before the first is used; nothing where the matrix has ended.
    ///
    /// # Safety
    /// `x` must have `width * height` elements.
    #[inline(always)]
    unsafe fn load<T: Element>(self, x: &Global<T>) -> [T; PER_THREAD] {
        core::array::from_fn(|i| {
            let row = self.row + i * BLOCK_ROWS;
            if self.column < self.width && row < self.height {
                // SAFETY: a row and a column of the matrix.
                unsafe { x.load_unchecked(row * self.width + self.column) }
            } else {
                T::zeroed()
            }
        })
    }

    /// Stores the strip's elements; nothing where the matrix has ended.
    ///
    /// # Safety
    /// `y` must have `width * height` elements.
    #[inline(always)]
    unsafe fn store<T: Element>(self, y: &GlobalMut<T>, values: [T; PER_THREAD]) {
        for i in 0..PER_THREAD {
            let row = self.row + i * BLOCK_ROWS;
            if self.column < self.width && row < self.height {
                // SAFETY: a row and a column of the matrix.
                unsafe { y.store_unchecked(row * self.width + self.column, values[i]) };
            }
        }
    }
}
