//! Bit-packed, in vectors of 128 cells: four words of a row at a time, for boards whose rows are whole vectors.
//!
//! What it changes: a thread loads [`VECTOR_ROWS`] rows of a vector of 16 bytes, and the rows above and below them, before
//! it works on the first. So one instruction loads 512 bytes of a row for a warp, and all of the warp's loads are under
//! way at once. The
//! words beside a vector are in the vectors of the neighbouring lanes: they come by shuffle. Only the warp's
//! first and last lane load another word. Limited by memory.
//! Blocks are small, of [`VECTOR_WARPS`] warps: each loads, works and stores once, and the multiprocessor's other blocks load
//! meanwhile.
//! Other shapes that were tried are in `docs/notes/life.md`.
//! Idea: J. Luitjens, "Increase Performance with Vectorized Memory Access" (NVIDIA, 2013), for the stencil of
//! [`life_bitpacked()`](super::life_bitpacked).
//!
//! # Design
//!
//! The kernel serves boards whose width is a multiple of 128. It loads all rows of a thread before the first shuffle.
//! It has no loop over strips, whose constants would take the registers of the rows.

use cuda_std::{Global, GlobalMut, kernel, thread, unroll, warp};

use super::CELLS_PER_WORD;
use super::adder::{Circuit, Conway, Row};
use super::tuning::{VECTOR_ROWS, VECTOR_WARPS};

/// Cells of a vector: the width of a board is a multiple of it.
pub const CELLS_PER_VECTOR: usize = WORDS * CELLS_PER_WORD;

/// Vectors along x that a warp advances.
pub const VECTORS_PER_WARP: usize = warp::SIZE as usize;

/// Threads of a block.
const THREADS: u32 = VECTOR_WARPS * warp::SIZE;

/// Words of a vector.
const WORDS: usize = 4;

/// Rows that a thread loads: its own, the one above and the one below.
const LOADED: usize = VECTOR_ROWS + 2;

/// The vector of a row that a thread works on.
struct Column {
    /// All bits set in the warp's first lane, none in others: a choice by bits takes one instruction and no branch.
    first: u32,
    /// Likewise for the last lane.
    last: u32,
    /// Its index in the row.
    vector: usize,
    /// The word of the row beside the warp's vectors that this lane loads: the one before for lane 0, else the one after.
    beside: usize,
}

impl Column {
    /// Vector `vector` of a row, which may lie beyond the row's end. All such lanes take the row's first vector instead: on the
    /// torus that is the one after the last, and the lane that has the last asks the lane after it.
    #[inline(always)]
    fn new(vector: usize, vectors_per_row: usize) -> Self {
        let lane = warp::lane_id();
        let vector = if vector < vectors_per_row { vector } else { 0 };
        let before = if vector == 0 { vectors_per_row } else { vector } * WORDS - 1;
        let after = if vector + 1 == vectors_per_row { 0 } else { vector + 1 } * WORDS;
        let bits = |lane_is_meant: bool| 0u32.wrapping_sub(u32::from(lane_is_meant));
        let beside = if lane == 0 { before } else { after };
        Self { first: bits(lane == 0), last: bits(lane == warp::SIZE - 1), vector, beside }
    }

    /// Whether this lane has a neighbour that no lane of the warp holds.
    #[inline(always)]
    fn is_edge(&self) -> bool {
        self.first | self.last != 0
    }

    /// Loads this column of the row that starts at vector `start` of the board.
    ///
    /// # Safety
    /// `start` must be that of a row of the board, and the board start at a multiple of a vector's size.
    #[inline(always)]
    unsafe fn load(&self, cells: &Global<u32>, start: usize) -> [u32; WORDS] {
        // SAFETY: a vector of the row that the caller vouches for.
        unsafe { cells.load_vec_unchecked(start + self.vector) }
    }

    /// Loads the word beside the warp's vectors in that row.
    ///
    /// # Safety
    /// As for [`load`](Self::load).
    #[inline(always)]
    unsafe fn load_beside(&self, cells: &Global<u32>, start: usize) -> u32 {
        // SAFETY: a word of the row that the caller vouches for.
        unsafe { cells.load_readonly_unchecked(start * WORDS + self.beside) }
    }

