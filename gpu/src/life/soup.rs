//! Random boards ("soups"), made on the device: a cell is a function of the seed and of its place.

use cuda_std::{GlobalMut, kernel, thread};

use super::CELLS_PER_WORD;

/// The step between the inputs of SplitMix64's output function.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Digits that a threshold has: so many draws of the stream belong to each pair of words.
const DIGITS: u64 = 64;

/// The output function of SplitMix64: every bit of the result depends on every bit of `value`.
#[inline(always)]
pub fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// The 64 cells of pair of words `pair`, counted row by row, each alive with probability `threshold` / 2⁶⁴.
///
/// Each cell draws the binary digits of a uniform number, the highest first, until one differs from the threshold's digit:
/// the cell's number is the smaller one exactly where that digit is 0 and the threshold's 1. All 64 cells share a draw, and
/// about eight draws settle them all; fewer where the threshold's remaining digits are 0, since a number that has met all
/// its ones cannot be smaller. Draw `d` is number 64 · `pair` + `d` of the stream `key`, whatever was drawn before.
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

/// The words of a row that a pair is in, from the pair's index in the row, and the cells of `bits` that lie on the board.
#[inline(always)]
pub fn on_board(bits: u64, pair_in_row: usize, width: usize) -> u64 {
    let left = width - pair_in_row * 2 * CELLS_PER_WORD;
    if left < 64 { bits & ((1 << left) - 1) } else { bits }
}

/// `words` = `rows` rows, from row `first` on, around and around, of a packed board of `width` × `height` random cells, each alive with
/// probability `threshold` / 2⁶⁴. A one-dimensional grid of blocks of up to 256 threads.
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
