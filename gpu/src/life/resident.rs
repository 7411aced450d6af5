//! Resident: all blocks together hold the board in their registers, and one launch runs any number of generations.
//!
//! What it changes: as [`life_temporal()`](super::life_temporal()), a block has a tile of 32 words with a margin around it. But the tiles are
//! so small that all blocks run at once. After as many generations as the margin has rows, each publishes the words that are in
//! others' margins, and waits for those of its own margin: it meets only the blocks around it, and there is no barrier of the grid.
//! Limited by the latency of the L2, and by the margins, which are a large part of small tiles. For boards that the
//! multiprocessors' registers hold.
//!
//! **Why it needs no fence.** A word is published with the number of the exchange, in one store of 64 bits: who finds the number
//! that it waits for has the word too. So all these accesses are relaxed.
//!
//! **Why no word is lost.** Exchanges with odd and with even numbers have words of their own. Block *W* thus overwrites what it
//! published in exchange *e* in exchange *e* + 2. By then every block *R* that reads words of *W* has read them: *W* reads words of *R* as
//! well, and has found those of exchange *e* + 1, which *R* published after it had all words of exchange *e*. Between reading and publishing each
//! block passes a barrier of its own, so that this holds for all its threads. That *W* reads words of *R* if *R* reads words of *W* is plain
//! for rows: their distance on the circle is the same from both sides, however many blocks are in a margin. Along x a
//! block reads the words beside its own, and the other block those beside its own, which are these; where the last word of a row has
//! fewer than 32 cells, the first block and the one with the last word but one read from each other too.
//!
//! # Design
//!
//! The numbers of the exchanges continue from launch to launch, also in a graph: nothing is cleared between launches. A
//! block waits only for the blocks around it.

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

/// How many words `published` of [`life_resident()`] has for a board of `words` words and a grid of `blocks` blocks: two for each
/// word, and for each block the number of its last exchange. `None` if memory has no room for them.
pub fn resident_published(words: usize, blocks: usize) -> Option<usize> {
    words.checked_mul(2)?.checked_add(blocks)
}

