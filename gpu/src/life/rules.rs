//! Kernels for rules other than B3/S23, on packed boards (32 cells per word). The rule is an argument of the launch, in
//! the form of tables.
//!
//! | kernel | rules | limited by |
//! |---|---|---|
//! | [`life_counts()`] | rules that count neighbours: B36/S23 | memory |
//! | [`life_table()`] | any rule of two states: hexagonal, isotropic, MAP | about 130 logic operations per word |
//! | [`life_generations()`] | rules that count neighbours, with three or four states: B2/S/C3 | memory |

use cuda_std::{Global, GlobalMut, kernel, thread, warp};

use super::CELLS_PER_WORD;
use super::adder::{Circuit, Counts, Table};
use super::bitpacked::{Column, Words, advance, strips};
use super::tuning::{AGES_AHEAD, ROWS_AHEAD, ROWS_PER_THREAD};
use crate::collective::LANES;

/// Computes one generation by any rule that counts live neighbours. In all other respects, the kernel is the same as
/// [`life_bitpacked()`](super::life_bitpacked()). The rule is given as [`COUNT_TABLES`](super::COUNT_TABLES) tables.
#[kernel(
    max_threads = 256,
    allow(local_in_ptx = "the compiler does not unroll the loop over the rows loaded ahead; the assembler does")
)]
pub fn life_counts(cells: Global<u32>, next: GlobalMut<u32>, width: usize, height: usize) {
    advance!(Counts, cells, next, width, height);
}

/// Computes one generation by any rule of two states. In all other respects, the kernel is the same as
/// [`life_bitpacked()`](super::life_bitpacked()). The rule is given as [`TABLES`](super::TABLES) tables.
#[kernel(
    max_threads = 256,
    allow(local_in_ptx = "the compiler does not unroll the loop over the rows loaded ahead; the assembler does")
)]
pub fn life_table(cells: Global<u32>, next: GlobalMut<u32>, width: usize, height: usize) {
    advance!(Table, cells, next, width, height);
}

/// The number of words along x that a block of [`life_generations()`] advances. The first and the last lane only load
/// the words to the left and right of these words.
pub const AGES_WORDS: usize = LANES - 2;

/// Computes one generation by a rule that counts live neighbours and has three or four `states`. A live cell (state 1)
/// that does not survive passes through the states from 2 on, one per generation, before it is dead (state 0).
///
/// A state has two bits, which are in separate boards: `low` and `high` are the present states, `next_low` and
/// `next_high` the next generation. All boards have the layout of [`life_bitpacked()`](super::life_bitpacked()). A lane
/// gets the words to the left and right of its word from the neighbouring lanes. Launch blocks of 32 threads along x,
/// one block per [`AGES_WORDS`] words. The rule is given as [`COUNT_TABLES`](super::COUNT_TABLES) tables of births and
/// survivals.
#[kernel(max_threads = 256)]
pub fn life_generations(
    low: Global<u32>,
    high: Global<u32>,
    next_low: GlobalMut<u32>,
    next_high: GlobalMut<u32>,
    width: usize,
    height: usize,
    states: u32,
) {
    let (words, words_per_row) = (low.len(), width.div_ceil(CELLS_PER_WORD));
    assert!(height > 0 && words_per_row.checked_mul(height) == Some(words) && high.len() == words);
    assert!(next_low.len() == words && next_high.len() == words && (states == 3 || states == 4));
    assert!(thread::block_dim_x() == warp::SIZE);
    let ages_twice = if states == 4 { u32::MAX } else { 0 };
    let lane = thread::thread_idx_x() as usize;
    // The first lane has the word before the block's first word. At the left edge, this is the last word of the row.
    let after = thread::block_idx_x() as usize * AGES_WORDS + lane;
    let word = (after + words_per_row - 1) % words_per_row;
    let is_own = lane > 0 && lane <= AGES_WORDS && after <= words_per_row;
    let column = Column::new(word, width, words_per_row);
    let load = |row: usize| {
        // SAFETY: `strips` passes only rows of the board, whose size was checked above.
        unsafe { (low.load_unchecked(row * words_per_row + word), high.load_unchecked(row * words_per_row + word)) }
    };
    let add = |(low, high): (u32, u32)| {
        let alive = low & !high;
        let before = warp::shuffle_up(warp::FULL_MASK, alive, 1);
        let after = warp::shuffle_down(warp::FULL_MASK, alive, 1);
        (column.add::<Counts>(Words::new(before, alive, after)), low, high)
    };
    // All lanes of a warp process the same rows, so the loop does not diverge.
    for strip in thread::grid_stride_y(height.div_ceil(ROWS_PER_THREAD)) {
        let (mut y, end) = (strip * ROWS_PER_THREAD, (strip * ROWS_PER_THREAD + ROWS_PER_THREAD).min(height));
        let load_below = |row: usize| load(if row + 1 == height { 0 } else { row + 1 });
        let mut above = add(load(if y == 0 { height - 1 } else { y - 1 })).0;
        let mut row = add(load(y));
        let mut advance = |y: usize, words| {
            let below = add(words);
            let (sums, low, high) = row;
            let lives = Counts::next(above, sums, below.0);
            let ages = high & !low & ages_twice;
            let place = y * words_per_row + word;
            if is_own {
                // SAFETY: the index is the index of a word of the board.
                unsafe {
                    next_low.store_unchecked(place, (!high & lives | ages) & column.mask());
                    next_high.store_unchecked(place, (!high & low & !lives | ages) & column.mask());
                }
            }
            (above, row) = (sums, below);
        };
        while y + AGES_AHEAD <= end {
            // With a loop, the compiler would keep the array in local memory.
            let [a, b, c, d, e, f, g, h]: [_; AGES_AHEAD] = core::array::from_fn(|i| load_below(y + i));
            advance(y, a);
            advance(y + 1, b);
            advance(y + 2, c);
            advance(y + 3, d);
            advance(y + 4, e);
            advance(y + 5, f);
            advance(y + 6, g);
            advance(y + 7, h);
            y += AGES_AHEAD;
        }
        while y < end {
            advance(y, load_below(y));
            y += 1;
        }
    }
}
