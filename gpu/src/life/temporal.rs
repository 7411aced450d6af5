//! Temporal blocking: many generations per launch, on tiles that are kept in registers.
//!
//! What it changes: a block loads a tile of 32 words × 256 rows, runs up to [`GENERATIONS_PER_LAUNCH`] generations on it,
//! and stores the inner 30 words × 240 rows. A cell depends on the cells outside of the tile only after as many generations as
//! it is cells away from the edge. So memory is read and written once for all these generations, at the price of the margin, which
//! is computed by several blocks. A thread keeps [`ROWS`] rows of one word in registers, gets the words beside it by
//! shuffle, and the rows above and below its warp's through shared memory: one barrier per generation.
//! Limited by arithmetic: some ten three-input logic operations and two funnel shifts per word and generation. Idea:
//! overlapped tiling of stencils in time, as in J. Holewinski, L.-N. Pouchet and P. Sadayappan, "High-Performance Code
//! Generation for Stencil Computations on GPU Architectures" (ICS 2012).

use cuda_std::{Global, GlobalMut, kernel, shared_array, thread, unroll, warp};

use super::CELLS_PER_WORD;
use super::adder::{Circuit, Conway, Row};
use super::tuning::{GENERATIONS_PER_LAUNCH, TEMPORAL_ROWS_PER_THREAD as ROWS, TEMPORAL_WARPS as WARPS};
use crate::collective::LANES;

/// Threads of a block.
pub const TEMPORAL_THREADS: u32 = (WARPS * LANES) as u32;

/// Words along x that a block advances.
pub const TEMPORAL_WORDS: usize = LANES - 2;

/// Rows that a block advances.
pub const TEMPORAL_ROWS: usize = WARPS * ROWS - 2 * MARGIN;

const MARGIN: usize = GENERATIONS_PER_LAUNCH as usize;

/// Words of shared memory that hold the first and last row of each warp.
const EXCHANGED: usize = 2 * WARPS * LANES;

/// `position − back` on a circle of `length`. `back` is at most 32, and `position` less than `length` + 1024, as positions in a
/// tile are. There is no 64-bit division in it, which would be a call.
#[inline(always)]
pub(super) fn back_on_circle(position: usize, back: usize, length: usize) -> usize {
    if length <= 1024 {
        let (position, back, length) = (position as u32, back as u32, length as u32);
        return ((position + back * length - back) % length) as usize;
    }
    let position = if position < back { position + length } else { position } - back;
    if position < length { position } else { position - length }
}

/// The 32 columns of the torus that one thread works on.
pub(super) struct Columns {
    /// The first one, in `0..width`.
    pub(super) first: usize,
    /// Whether they are one whole word.
    pub(super) is_word: bool,
    width: usize,
}

impl Columns {
    /// Those of word `word − 1`, where the words go on past the board's end as the torus does.
    #[inline(always)]
    pub(super) fn before(word: usize, width: usize) -> Self {
        let first = back_on_circle(word * CELLS_PER_WORD, CELLS_PER_WORD, width);
        Self { first, is_word: first.is_multiple_of(CELLS_PER_WORD) && first + CELLS_PER_WORD <= width, width }
    }

    /// Their cells in the row that starts at word `start` of the board, put together from several words.
    ///
    /// # Safety
    /// `start` must be that of a row of the board.
    #[inline(always)]
    pub(super) unsafe fn assemble(&self, cells: &Global<u32>, start: usize) -> u32 {
        // SAFETY: a word of the row that the caller vouches for.
        self.assemble_from(|word| unsafe { cells.load_unchecked(start + word) })
    }

    /// Their cells in the row whose words `load` gives.
    #[inline(always)]
    pub(super) fn assemble_from(&self, mut load: impl FnMut(usize) -> u32) -> u32 {
        let (mut assembled, mut filled, mut column) = (0, 0, self.first);
        while filled < CELLS_PER_WORD {
            let bit = column % CELLS_PER_WORD;
            let run = (CELLS_PER_WORD - filled).min(CELLS_PER_WORD - bit).min(self.width - column);
            let word = load(column / CELLS_PER_WORD);
            assembled |= (word >> bit & (u32::MAX >> (CELLS_PER_WORD - run))) << filled;
            filled += run;
            column = if column + run == self.width { 0 } else { column + run };
        }
        assembled
    }
}

/// A word with the neighbours that the lanes beside this one hold. All lanes of the warp take part.
#[inline(always)]
pub(super) fn with_neighbours(alive: u32) -> Row {
    let before = warp::shuffle_up(warp::FULL_MASK, alive, 1);
    let after = warp::shuffle_down(warp::FULL_MASK, alive, 1);
    Conway::row(alive << 1 | before >> 31, alive, alive >> 1 | after << 31)
}

