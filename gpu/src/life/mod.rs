//! Conway's Life (B3/S23) on a torus of any width and height.
//!
//! | rung | idea | limited by |
//! |---|---|---|
//! | [`life_global()`] | a thread a cell, global memory, one generation a launch | loads: nine a cell, and a byte of traffic for a bit of state |
//! | [`life_block()`] | one block, many generations in one launch, a barrier between them | one SM; the latency of global memory |
//! | [`life_shared()`] | the same with both boards in shared memory | one SM; the board must fit its shared memory |
//! | [`life_bitpacked()`] | 32 cells a word, neighbours added by bitwise logic, one generation a launch | memory |
//! | [`life_bitpacked_vectors()`] | the same rung where a row is whole vectors of 128 cells: four words at a time, neighbours by shuffle | memory |
//! | [`life_temporal()`] | packed, many generations a launch on tiles with a margin, in registers | arithmetic |
//!
//! The first three keep a cell in a byte (0 or 1), row after row. The others keep 32 cells of a row in a word, the leftmost
//! in bit 0; a row starts on a word of its own, and the bits past its end are 0. [`life_pack()`] and [`life_unpack()`] convert,
//! [`life_population_cells()`] and [`life_population_words()`] count.
//!
//! On a torus one or two cells wide or high a cell is its own neighbour, or the same cell is a neighbour twice: each of
//! the eight directions counts.
//!
//! Floor of a generation: every cell is read once and written once; packed, that is a quarter of a byte a cell.
//!
//! Sources: B. Tuomanen, "Hands-On GPU Programming with Python and CUDA", ch. 4 and 5, for the first three.

mod adder;
mod bitpacked;
mod bitpacked_vectors;
mod block;
mod convert;
mod global;
mod population;
mod shared;
mod temporal;

pub use bitpacked::{ROWS_PER_THREAD, life_bitpacked};
pub use bitpacked_vectors::{CELLS_PER_VECTOR, VECTOR_ROWS, VECTOR_WARPS, VECTORS_PER_WARP, life_bitpacked_vectors};
pub use block::life_block;
pub use convert::{life_pack, life_unpack};
pub use global::life_global;
pub use population::{life_population_cells, life_population_words};
pub use shared::life_shared;
pub use temporal::{GENERATIONS_PER_LAUNCH, TEMPORAL_ROWS, TEMPORAL_THREADS, TEMPORAL_WORDS, life_temporal};

use cuda_std::thread;

cuda_std::kernels! {
    /// Conway's Life on a torus of any width and height.
    life_global,
    life_block,
    life_shared,
    life_bitpacked,
    life_bitpacked_vectors,
    life_temporal,
    life_pack,
    life_unpack,
    life_population_cells,
    life_population_words,
}

/// Cells in a word of the packed layout.
pub const CELLS_PER_WORD: usize = 32;

/// A cell's next state from its present one and the number of its living neighbours.
#[inline(always)]
fn next_state(alive: u8, neighbours: u8) -> u8 {
    u8::from(neighbours == 3 || (neighbours == 2 && alive == 1))
}

/// The next state of cell (`x`, `y`) on a torus of bytes, read by `cell` from an index.
#[inline(always)]
pub(crate) fn next_cell(x: usize, y: usize, width: usize, height: usize, cell: impl Fn(usize) -> u8) -> u8 {
    let left = if x == 0 { width - 1 } else { x - 1 };
    let right = if x + 1 == width { 0 } else { x + 1 };
    let above = width * if y == 0 { height - 1 } else { y - 1 };
    let below = width * if y + 1 == height { 0 } else { y + 1 };
    let row = y * width;
    let neighbours = cell(above + left)
        + cell(above + x)
        + cell(above + right)
        + cell(row + left)
        + cell(row + right)
        + cell(below + left)
        + cell(below + x)
        + cell(below + right);
    next_state(cell(row + x), neighbours)
}

/// The cells of a board that are this thread's when one block works on all of it: its index in the block, then one every
/// block's size. Steps by row and column, because a division costs more than a cell.
#[derive(Clone)]
struct BlockCells {
    x: usize,
    y: usize,
    columns: usize,
    rows: usize,
    width: usize,
    height: usize,
}

impl BlockCells {
    #[inline(always)]
    fn new(width: usize, height: usize) -> Self {
        let (first, step) = (thread::index_in_block() as usize, thread::block_size() as usize);
        Self { x: first % width, y: first / width, columns: step % width, rows: step / width, width, height }
    }
}

impl Iterator for BlockCells {
    type Item = (usize, usize);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, usize)> {
        let (x, y) = (self.x, self.y);
        if y >= self.height {
            return None;
        }
        self.x += self.columns;
        self.y += self.rows;
        if self.x >= self.width {
            self.x -= self.width;
            self.y += 1;
        }
        Some((x, y))
    }
}
