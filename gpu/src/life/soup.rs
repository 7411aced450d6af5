//! Random boards ("soups") that the device generates. Each cell is a function of the seed and its position.

use cuda_std::{GlobalMut, kernel, thread};

use super::CELLS_PER_WORD;

/// The increment of SplitMix64, the random number generator: the difference between consecutive inputs of its output
/// function.
pub(super) const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The number of binary digits of a threshold, and so the largest number of random numbers that a pair of words needs.
const DIGITS: u64 = 64;

/// Applies SplitMix64's output function to `value`. Every bit of the result depends on every bit of `value`.
#[inline(always)]
pub fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Returns the 64 cells of word pair number `pair` of a packed board. Pairs are numbered row by row. Each cell is alive
/// with probability `threshold` / 2⁶⁴.
///
/// A cell is alive if a uniform random number is less than `threshold`. The function draws the binary digits of this
/// number, the highest first, until a digit differs from the digit of the threshold. The number is less if its digit is
/// 0 and the threshold's digit is 1. Each draw supplies one digit for each of the 64 cells, and about eight draws
/// decide all cells. The function also stops when the remaining digits of the threshold are 0. The number of an
/// undecided cell can then not be less. Draw `d` is number 64 · `pair` + `d` of the random stream `key`.
#[inline(always)]
pub fn soup_cells(key: u64, pair: u64, threshold: u64) -> u64 {
    let (mut smaller, mut undecided, mut digits) = (0, u64::MAX, threshold);
    let mut input = key.wrapping_add(pair.wrapping_mul(DIGITS).wrapping_mul(STEP));
    while undecided != 0 && digits != 0 {
        let drawn = mix(input);
        if digits >> 63 == 1 {
            smaller |= undecided & !drawn;
            undecided &= drawn;
        } else {
            undecided &= !drawn;
        }
        digits <<= 1;
        input = input.wrapping_add(STEP);
    }
    smaller
}

/// Returns `bits`, a pair of words, with all bits beyond the right edge of the board cleared. `pair_in_row` is the
/// index of the pair in its row.
#[inline(always)]
pub fn on_board(bits: u64, pair_in_row: usize, width: usize) -> u64 {
    let left = width - pair_in_row * 2 * CELLS_PER_WORD;
    if left < 64 { bits & ((1 << left) - 1) } else { bits }
}

/// Fills `words` with `rows` rows of random cells. These are the rows from row `first` on of a packed board of `width`
/// × `height` cells. Row 0 follows the last row. Each cell is alive with probability `threshold` / 2⁶⁴. Launch a
/// one-dimensional grid with up to 256 threads per block.
#[kernel(max_threads = 256)]
pub fn life_soup(
    words: GlobalMut<u32>,
    width: usize,
    height: usize,
    first: usize,
    rows: usize,
    key: u64,
    threshold: u64,
) {
    let words_per_row = width.div_ceil(CELLS_PER_WORD);
    let pairs_per_row = words_per_row.div_ceil(2);
    for i in thread::grid_stride(pairs_per_row * rows) {
        let (y, in_row) = (i / pairs_per_row, i % pairs_per_row);
        let pair = (first + y) % height * pairs_per_row + in_row;
        let bits = on_board(soup_cells(key, pair as u64, threshold), in_row, width);
        let at = y * words_per_row + 2 * in_row;
        words.store(at, bits as u32);
        if 2 * in_row + 1 < words_per_row {
            words.store(at + 1, (bits >> 32) as u32);
        }
    }
}
