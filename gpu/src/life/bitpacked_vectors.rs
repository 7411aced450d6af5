//! Bit-packed in vectors of 128 cells: a thread processes four words of a row at once. The rows of the board must be
//! whole vectors.
//!
//! A thread loads one 16-byte vector in each of [`VECTOR_ROWS`] rows, and in the rows above and below them, before it
//! processes the first row. One load instruction of a warp loads 512 bytes of a row, and all loads of the warp overlap.
//! The lane gets the words to the left and right of its vector from the neighbouring lanes by shuffles. Only the first
//! and last lane of a warp load an additional word. The kernel is limited by memory.
//!
//! Blocks are small, with [`VECTOR_WARPS`] warps each. A block loads, computes and stores once. While it computes,
//! other blocks of the multiprocessor load. `docs/notes/life.md` lists other shapes.
//!
//! Source: J. Luitjens, "Increase Performance with Vectorized Memory Access" (NVIDIA, 2013), applied to the stencil of
//! [`life_bitpacked()`](super::life_bitpacked).
//!
//! # Design
//!
//! The kernel serves boards whose width is a multiple of 128. A thread loads all its rows before the first shuffle. The
//! kernel has no loop over strips, because the loop's constants would need registers that the rows need.

use cuda_std::{Global, GlobalMut, kernel, thread, unroll, warp};

use super::CELLS_PER_WORD;
use super::adder::{Circuit, Conway, Row};
use super::tuning::{VECTOR_ROWS, VECTOR_WARPS};

/// The number of cells per vector. The width of a board must be a multiple of this number.
pub const CELLS_PER_VECTOR: usize = WORDS * CELLS_PER_WORD;

/// The number of vectors along x that a warp advances.
pub const VECTORS_PER_WARP: usize = warp::SIZE as usize;

/// The number of threads per block.
const THREADS: u32 = VECTOR_WARPS * warp::SIZE;

/// The number of words per vector.
const WORDS: usize = 4;

/// The number of rows that a thread loads: its own rows, the row above them and the row below them.
const LOADED: usize = VECTOR_ROWS + 2;

/// The position of the vector that a thread processes.
struct Column {
    /// A mask with all bits set in the warp's first lane, and no bit set in the other lanes. With a mask, a selection
    /// takes one instruction and no branch.
    first: u32,
    /// A mask with all bits set in the warp's last lane, and no bit set in the other lanes.
    last: u32,
    /// The index of the thread's vector in its row.
    vector: usize,
    /// The index of the additional word that this lane may load: in lane 0 the word before the warp's vectors, in other
    /// lanes the word after them.
    beside: usize,
}

impl Column {
    /// Returns the column of vector `vector`. If this vector lies beyond the end of the row, the lane takes the first
    /// vector of the row instead. On the torus, the first vector is the right neighbour of the last one, so the lane
    /// with the last vector finds its neighbour in the next lane.
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

    /// Returns true if this lane must load a neighbouring word, because no lane of the warp has this word.
    #[inline(always)]
    fn is_edge(&self) -> bool {
        self.first | self.last != 0
    }

    /// Loads a vector: this column's vector in the row that starts at vector `start` of the board.
    ///
    /// # Safety
    /// `start` must be the first vector of a row of the board, and the board must start at a multiple of a vector's
    /// size.
    #[inline(always)]
    unsafe fn load(&self, cells: &Global<u32>, start: usize) -> [u32; WORDS] {
        // SAFETY: by this function's contract, `start` begins a row and the board is aligned, and the vector is in that
        // row.
        unsafe { cells.load_vec_unchecked(start + self.vector) }
    }

    /// Loads the additional word, before or after the warp's vectors, in the row that starts at vector `start`.
    ///
    /// # Safety
    /// The caller must satisfy the contract of [`load`](Self::load).
    #[inline(always)]
    unsafe fn load_beside(&self, cells: &Global<u32>, start: usize) -> u32 {
        // SAFETY: by this function's contract, `start` begins a row, and the word is in that row.
        unsafe { cells.load_readonly_unchecked(start * WORDS + self.beside) }
    }

    /// Returns the sum of each cell of `words` and its left and right neighbours. `beside` is the result of
    /// [`load_beside`](Self::load_beside). All lanes of the warp must call this function.
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

/// Writes the next generation of `cells` to `next`, 128 cells per vector, by bitwise addition.
///
/// Both boards must have `height` rows of `width / 128` vectors of 16 bytes. `width` must be a multiple of
/// [`CELLS_PER_VECTOR`], and both boards must start at a multiple of 16 bytes, as whole buffers do. Launch blocks of 32
/// × [`VECTOR_WARPS`] threads. Each warp processes 32 vectors of [`VECTOR_ROWS`] rows. The grid has one block per 32
/// vectors along x; its blocks along y and z together must cover all rows. The grid uses z because CUDA's limit along y
/// is too small for a board of a million rows.
#[kernel(max_threads = 32, wide(loads, stores))]
pub fn life_bitpacked_vectors(cells: Global<u32>, next: GlobalMut<u32>, width: usize, height: usize) {
    const { assert!(THREADS == 32, "`max_threads` in the attribute must equal `THREADS`") };
    let vectors_per_row = width / CELLS_PER_VECTOR;
    let words_per_row = vectors_per_row * WORDS;
    assert!(width > 0 && width.is_multiple_of(CELLS_PER_VECTOR));
    assert!(height > 0 && words_per_row.checked_mul(height) == Some(cells.len()) && next.len() == cells.len());
    assert!((cells.as_ptr() as usize | next.as_ptr() as usize).is_multiple_of(size_of::<[u32; WORDS]>()));
    assert!(thread::block_dim_x() == warp::SIZE && thread::block_dim_y() == VECTOR_WARPS);
    let block = thread::block_idx_z() as usize * thread::grid_dim_y() as usize + thread::block_idx_y() as usize;
    let top = (block * VECTOR_WARPS as usize + thread::thread_idx_y() as usize) * VECTOR_ROWS;
    // The condition has the same value in all lanes of a warp. There is no loop over strips, because its constants
    // would occupy registers that the rows need.
    if top >= height {
        return;
    }
    let vector = thread::index_1d();
    let column = Column::new(vector, vectors_per_row);
    let mut rows = [[0; WORDS]; LOADED];
    let mut beside = [0; LOADED];
    // There are two paths. Where no row wraps around the torus, the distance between rows is constant.
    if top > 0 && top + VECTOR_ROWS < height {
        let first = (top - 1) * vectors_per_row;
        unroll!(I in LOADED => {
            // SAFETY: rows `top - 1` to `top + VECTOR_ROWS` are rows of the board, whose size and alignment were
            // checked above.
            rows[I] = unsafe { column.load(&cells, first + I * vectors_per_row) };
        });
        if column.is_edge() {
            unroll!(I in LOADED => {
                // SAFETY: rows `top - 1` to `top + VECTOR_ROWS` are rows of the board, whose size and alignment were
                // checked above.
                beside[I] = unsafe { column.load_beside(&cells, first + I * vectors_per_row) };
            });
        }
    } else {
        let mut row = if top == 0 { height - 1 } else { top - 1 };
        unroll!(I in LOADED => {
            if I != 0 {
                row = if row + 1 == height { 0 } else { row + 1 };
            }
            // SAFETY: the index is the index of a row of the board. The kernel does not use rows further down than the
            // row below its last row.
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
        // SAFETY: the row and the vector are in the board, whose alignment was checked above.
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
