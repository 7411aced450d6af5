//! Temporal blocking: a launch computes many generations on overlapping tiles in registers.
//!
//! A block loads a tile of 32 words × 256 rows, computes up to [`GENERATIONS_PER_LAUNCH`] generations, and stores the
//! inner 30 words × 240 rows. After *n* generations, the cells outside the tile have affected only cells within *n*
//! cells of the tile's edge. The kernel therefore reads and writes memory once for all these generations, but several
//! blocks compute the same margins. A thread keeps [`ROWS`] rows of one word in registers. It gets neighbouring words
//! from other lanes by shuffles. A warp gets the rows above and below its rows through shared memory, with one barrier
//! per generation.
//!
//! The kernel is limited by arithmetic. It needs about ten logic operations with three inputs and two funnel shifts per
//! word and generation.
//!
//! Idea: overlapped tiling of stencils in time, as in J. Holewinski, L.-N. Pouchet and P. Sadayappan, "High-Performance
//! Code Generation for Stencil Computations on GPU Architectures" (ICS 2012).

use cuda_std::{Global, GlobalMut, kernel, shared_array, thread, unroll, warp};

use super::CELLS_PER_WORD;
use super::adder::{Circuit, Conway, Row};
use super::tuning::{GENERATIONS_PER_LAUNCH, TEMPORAL_ROWS_PER_THREAD as ROWS, TEMPORAL_WARPS as WARPS};
use crate::collective::LANES;

/// The number of threads per block.
pub const TEMPORAL_THREADS: u32 = (WARPS * LANES) as u32;

/// The number of words along x in a block's tile, without the margins.
pub const TEMPORAL_WORDS: usize = LANES - 2;

/// The number of rows in a block's tile, without the margins.
pub const TEMPORAL_ROWS: usize = WARPS * ROWS - 2 * MARGIN;

const MARGIN: usize = GENERATIONS_PER_LAUNCH as usize;

/// The number of words of shared memory in which each warp stores its first and last row for other warps.
const EXCHANGED: usize = 2 * WARPS * LANES;

/// Returns `position − back` on a circle of `length`. `back` must be at most 32, and `position` must be less than
/// `length` + 1024. All positions in a tile satisfy this. The function avoids 64-bit division, which would be a
/// function call.
#[inline(always)]
pub(super) fn back_on_circle(position: usize, back: usize, length: usize) -> usize {
    if length <= 1024 {
        let (position, back, length) = (position as u32, back as u32, length as u32);
        return ((position + back * length - back) % length) as usize;
    }
    let position = if position < back { position + length } else { position } - back;
    if position < length { position } else { position - length }
}

/// The 32 columns of the torus that one thread processes.
pub(super) struct Columns {
    /// The first column, in `0..width`.
    pub(super) first: usize,
    /// True if the columns form one whole word.
    pub(super) is_word: bool,
    width: usize,
}

impl Columns {
    /// Returns the columns of word `word − 1`. Words beyond the end of the row wrap around the torus.
    #[inline(always)]
    pub(super) fn before(word: usize, width: usize) -> Self {
        let first = back_on_circle(word * CELLS_PER_WORD, CELLS_PER_WORD, width);
        Self { first, is_word: first.is_multiple_of(CELLS_PER_WORD) && first + CELLS_PER_WORD <= width, width }
    }

    /// Returns the cells of these columns in the row that starts at word `start` of the board. The cells may come from
    /// several words.
    ///
    /// # Safety
    /// `start` must be the first word of a row of the board.
    #[inline(always)]
    pub(super) unsafe fn assemble(&self, cells: &Global<u32>, start: usize) -> u32 {
        // SAFETY: by this function's contract `start` begins a row, and `word` is in that row.
        self.assemble_from(|word| unsafe { cells.load_unchecked(start + word) })
    }