/// Up to eight generations of 32 cells per word, on tiles in registers whose margins overlap.
///
/// `next` = the board `generations` (at most [`GENERATIONS_PER_LAUNCH`]) after `cells`, both `height` rows of
/// `⌈width / 32⌉` words. Blocks of [`TEMPORAL_THREADS`] threads, one for every [`TEMPORAL_WORDS`] words along x and any number
/// along y: a block takes tiles of that many words and [`TEMPORAL_ROWS`] rows.
#[kernel(max_threads = 512)]
pub fn life_temporal(cells: Global<u32>, next: GlobalMut<u32>, width: usize, height: usize, generations: u32) {
    let words_per_row = width.div_ceil(CELLS_PER_WORD);
    assert!(height > 0 && words_per_row.checked_mul(height) == Some(cells.len()) && next.len() == cells.len());
    assert!(thread::block_dim_x() == TEMPORAL_THREADS && generations <= GENERATIONS_PER_LAUNCH);
    let edges = shared_array![u32; 2 * EXCHANGED];
    let (lane, warp) = (warp::lane_id() as usize, thread::thread_idx_x() as usize / LANES);
    let last_mask = u32::MAX >> (CELLS_PER_WORD - 1 - (width - 1) % CELLS_PER_WORD);
    // Two halves of the shared memory take turns, so that one barrier per generation is enough.
    let mut half = 0;

    let across = thread::block_idx_x() as usize * TEMPORAL_WORDS;
    let mut down = thread::block_idx_y() as usize * TEMPORAL_ROWS;
    let word = across + lane;
    let columns = Columns::before(word, width);
    while across < words_per_row && down < height {
        // The thread's first row, below the top of the tile's margin.
        let top = down + warp * ROWS;
        let mut row = back_on_circle(top, MARGIN, height);
        let mut rows = [0; ROWS];
        // Two paths, so that the loads of the common one are all under way before the first is used.
        if columns.is_word {
            let word = columns.first / CELLS_PER_WORD;
            unroll!(I in ROWS => {
                // SAFETY: `row` is a row of the board, whose size was checked above, and the word is in it.
                rows[I] = unsafe { cells.load_unchecked(row * words_per_row + word) };
                row = if row + 1 == height { 0 } else { row + 1 };
            });
        } else {
            unroll!(I in ROWS => {
                // SAFETY: `row` is a row of the board.
                rows[I] = unsafe { columns.assemble(&cells, row * words_per_row) };
                row = if row + 1 == height { 0 } else { row + 1 };
            });
        }

        for _ in 0..generations {
            let edge = half * EXCHANGED + 2 * warp * LANES + lane;
            half ^= 1;
            // SAFETY: `warp` is below WARPS, and so `edge` and the places of the warps beside, where there are such, are in
            // the array.
            let (above, below) = unsafe {
                edges.store_unchecked(edge, rows[0]);
                edges.store_unchecked(edge + LANES, rows[ROWS - 1]);
                thread::sync_threads();
                // At the tile's own edges any rows will do: they reach the margin alone.
                let above = if warp == 0 { 0 } else { edges.load_unchecked(edge - LANES) };
                let below = if warp == WARPS - 1 { 0 } else { edges.load_unchecked(edge + 2 * LANES) };
                (above, below)
            };
            let mut row_above = with_neighbours(above);
            let mut row = with_neighbours(rows[0]);
            unroll!(I in ROWS => {
                let row_below = with_neighbours(if I + 1 < ROWS { rows[(I + 1) % ROWS] } else { below });
                rows[I] = Conway::next(row_above, row, row_below);
                (row_above, row) = (row, row_below);
            });
        }

        // Lane 0's word is the one before the tile's first.
        let stores = lane > 0 && lane <= TEMPORAL_WORDS && word <= words_per_row;
        let mask = if word == words_per_row { last_mask } else { u32::MAX };
        unroll!(I in ROWS => {
            let in_tile = warp * ROWS + I;
            let y = down + in_tile;
            if stores && (MARGIN..MARGIN + TEMPORAL_ROWS).contains(&in_tile) && y - MARGIN < height {
                // SAFETY: a row of the board, and one of its words.
                unsafe { next.store_unchecked((y - MARGIN) * words_per_row + word - 1, rows[I] & mask) };
            }
        });
        down += thread::grid_dim_y() as usize * TEMPORAL_ROWS;
    }
}
