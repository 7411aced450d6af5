//! Conway's Life (B3/S23) on a torus of any width and height.
//!
//! | rung | idea | limited by |
//! |---|---|---|
//! | [`life_global()`] | one thread per cell, global memory, one generation per launch | loads: nine per cell, and a byte of traffic per bit of state |
//! | [`life_block()`] | one block, many generations in one launch, a barrier between them | one multiprocessor; the latency of global memory |
//! | [`life_shared()`] | the same with both boards in shared memory | one multiprocessor; the size of its shared memory |
//! | [`life_bitpacked()`] | 32 cells per word, neighbours added by bitwise logic, one generation per launch | memory |
//! | [`life_bitpacked_vectors()`] | the same rung if a row is whole vectors of 128 cells: four words at once, neighbours by shuffle | memory |
//! | [`life_temporal()`] | packed, many generations per launch on tiles with a margin, in registers | arithmetic |
//! | [`life_resident()`] | the same, all tiles at once; neighbouring tiles exchange margins: one launch | latencies; the registers of all multiprocessors |
//! | [`life_streaming()`] | interleaved bits, a warp walks down a strip of rows, generations are pipeline stages in registers | logic: eight operations per word |
//!
//! A board has one of three layouts. The first three kernels store a cell as a byte (0 or 1), in row-major order. The
//! next four store 32 cells of a row in a word, with the leftmost cell in bit 0. Each row starts at a new word, and the
//! bits beyond its end are 0. [`life_pack()`] and [`life_unpack()`] convert between these two layouts.
//! [`life_population_cells()`] and [`life_population_words()`] count live cells. The last kernel stores interleaved
//! cells ([`Interleaved`]). [`life_soup()`] makes a random board, [`life_hash_words()`] and
//! [`life_hash_interleaved()`] compute the hash of a board, and [`life_changes_words()`] counts births and deaths.
//! [`life_soup_census()`] runs many small soups on the plane at once and counts the objects that they leave.
//!
//! On a torus that is one or two cells wide or high, a cell may be its own neighbour, or another cell may be its
//! neighbour twice. The kernels count each of the eight directions separately.
//!
//! Floor (the least possible time) of a generation: the device reads and writes every cell once. For a packed board,
//! this is a quarter of a byte per cell.
//!
//! Sources: B. Tuomanen, "Hands-On GPU Programming with Python and CUDA", ch. 4 and 5, for the first three.

pub mod tuning;

pub use adder::{COUNT_TABLES, TABLES};
pub use tuning::{
    DEEPEST, GENERATIONS_PER_LAUNCH, RESIDENT_WARPS, ROWS_PER_THREAD, STREAMING_ROWS, STREAMING_WARPS, VECTOR_ROWS,
    VECTOR_WARPS,
};

mod adder;

pub use bitpacked_vectors::{CELLS_PER_VECTOR, VECTORS_PER_WARP};
pub use compare::hash_of_word;
pub use interleaved::logic::{Conway, Given, Logic};
pub use interleaved::{CORNERS_SIDE, CORNERS_THREADS, Interleaved, MAX_CELLS_ALONG, Surface, TILE_WORDS};
pub use resident::{MAX_MARGIN, RESIDENT_THREADS, resident_published};
pub use rules::AGES_WORDS;
pub use soup::{mix, on_board, soup_cells};
pub use soups::{
    CENSUS_THREADS, KEY_WORDS, LARGE_WORDS, READY, SHIP_WORDS, SOUP_SIDE, Unfinished, WORK_WORDS, velocity,
};
pub use streaming::ROWS_TOGETHER;
pub use temporal::{TEMPORAL_ROWS, TEMPORAL_THREADS, TEMPORAL_WORDS};

use cuda_std::thread;

cuda_std::ladder! {
    /// Conway's Life on a torus of any width and height.
    pub enum LifeRung: life {
        /// One thread per cell, in global memory, one generation per launch.
        global,
        /// One block, all generations in one launch, in global memory.
        block,
        /// Both boards in shared memory: one block, all generations in one launch.
        shared,
        /// 32 cells per word, added by bitwise logic; vectors of four words.
        bitpacked = life_bitpacked + bitpacked_vectors::life_bitpacked_vectors,
        /// Several generations per launch, on tiles with a margin.
        temporal,
        /// All generations in one launch, on tiles that all blocks together keep in registers.
        resident = life_resident<4> + resident::life_resident<2>,
        /// Generations as stages of a pipeline in registers, down strips of interleaved bits.
        // 6 is `tuning::DEEPEST`.
        streaming = life_streaming<6, Conway> + streaming::life_streaming_torus<Conway>,
    } also {
        interleaved::life_interleave,
        interleaved::life_interleave_rows,
        interleaved::life_deinterleave,
        interleaved::life_edges,
        interleaved::life_edges_of,
        interleaved::life_corners,
        streaming::life_streaming_plane,
        interleaved::life_take_rows,
        interleaved::life_put_rows,
        interleaved::life_population_interleaved,
        interleaved::life_changes_interleaved,
        interleaved::life_hash_interleaved,
        convert::life_pack,
        convert::life_unpack,
        population::life_population_cells,
        population::life_population_words,
        rules::life_counts,
        rules::life_table,
        rules::life_generations,
        soup::life_soup,
        soups::life_soup_census,
        compare::life_hash_words,
        compare::life_changes_words,
    }
}

/// The number of cells in a word of the packed layout.
pub const CELLS_PER_WORD: usize = 32;

/// Returns the next state of a cell from its present state and the number of its live neighbours.
#[inline(always)]
fn next_state(alive: u8, neighbours: u8) -> u8 {
    u8::from(neighbours == 3 || (neighbours == 2 && alive == 1))
}

/// Returns the next state of cell (`x`, `y`) on a torus of bytes. `cell` must return the byte at an index.
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

/// An iterator over the cells of one thread when one block processes the whole board. These are every *n*-th cell from
/// the thread's index on, where *n* is the number of threads. The iterator counts rows and columns, because a division
/// takes longer than the work for a cell.
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
