//! Resident: the blocks of the grid together keep the whole board in registers. One launch computes any number of
//! generations.
//!
//! As in [`life_temporal()`](super::life_temporal()), a block has a tile that is 32 words wide, including a margin.
//! Here the tiles are so small that all blocks run at the same time. The blocks exchange margins after as many
//! generations as the margin has rows. In an exchange, a block publishes the words that other blocks need for their
//! margins. It then waits for the words that it needs. A block synchronises only with the blocks around it, and there
//! is no grid-wide barrier. The kernel is limited by the latency of the L2 cache, and by the margins, which are a large
//! part of small tiles. The board must fit into the registers of all multiprocessors.
//!
//! **Why the kernel needs no fence.** One 64-bit store publishes a word together with the number of its exchange. A
//! thread that reads the expected number therefore also has the word, so all these accesses can be relaxed.
//!
//! **Why no word is lost.** Exchanges with odd and with even numbers use separate words. Block *W* thus overwrites its
//! words of exchange *e* in exchange *e* + 2. By then, every block *R* that reads words of *W* must have read them.
//! This is the case for the following reason. *W* reads words of *R* as well, and has already read those of exchange
//! *e* + 1. *R* published these words after it had read all words of exchange *e*. Between reading and publishing, each
//! block executes a block barrier, so this is true for all its threads.
//!
//! It remains to show that *W* reads words of *R* if *R* reads words of *W*. For rows this is true because the distance
//! between two rows of a torus is symmetric, however many blocks a margin spans. Along x, two neighbouring blocks each
//! read the word next to their own words, which the other block owns. If the last word of a row has fewer than 32
//! cells, the first block and the block with the second-to-last word also read from each other.
//!
//! # Design
//!
//! The numbers of the exchanges continue from one launch to the next, also in a graph, so no memory has to be cleared
//! between launches. A block waits only for the blocks around it.

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

/// The number of words of shared memory in which each warp stores its first and last row for other warps.
const EXCHANGED: usize = 2 * WARPS * LANES;

/// Returns the length of the argument `published` of [`life_resident()`], for a board of `words` words and a grid of
/// `blocks` blocks. The argument has two elements per word, and one per block for the number of its last exchange.
/// Returns `None` if the length overflows.
pub fn resident_published(words: usize, blocks: usize) -> Option<usize> {
    words.checked_mul(2)?.checked_add(blocks)
}

/// Advances `cells` by `generations` generations in one launch and writes the result to `next`. The blocks keep their
/// tiles in registers.
///
/// Both boards must have `height` rows of `⌈width / 32⌉` words. A tile has a margin of `margin` rows, at most
/// [`MAX_MARGIN`], above and below. `published` must have [`resident_published`] elements, zero before the first
/// launch. The host must not change them between launches of the same grid, because the numbers of exchanges continue.
/// Launch cooperatively, with blocks of [`RESIDENT_THREADS`] threads: one block per [`TEMPORAL_WORDS`] words along x,
/// and one block per [`RESIDENT_WARPS`](super::RESIDENT_WARPS) × `ROWS` − 2 × `margin` rows along y.
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
    // True if a block to the left or right needs this lane's word in all rows, not only near the tile's upper and lower
    // edges. If the last word of a row has fewer than 32 cells, a margin contains cells of two words.
    let is_at_side = lane == 1 || lane == own_words || word <= 2 || word + 1 >= words_per_row;
    // Three masks with one bit per row of the thread: the block owns the word; other blocks need the word; the word is
    // in the block's margin.
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
        // A mask of the rows whose words have not arrived yet.
        let mut missing = waited_for;
        while missing != 0 {
            // All loads precede the first use of their results, so that they overlap.
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
    // If there was an exchange, all threads of the block have executed a barrier since they loaded the number of the
    // last exchange. Thread 0 may therefore overwrite this number.
    if generations > margin && thread::thread_idx_x() == 0 {
        published.store(published.len() - blocks + block, u64::from(number));
    }
}
