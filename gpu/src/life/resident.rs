//! Resident: all blocks together hold the board in their registers, and one launch runs any number of generations.
//!
//! What it changes: as [`life_temporal()`](super::life_temporal()), a block has a tile of 32 words with a margin around it. But the tiles are
//! so small that all blocks run at once, and after as many generations as the margin has rows each publishes its cells, and reads
//! the margin from the others. Each word is published together with the number of the exchange, in one store: so nobody waits
//! for more than the words that it needs, and no fence is between. Limited by the latency of the L2, and by the margins, which
//! are a large part of small tiles. For boards that the multiprocessors' registers hold.

use cuda_std::bits::lop3;
use cuda_std::{Global, GlobalMut, kernel, shared_array, thread, unroll, warp};

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

/// `place`, which is less than 2³² where it matters, as the compiler cannot know before `exchange`.
#[inline(always)]
fn again(place: usize, exchange: u32) -> usize {
    lop3::<0xf0>(place as u32, exchange, 0) as usize
}

/// A word with the number of its exchange.
fn published(word: u32, exchange: u32) -> u64 {
    u64::from(exchange) << 32 | u64::from(word)
}

/// Any number of generations in one launch, on tiles that stay in the registers of all blocks at once.
///
/// `next` = the board `generations` after `cells`, both `height` rows of `⌈width / 32⌉` words. Exchanges take turns with `even` and
/// `odd`, which have as many words; each block counts its exchanges and those of launches before in `exchanges`, and all have
/// as many when a launch begins. Tiles have `margin` rows above and below their own, at most [`MOST_MARGIN`].
/// A cooperative launch of blocks of [`RESIDENT_THREADS`] threads: one for every [`TEMPORAL_WORDS`] words along x and every
/// [`RESIDENT_WARPS`](super::RESIDENT_WARPS) × `ROWS` − 2 × `margin` rows along y.
#[kernel(max_threads = 512, min_blocks = 2, instances(ROWS = [2, 4]))]
pub fn life_resident<const ROWS: usize>(
    cells: Global<u32>,
    next: GlobalMut<u32>,
    even: GlobalMut<u64>,
    odd: GlobalMut<u64>,
    exchanges: GlobalMut<u32>,
    width: usize,
    height: usize,
    generations: u32,
    margin: u32,
) {
    let words_per_row = width.div_ceil(CELLS_PER_WORD);
    assert!(height > 0 && words_per_row.checked_mul(height) == Some(cells.len()) && next.len() == cells.len());
    assert!(even.len() == cells.len() && odd.len() == cells.len());
    assert!(thread::block_dim_x() == RESIDENT_THREADS && margin > 0 && margin <= MOST_MARGIN);
    let block = (thread::block_idx_y() * thread::grid_dim_x() + thread::block_idx_x()) as usize;
    let edges = shared_array![u32; 2 * EXCHANGED];
    let (lane, warp) = (warp::lane_id() as usize, thread::thread_idx_x() as usize / LANES);
    let inner = WARPS * ROWS - 2 * margin as usize;
    let last_mask = u32::MAX >> (CELLS_PER_WORD - 1 - (width - 1) % CELLS_PER_WORD);
    let across = thread::block_idx_x() as usize * TEMPORAL_WORDS;
    let down = thread::block_idx_y() as usize * inner;
    let (word, first) = (across + lane, warp * ROWS);
    let columns = Columns::before(word, width);
    // Whether a row of the tile is its own, and not its margin's.
    let is_inner = |in_tile: usize| in_tile >= margin as usize && in_tile < margin as usize + inner;
    let in_margin = lane == 0 || lane > TEMPORAL_WORDS;
    // Lane 0's word is the one before the tile's first.
    let is_own = |i: usize| {
        !in_margin && word <= words_per_row && is_inner(first + i) && down + first + i - (margin as usize) < height
    };
    // The word of the board that the lane's first row has, if that is its own.
    let own = ((down + first).wrapping_sub(margin as usize) * words_per_row + word).wrapping_sub(1);
    let mask = if word == words_per_row { last_mask } else { u32::MAX };

    let top = back_on_circle(down + first, margin as usize, height);
    let mut rows = [0; ROWS];
    let mut row = top;
    unroll!(I in ROWS => {
        // SAFETY: `row` is a row of the board, whose size was checked above, and the word is in it.
        rows[I] = unsafe {
            if columns.is_word {
                cells.load_unchecked(row * words_per_row + columns.word())
            } else {
                columns.assemble(row * words_per_row, |word| cells.load_unchecked(word))
            }
        };
        row = if row + 1 == height { 0 } else { row + 1 };
    });

    let (mut left, mut half, mut exchange) = (generations, 0, exchanges.load_relaxed(block));
    loop {
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
        left -= now;
        if left == 0 {
            break;
        }

        exchange = exchange.wrapping_add(1);
        let board = if exchange.is_multiple_of(2) { even } else { odd };
        // The compiler does not know that this changes nothing, or it would keep all rows' addresses in registers.
        let (own, top) = (again(own, exchange), again(top, exchange));
        unroll!(I in ROWS => {
            if is_own(I) {
                board.store_relaxed(own.wrapping_add(I * words_per_row), published(rows[I] & mask, exchange));
            }
        });
        // Whoever publishes into the same board once more has read what was published after these were read.
        loop {
            let (mut row, mut is_there) = (top, true);
            if columns.is_word {
                // All are under way before the first is looked at.
                let mut words = [0; ROWS];
                unroll!(I in ROWS => {
                    words[I] = published(rows[I], exchange);
                    if in_margin || !is_inner(first + I) {
                        // SAFETY: `row` is a row of the board, whose size was checked above, and the word is in it.
                        words[I] = unsafe { board.load_relaxed_unchecked(row * words_per_row + columns.word()) };
                    }
                    row = if row + 1 == height { 0 } else { row + 1 };
                });
                unroll!(I in ROWS => {
                    rows[I] = words[I] as u32;
                    is_there &= (words[I] >> 32) as u32 == exchange;
                });
            } else {
                unroll!(I in ROWS => {
                    if in_margin || !is_inner(first + I) {
                        let load = |word: usize| {
                            // SAFETY: `assemble` asks for words of a row of the board.
                            let word = unsafe { board.load_relaxed_unchecked(word) };
                            is_there &= (word >> 32) as u32 == exchange;
                            word as u32
                        };
                        rows[I] = columns.assemble(row * words_per_row, load);
                    }
                    row = if row + 1 == height { 0 } else { row + 1 };
                });
            }
            if !warp::any(warp::FULL_MASK, !is_there) {
                break;
            }
        }
    }

    unroll!(I in ROWS => {
        if is_own(I) {
            // SAFETY: a row of the board, and one of its words.
            unsafe { next.store_unchecked(own.wrapping_add(I * words_per_row), rows[I] & mask) };
        }
    });
    // All have read theirs.
    thread::sync_threads();
    if thread::thread_idx_x() == 0 {
        exchanges.store_relaxed(block, exchange);
    }
}