    /// Adds each cell of a row and its neighbours beside it. All lanes of the warp take part.
    #[inline(always)]
    fn add(&self, words: [u32; WORDS], beside: u32) -> [Row; WORDS] {
        let before = warp::shuffle_up(warp::FULL_MASK, words[WORDS - 1], 1);
        let after = warp::shuffle_down(warp::FULL_MASK, words[0], 1);
        let before = before & !self.first | beside & self.first;
        let after = after & !self.last | beside & self.last;
        let [a, b, c, d] = words;
        let row = |before: u32, alive: u32, after: u32| {
            Conway::row(alive << 1 | before >> 31, alive, alive >> 1 | after << 31)
        };
        [row(before, a, b), row(a, b, c), row(b, c, d), row(c, d, after)]
    }
}

/// One generation of 128 cells per vector, added by bitwise logic.
///
/// `next` = the generation after `cells`, both `height` rows of `width / 128` vectors of 16 bytes: `width` is a multiple of
/// [`CELLS_PER_VECTOR`], and both boards start at a multiple of 16 bytes, as whole buffers do. Blocks of 32 ×
/// [`VECTOR_WARPS`] threads: one for every 32 vectors along x, and along y and z one for every strip of [`VECTOR_ROWS`] rows
/// and warp of the block. CUDA's largest grid is too small along y alone for a board of a million rows.
#[kernel(max_threads = 32, wide(loads, stores))]
pub fn life_bitpacked_vectors(cells: Global<u32>, next: GlobalMut<u32>, width: usize, height: usize) {
    const { assert!(THREADS == 32, "it stands in the attribute as well") };
    let vectors_per_row = width / CELLS_PER_VECTOR;
    let words_per_row = vectors_per_row * WORDS;
    assert!(width > 0 && width.is_multiple_of(CELLS_PER_VECTOR));
    assert!(height > 0 && words_per_row.checked_mul(height) == Some(cells.len()) && next.len() == cells.len());
    assert!((cells.as_ptr() as usize | next.as_ptr() as usize).is_multiple_of(size_of::<[u32; WORDS]>()));
    assert!(thread::block_dim_x() == warp::SIZE && thread::block_dim_y() == VECTOR_WARPS);
    let block = thread::block_idx_z() as usize * thread::grid_dim_y() as usize + thread::block_idx_y() as usize;
    let top = (block * VECTOR_WARPS as usize + thread::thread_idx_y() as usize) * VECTOR_ROWS;
    // The same for all lanes of a warp. No loop over strips: its constants would take the registers that the rows need.
    if top >= height {
        return;
    }
    let vector = thread::index_1d();
    let column = Column::new(vector, vectors_per_row);
    let mut rows = [[0; WORDS]; LOADED];
    let mut beside = [0; LOADED];
    // Two paths: away from the torus' seam the rows are a constant apart.
    if top > 0 && top + VECTOR_ROWS < height {
        let first = (top - 1) * vectors_per_row;
        unroll!(I in LOADED => {
            // SAFETY: rows `top - 1` to `top + VECTOR_ROWS` are rows of the board, whose size and alignment were checked.
            rows[I] = unsafe { column.load(&cells, first + I * vectors_per_row) };
        });
        if column.is_edge() {
            unroll!(I in LOADED => {
                // SAFETY: as above.
                beside[I] = unsafe { column.load_beside(&cells, first + I * vectors_per_row) };
            });
        }
    } else {
        let mut row = if top == 0 { height - 1 } else { top - 1 };
        unroll!(I in LOADED => {
            if I != 0 {
                row = if row + 1 == height { 0 } else { row + 1 };
            }
            // SAFETY: a row of the board. Those after the one below the last are not used.
            unsafe {
                rows[I] = column.load(&cells, row * vectors_per_row);
                beside[I] = column.load_beside(&cells, row * vectors_per_row);
            }
        });
    }

    let mut row = column.add(rows[0], beside[0]);
    let mut below = column.add(rows[1], beside[1]);
    unroll!(I in VECTOR_ROWS => {
        let above = row;
        row = below;
        below = column.add(rows[I + 2], beside[I + 2]);
        rows[I] = core::array::from_fn(|k| Conway::next(above[k], row[k], below[k]));
    });

    let store = |i: usize, cells_after: [u32; WORDS]| {
        // SAFETY: called for a row of the board, and a vector in it; the alignment was checked above.
        unsafe { next.store_vec_unchecked((top + i) * vectors_per_row + vector, cells_after) };
    };
    let stored = if vector < vectors_per_row { height - top } else { 0 };
    if stored >= VECTOR_ROWS {
        unroll!(I in VECTOR_ROWS => { store(I, rows[I]) });
    } else {
        unroll!(I in VECTOR_ROWS => {
            if I < stored {
                store(I, rows[I]);
            }
        });
    }
}
