//! Resident: all blocks together hold the board in their registers, and one launch runs any number of generations.
//!
//! What it changes: as [`life_temporal()`](super::life_temporal()), a block has a tile of 32 words with a margin around it. But the tiles are
//! so small that all blocks run at once, and after as many generations as the margin has rows each stores its cells, meets
//! the others at a barrier of the grid and loads the margin alone. Limited by the latencies of barriers and of the L2, and by the
//! margins, which are a large part of small tiles. For boards that the multiprocessors' registers hold.

use cuda_std::{Global, GlobalMut, grid, kernel, shared_array, thread, unroll, warp};

use super::CELLS_PER_WORD;
use super::adder::{Circuit, Conway};
use super::temporal::{Columns, TEMPORAL_WORDS, back_on_circle, with_neighbours};
use super::tuning::RESIDENT_WARPS as WARPS;
use crate::collective::LANES;

/// Threads of a block.
pub const RESIDENT_THREADS: u32 = (WARPS * LANES) as u32;

/// The most rows of a tile's margin.
pub const MOST_MARGIN: u32 = CELLS_PER_WORD as u32;

/// Words of shared memory that hold the first and last row of each warp.
const EXCHANGED: usize = 2 * WARPS * LANES;

/// Any number of generations in one launch, on tiles that stay in the registers of all blocks at once.
///
/// The board `generations` after `even`, both `height` rows of `⌈width / 32⌉` words. The boards take turns: it is in `odd` if
/// `⌈generations / margin⌉` is odd, else in `even`. Tiles have `margin` rows above and below their own, at most [`MOST_MARGIN`].
/// A cooperative launch of blocks of [`RESIDENT_THREADS`] threads: one for every [`TEMPORAL_WORDS`] words along x and every
/// [`RESIDENT_WARPS`](super::RESIDENT_WARPS) × `ROWS` − 2 × `margin` rows along y.
#[kernel(
    max_threads = 512,
    min_blocks = 2,
    instances(ROWS = [2, 4]),
    allow(
        local = "the message of a launch that is not cooperative is put together there",
        local_in_ptx = "likewise",
        generic = "likewise"
    )
)]
pub fn life_resident<const ROWS: usize>(
    even: GlobalMut<u32>,
    odd: GlobalMut<u32>,
    width: usize,
    height: usize,
    generations: u32,
    margin: u32,
) {
    let words_per_row = width.div_ceil(CELLS_PER_WORD);
    assert!(height > 0 && words_per_row.checked_mul(height) == Some(even.len()) && odd.len() == even.len());
    assert!(thread::block_dim_x() == RESIDENT_THREADS && margin > 0 && margin <= MOST_MARGIN);
    let inner = WARPS * ROWS - 2 * margin as usize;
    let edges = shared_array![u32; 2 * EXCHANGED];
    let (lane, warp) = (warp::lane_id() as usize, thread::thread_idx_x() as usize / LANES);
    let last_mask = u32::MAX >> (CELLS_PER_WORD - 1 - (width - 1) % CELLS_PER_WORD);
    let across = thread::block_idx_x() as usize * TEMPORAL_WORDS;
    let down = thread::block_idx_y() as usize * inner;
    let (word, first) = (across + lane, warp * ROWS);
    let columns = Columns::before(word, width);
    // Whether a row of the tile is its own, and not its margin's.
    let is_inner = |in_tile: usize| in_tile >= margin as usize && in_tile < margin as usize + inner;
    let in_margin = lane == 0 || lane > TEMPORAL_WORDS;

    let (mut from, mut to, mut left, mut half) = (even, odd, generations, 0);
    let mut rows = [0; ROWS];
    while left > 0 {
        // SAFETY: the same elements. Nobody writes them until all blocks have met once more.
        let cells = unsafe { Global::from_raw_parts(from.as_ptr().cast_const(), from.len(), from.device()) };
        let mut row = back_on_circle(down + first, margin as usize, height);
        unroll!(I in ROWS => {
            if in_margin || left == generations || !is_inner(first + I) {
                // SAFETY: `row` is a row of the board, whose size was checked above, and the word is in it.
                rows[I] = unsafe {
                    if columns.is_word {
                        cells.load_unchecked(row * words_per_row + columns.first / CELLS_PER_WORD)
                    } else {
                        columns.assemble(&cells, row * words_per_row)
                    }
                };
            }
            row = if row + 1 == height { 0 } else { row + 1 };
        });

        let now = left.min(margin);
        for _ in 0..now {
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
        let stores = !in_margin && word <= words_per_row;
        let mask = if word == words_per_row { last_mask } else { u32::MAX };
        unroll!(I in ROWS => {
            let y = down + first + I;
            if stores && is_inner(first + I) && y - (margin as usize) < height {
                // SAFETY: a row of the board, and one of its words.
                unsafe { to.store_unchecked((y - margin as usize) * words_per_row + word - 1, rows[I] & mask) };
            }
        });
        left -= now;
        if left > 0 {
            grid::sync();
        }
        (from, to) = (to, from);
    }
}