    /// Returns the cells of these columns in a row. `load` must return the row's word at an index.
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

/// Returns a row's word with the sums of its cells and their left and right neighbours. The neighbouring words come
/// from the neighbouring lanes. All lanes of the warp must call this function.
#[inline(always)]
pub(super) fn with_neighbours(alive: u32) -> Row {
    let before = warp::shuffle_up(warp::FULL_MASK, alive, 1);
    let after = warp::shuffle_down(warp::FULL_MASK, alive, 1);
    Conway::row(alive << 1 | before >> 31, alive, alive >> 1 | after << 31)
}

/// Advances a packed board by up to eight generations, on overlapping tiles in registers.
///
/// Advances `cells` by `generations` generations and writes the result to `next`. `generations` must be at most
/// [`GENERATIONS_PER_LAUNCH`]. Both boards must have `height` rows of `⌈width / 32⌉` words. Launch blocks of
/// [`TEMPORAL_THREADS`] threads: one block per [`TEMPORAL_WORDS`] words along x, and any number of blocks along y. A
/// block processes tiles of that many words and [`TEMPORAL_ROWS`] rows.
#[kernel(max_threads = 512)]
pub fn life_temporal(cells: Global<u32>, next: GlobalMut<u32>, width: usize, height: usize, generations: u32) {
    let words_per_row = width.div_ceil(CELLS_PER_WORD);
    assert!(height > 0 && words_per_row.checked_mul(height) == Some(cells.len()) && next.len() == cells.len());
    assert!(thread::block_dim_x() == TEMPORAL_THREADS && generations <= GENERATIONS_PER_LAUNCH);
    let edges = shared_array![u32; 2 * EXCHANGED];
    let (lane, warp) = (warp::lane_id() as usize, thread::thread_idx_x() as usize / LANES);
    let last_mask = u32::MAX >> (CELLS_PER_WORD - 1 - (width - 1) % CELLS_PER_WORD);
    // Odd and even generations use different halves of the shared memory, so one barrier per generation is enough.
    let mut half = 0;

    let across = thread::block_idx_x() as usize * TEMPORAL_WORDS;
    let mut down = thread::block_idx_y() as usize * TEMPORAL_ROWS;
    let word = across + lane;
    let columns = Columns::before(word, width);
    while across < words_per_row && down < height {
        // The thread's first row, counted from the top of the tile's margin.
        let top = down + warp * ROWS;
        let mut row = back_on_circle(top, MARGIN, height);
        let mut rows = [0; ROWS];
        // There are two paths. In the first and common path, all loads are in flight before the first result is used.
        if columns.is_word {
            let word = columns.first / CELLS_PER_WORD;
            unroll!(I in ROWS => {
                // SAFETY: `row` is a row of the board, whose size was checked above, and the word is in it.
                rows[I] = unsafe { cells.load_unchecked(row * words_per_row + word) };
                row = if row + 1 == height { 0 } else { row + 1 };
            });
        } else {
            unroll!(I in ROWS => {
                // SAFETY: `row` is a row of the board, whose size was checked above.
                rows[I] = unsafe { columns.assemble(&cells, row * words_per_row) };
                row = if row + 1 == height { 0 } else { row + 1 };
            });
        }

        for _ in 0..generations {
            let edge = half * EXCHANGED + 2 * warp * LANES + lane;
            half ^= 1;
            // SAFETY: `warp` is below WARPS, so `edge` is in the array. The positions of the warps above and below are
            // in the array if these warps exist.
            let (above, below) = unsafe {
                edges.store_unchecked(edge, rows[0]);
                edges.store_unchecked(edge + LANES, rows[ROWS - 1]);
                thread::sync_threads();
                // At the upper and lower edge of the tile, any values are acceptable, because they affect only the
                // margin.
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

        // Lane 0 holds the word before the first word of the tile.
        let stores = lane > 0 && lane <= TEMPORAL_WORDS && word <= words_per_row;
        let mask = if word == words_per_row { last_mask } else { u32::MAX };
        unroll!(I in ROWS => {
            let in_tile = warp * ROWS + I;
            let y = down + in_tile;
            if stores && (MARGIN..MARGIN + TEMPORAL_ROWS).contains(&in_tile) && y - MARGIN < height {
                // SAFETY: the row and the word are in the board.
                unsafe { next.store_unchecked((y - MARGIN) * words_per_row + word - 1, rows[I] & mask) };
            }
        });
        down += thread::grid_dim_y() as usize * TEMPORAL_ROWS;
    }
}
