//! Resident: all blocks together keep the board in their registers, and one launch computes any number of generations.
//!
//! As in [`life_temporal()`](super::life_temporal()), a block has a tile of 32 words with a margin around it. Here the
//! tiles are so small that all blocks run at once. After as many generations as the margin has rows, each block
//! publishes the words that other blocks have in their margins. It then waits for the words of its own margin. A block
//! synchronises only with the blocks around it, and there is no grid-wide barrier. The kernel is limited by the latency
//! of the L2 cache, and by the margins, which are a large part of small tiles. The rung is for boards that fit into the
//! registers of all multiprocessors.
//!
//! **Why it needs no fence.** A word and the number of its exchange are published in one 64-bit store. A thread that
//! reads the expected number has the word too, so all these accesses are relaxed.
//!
//! **Why no word is lost.** Exchanges with odd and with even numbers use separate words. Block *W* thus overwrites its
//! words of exchange *e* in exchange *e* + 2. By then, every block *R* that reads words of *W* has read them. The
//! reason is that *W* reads words of *R* as well, and has read those of exchange *e* + 1. *R* published these after it
//! had read all words of exchange *e*. Between reading and publishing, each block executes a block barrier, so the
//! argument holds for all its threads.
//!
//! It remains to show that *W* reads words of *R* if *R* reads words of *W*. For rows this holds because their distance
//! on the circle is symmetric, however many blocks a margin spans. Along x, each of two neighbouring blocks reads the
//! words beside its own, which the other block owns. If the last word of a row has fewer than 32 cells, the first block
//! and the block with the last word but one also read from each other.
//!
//! # Design
//!
//! The numbers of the exchanges continue from launch to launch, also in a graph, so no memory is cleared between
//! launches. A block waits only for the blocks around it.

use cuda_std::{Global, GlobalMut, kernel, shared_array, thread, unroll, warp};

use super::CELLS_PER_WORD;
use super::adder::{Circuit, Conway};
use super::temporal::{Columns, TEMPORAL_WORDS, back_on_circle, with_neighbours};
use super::tuning::RESIDENT_WARPS as WARPS;
use crate::collective::LANES;

/// The number of threads per block.
pub const RESIDENT_THREADS: u32 = (WARPS * LANES) as u32;

/// The largest number of rows in the margin of a tile.
pub const MAX_MARGIN: u32 = CELLS_PER_WORD as u32;

/// The number of words of shared memory for the first and last row of each warp.
const EXCHANGED: usize = 2 * WARPS * LANES;

/// Returns the length of `published` in [`life_resident()`] for a board of `words` words and a grid of `blocks` blocks:
/// two elements per word, and one per block for the number of its last exchange. Returns `None` if the length
/// overflows.
pub fn resident_published(words: usize, blocks: usize) -> Option<usize> {
    words.checked_mul(2)?.checked_add(blocks)
}

/// Computes the board `generations` generations after `cells` and writes it to `next`, in one launch. The tiles stay in
/// the registers of all blocks.
///
/// Both boards must have `height` rows of `⌈width / 32⌉` words. Tiles have `margin` rows above and below their own
/// rows, at most [`MAX_MARGIN`]. `published` must have [`resident_published`] elements, zero before the first launch. A
/// further launch of the same grid must find the values of the previous launch, because the numbers of exchanges
/// continue. Launch cooperatively, with blocks of [`RESIDENT_THREADS`] threads: one block per [`TEMPORAL_WORDS`] words
/// along x, and one block per [`RESIDENT_WARPS`](super::RESIDENT_WARPS) × `ROWS` − 2 × `margin` rows along y.
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
    assert!(thread::block_dim_x() == RESIDENT_THREADS && margin > 0 && margin <= MAX_MARGIN);
    let (margin_rows, inner) = (margin as usize, WARPS * ROWS - 2 * margin as usize);
    let edges = shared_array![u32; 2 * EXCHANGED];
    let (lane, warp) = (warp::lane_id() as usize, thread::thread_idx_x() as usize / LANES);
    let across = thread::block_idx_x() as usize * TEMPORAL_WORDS;
    let down = thread::block_idx_y() as usize * inner;
    if across >= words_per_row || down >= height {
        return;
    }
    // Lane 0 holds the word before the first word of the tile.
    let word = across + lane;
    let (own_words, own_rows) = ((words_per_row - across).min(TEMPORAL_WORDS), (height - down).min(inner));
    let is_own_word = lane > 0 && lane <= own_words;
    // True if words far from the tile's upper and lower edges are in the margin of a block to the left or right. If the
    // last word of a row has fewer than 32 cells, a margin contains cells of two words.
    let is_at_side = lane == 1 || lane == own_words || word <= 2 || word + 1 >= words_per_row;
    // Three masks with one bit per row: the block owns its word; other blocks need it; it is in the margin.
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

    // Word indices have 32 bits, because registers are scarce.
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
            // SAFETY: `warp` is below WARPS, so `edge` is in the array, and so are the positions of the warps above and
            // below if these exist.
            let (above, below) = unsafe {
                edges.store_unchecked(edge, rows[0]);
                edges.store_unchecked(edge + LANES, rows[ROWS - 1]);
                thread::sync_threads();
                // At the tile's own edges any rows will do, because they affect only the margin.
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
        // A mask with one bit per row whose word is still missing.
        let mut missing = waited_for;
        while missing != 0 {
            // All loads come before the first use of their results.
            let (mut found, mut row) = ([0; ROWS], first_row);
            unroll!(I in ROWS => {
                if missing >> I & 1 != 0 {
                    // SAFETY: the word is in the board, and `published` has two elements per word.
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
            // SAFETY: the word is in the board.
            unsafe { next.store_unchecked((row + column) as usize, rows[I] & mask) };
        }
        row = row_after(row);
    });
    // After an exchange, all threads of the block have passed a barrier since they loaded the number. Thread 0 may
    // therefore overwrite it.
    if generations > margin && thread::thread_idx_x() == 0 {
        published.store(published.len() - blocks + block, u64::from(number));
    }
}
