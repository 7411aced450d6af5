//! Other rules than B3/S23, on the boards of the rung `bitpacked`: the launch gives the rule, as tables.
//!
//! | kernel | rules | limited by |
//! |---|---|---|
//! | [`life_counts()`] | those that count neighbours: B36/S23 | memory |
//! | [`life_table()`] | any of two states: hexagonal, isotropic, MAP | some 130 logic operations per word |
//! | [`life_generations()`] | those that count neighbours, and have three or four states: B2/S/C3 | memory |

use cuda_std::{Global, GlobalMut, kernel, thread};

use super::CELLS_PER_WORD;
use super::adder::{Circuit, Counts, Sums, Table};
use super::bitpacked::{Column, Words, advance, strips};
use super::tuning::{AGES_AHEAD, ROWS_AHEAD, ROWS_PER_THREAD};

/// A generation of [`life_bitpacked()`](super::life_bitpacked()) by any rule that counts neighbours. The launch gives its
/// [`COUNT_TABLES`](super::COUNT_TABLES) tables.
#[kernel(
    max_threads = 256,
    allow(local_in_ptx = "the compiler does not unroll the loop over the rows loaded ahead; the assembler does")
)]
pub fn life_counts(cells: Global<u32>, next: GlobalMut<u32>, width: usize, height: usize) {
    advance!(Counts, cells, next, width, height);
}

/// A generation of [`life_bitpacked()`](super::life_bitpacked()) by any rule of two states. The launch gives its
/// [`TABLES`](super::TABLES) tables.
#[kernel(
    max_threads = 256,
    allow(local_in_ptx = "the compiler does not unroll the loop over the rows loaded ahead; the assembler does")
)]
pub fn life_table(cells: Global<u32>, next: GlobalMut<u32>, width: usize, height: usize) {
    advance!(Table, cells, next, width, height);
}

/// A generation by a rule that counts live neighbours, with `states` of three or four: a live cell that does not survive ages
/// through the states from 2 on before it is dead.
///
/// A state has two bits, in boards of their own: `low` and `high`, and after it in `next_low` and `next_high`, all laid out as
/// for [`life_bitpacked()`](super::life_bitpacked()), and so is the grid. The launch gives the
/// [`COUNT_TABLES`](super::COUNT_TABLES) tables of births and survivals.
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
    let words = low.len();
    assert!(height > 0 && width.div_ceil(CELLS_PER_WORD).checked_mul(height) == Some(words) && high.len() == words);
    assert!(next_low.len() == words && next_high.len() == words && (states == 3 || states == 4));
    let ages_twice = if states == 4 { u32::MAX } else { 0 };
    strips!(
        width,
        height,
        AGES_AHEAD,
        |column| |start| {
            // SAFETY: every row asked for is one of the board, whose size was checked above.
            unsafe { [column.load(&low, start), column.load(&high, start)] }
        },
        |[low, high]: [Words; 2]| (column.add::<Counts>(low.and_not(high)), low.alive(), high.alive()),
        |place, (above, ..): (Sums, u32, u32), (row, low, high): (Sums, u32, u32), (below, ..): (Sums, u32, u32)| {
            let lives = Counts::next(above, row, below);
            let ages = high & !low & ages_twice;
            // SAFETY: the place is a word of the board.
            unsafe {
                next_low.store_unchecked(place, (!high & lives | ages) & column.mask());
                next_high.store_unchecked(place, (!high & low & !lives | ages) & column.mask());
            }
        }
    );
}