/// Any number of generations in one launch, on tiles that stay in the registers of all blocks at once.
///
/// `next` = the board `generations` after `cells`, both `height` rows of `⌈width / 32⌉` words. Tiles have `margin` rows above and
/// below their own, at most [`MOST_MARGIN`]. `published` has [`resident_published`] words: zeros before the first launch, and
/// before a further one of the same grid what the one before has left there, since the numbers of exchanges go on.
/// A cooperative launch of blocks of [`RESIDENT_THREADS`] threads: one for every [`TEMPORAL_WORDS`] words along x and every
/// [`RESIDENT_WARPS`](super::RESIDENT_WARPS) × `ROWS` − 2 × `margin` rows along y.
#[kernel(max_threads = 512, min_blocks = 2, instances(ROWS = [2, 4]))]
pub fn life_resident<const ROWS: usize>(
    cells: Global<u32>,
    next: GlobalMut<u32>,
    published: GlobalMut<u64>,
    width: usize,
    height: usize,
    generations: u32,
    margin: u32,
) {
    let words_per_row = width.div_ceil(CELLS_PER_WORD);
    let blocks = (thread::grid_dim_x() * thread::grid_dim_y()) as usize;
    assert!(height > 0 && words_per_row.checked_mul(height) == Some(cells.len()) && next.len() == cells.len());
    assert!(resident_published(cells.len(), blocks) == Some(published.len()) && published.len() <= u32::MAX as usize);
    assert!(thread::block_dim_x() == RESIDENT_THREADS && margin > 0 && margin <= MOST_MARGIN);
    let (margin_rows, inner) = (margin as usize, WARPS * ROWS - 2 * margin as usize);
    let edges = shared_array![u32; 2 * EXCHANGED];
    let (lane, warp) = (warp::lane_id() as usize, thread::thread_idx_x() as usize / LANES);
    let across = thread::block_idx_x() as usize * TEMPORAL_WORDS;
    let down = thread::block_idx_y() as usize * inner;
    if across >= words_per_row || down >= height {
        return;
    }
    // Lane 0's word is the one before the tile's first.
    let word = across + lane;
    let (own_words, own_rows) = ((words_per_row - across).min(TEMPORAL_WORDS), (height - down).min(inner));
    let is_own_word = lane > 0 && lane <= own_words;
    // Whether words far from the tile's upper and lower edge are in the margin of a block beside it. If the last word of a row has
    // fewer than 32 cells, margins have cells of two words.
    let is_at_side = lane == 1 || lane == own_words || word <= 2 || word + 1 >= words_per_row;
    // One bit for each row: whether its word is the block's own, whether others need it, and whether it is in the margin.
    let (mut owned, mut needed, mut waited_for) = (0_u32, 0_u32, 0_u32);
    unroll!(I in ROWS => {
        let in_tile = warp * ROWS + I;
        if is_own_word && in_tile >= margin_rows && in_tile < margin_rows + own_rows {
            owned |= 1 << I;
            if is_at_side || in_tile < 2 * margin_rows || in_tile >= own_rows {
                needed |= 1 << I;
            }
        } else if lane <= own_words + 1 && in_tile < own_rows + 2 * margin_rows {
            waited_for |= 1 << I;
        }
    });

    // Places of words are 32 bits wide, since registers are scarce.
    let (all_words, stride) = (cells.len() as u32, words_per_row as u32);
    let first_row = back_on_circle(down + warp * ROWS, margin_rows, height) as u32 * stride;
    let row_after = |row: u32| if row + stride == all_words { 0 } else { row + stride };
    let columns = Columns::before(word, width);
    let column = (columns.first / CELLS_PER_WORD) as u32;
    let mut rows = [0; ROWS];
    let mut row = first_row;
    unroll!(I in ROWS => {
        // SAFETY: `row` is the first word of a row of the board, whose size was checked above, and the column is in it.
        rows[I] = unsafe {
            if columns.is_word {
                cells.load_unchecked((row + column) as usize)
            } else {
                columns.assemble(&cells, row as usize)
            }
        };
        row = row_after(row);
    });

    let block = (thread::block_idx_y() * thread::grid_dim_x() + thread::block_idx_x()) as usize;
    let mut number = published.load(published.len() - blocks + block) as u32;
    let (mut left, mut half) = (generations, 0);
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

        number = number.wrapping_add(1);
        let start = if number.is_multiple_of(2) { 0 } else { all_words };
        let mut row = first_row;
        unroll!(I in ROWS => {
            if needed >> I & 1 != 0 {
                let flagged = u64::from(number) << 32 | u64::from(rows[I]);
                published.store_relaxed((start + row + column) as usize, flagged);
            }
            row = row_after(row);
        });
        // One bit for each row whose word is still missing.
        let mut missing = waited_for;
        while missing != 0 {
            // All loads come before what they bring is looked at.
            let (mut found, mut row) = ([0; ROWS], first_row);
            unroll!(I in ROWS => {
                if missing >> I & 1 != 0 {
                    // SAFETY: the word is one of the board, of which `published` has two.
                    let load = |column| unsafe { published.load_relaxed_unchecked((start + row + column) as usize) };
                    found[I] = if columns.is_word {
                        load(column)
                    } else {
                        let mut flags = 0;
                        let cells = columns.assemble_from(|column| {
                            let found = load(column as u32);
                            flags |= (found >> 32) as u32 ^ number;
                            found as u32
                        });
                        u64::from(number ^ flags) << 32 | u64::from(cells)
                    };
                }
                row = row_after(row);
            });
            unroll!(I in ROWS => {
                if missing >> I & 1 != 0 && (found[I] >> 32) as u32 == number {
                    rows[I] = found[I] as u32;
                    missing ^= 1 << I;
                }
            });
        }
    }

    let last_mask = u32::MAX >> (CELLS_PER_WORD - 1 - (width - 1) % CELLS_PER_WORD);
    let mask = if word == words_per_row { last_mask } else { u32::MAX };
    let mut row = first_row;
    unroll!(I in ROWS => {
        if owned >> I & 1 != 0 {
            // SAFETY: the word is one of the board.
            unsafe { next.store_unchecked((row + column) as usize, rows[I] & mask) };
        }
        row = row_after(row);
    });
    // After an exchange all threads of the block have passed a barrier since they loaded the number.
    if generations > margin && thread::thread_idx_x() == 0 {
        published.store(published.len() - blocks + block, u64::from(number));
    }
}
