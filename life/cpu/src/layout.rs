//! The position of each cell's bit in the vectors of a row.

use std::ops::Range;

use crate::GENERATIONS_PER_PASS;
use crate::vector::Block;

/// The maximum number of columns of a strip. The sums of two rows of this length fit a core's first-level cache.
const MAX_STRIP_COLUMNS: usize = 16384;

/// The arrangement of a board's columns in vectors of `N` words. Within a strip, bit b of vector k is column b ·
/// `vectors` + k.
pub struct Layout<const N: usize> {
    /// The number of columns of the board.
    pub width: usize,
    pub strips: usize,
    /// The number of columns that a strip owns, without margins. The last strip may own fewer.
    strip_columns: usize,
    /// The number of extra columns on each side of a strip, which are copies of other columns. The number is 0 if a row
    /// consists of one strip whose two ends are neighbours.
    pub margin: usize,
    /// The number of vectors in a row of a strip.
    pub vectors: usize,
}

/// The position of a cell within a row: its vector, word and bit.
#[derive(Clone, Copy)]
pub struct CellPosition {
    vector: usize,
    word: usize,
    bit: usize,
}

impl CellPosition {
    pub fn get<const N: usize>(self, row: &[Block<N>]) -> u64 {
        row[self.vector].0[self.word] >> self.bit & 1
    }

    pub fn put<const N: usize>(self, row: &mut [Block<N>], cell: u64) {
        let word = &mut row[self.vector].0[self.word];
        *word = *word & !(1 << self.bit) | cell << self.bit;
    }
}

/// Returns `count` cells of `words` as bits, from column `column` on. `count` must be at most 64.
pub fn bits_of(words: &[u32], column: usize, count: usize) -> u64 {
    let word = |i: usize| u128::from(words.get(column / 32 + i).copied().unwrap_or(0));
    let bits = (word(0) | word(1) << 32 | word(2) << 64) >> (column % 32);
    bits as u64 & low_bits(count)
}

/// Returns a mask of the lowest `count` bits. If `count` is 64 or more, all 64 bits are set.
pub fn low_bits(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

/// Writes `bits` to the cells of `words` from column `column` on. These cells must be dead before.
pub fn put_bits(words: &mut [u32], column: usize, bits: u64) {
    let bits = u128::from(bits) << (column % 32);
    for (i, word) in words.iter_mut().skip(column / 32).take(3).enumerate() {
        *word |= (bits >> (32 * i)) as u32;
    }
}

/// A cell in the margins of a strip, and the cell that is copied into it.
pub struct MarginCell {
    pub to: CellPosition,
    /// The column of the margin cell on the board, which may be beyond the board's edges.
    pub column: isize,
    pub from_strip: usize,
    pub from: CellPosition,
}

impl<const N: usize> Layout<N> {
    pub fn of(width: usize, is_ring: bool) -> Self {
        let bits = Block::<N>::BITS;
        if is_ring && width.is_multiple_of(bits) && width <= MAX_STRIP_COLUMNS {
            return Self { width, strips: 1, strip_columns: width, margin: 0, vectors: width / bits };
        }
        let strips = width.div_ceil(MAX_STRIP_COLUMNS - 2 * GENERATIONS_PER_PASS);
        let strip_columns = width.div_ceil(strips);
        // Because the length of a strip is rounded up, the last strips may have no columns.
        let strips = width.div_ceil(strip_columns);
        let vectors = (strip_columns + 2 * GENERATIONS_PER_PASS).div_ceil(bits);
        Self { width, strips, strip_columns, margin: GENERATIONS_PER_PASS, vectors }
    }

    /// Returns the columns of the board that strip `strip` owns.
    pub fn columns(&self, strip: usize) -> Range<usize> {
        strip * self.strip_columns..((strip + 1) * self.strip_columns).min(self.width)
    }

    /// Returns the position of a column of a strip. Column 0 is the first column that the strip owns.
    pub fn position_in(&self, column: isize) -> CellPosition {
        let column = (column + self.margin as isize) as usize;
        let (bit, vector) = (column / self.vectors, column % self.vectors);
        CellPosition { vector, word: bit / 64, bit: bit % 64 }
    }

    /// Returns the strip that owns a column of the board, and the column's position in that strip.
    pub fn position(&self, column: usize) -> (usize, CellPosition) {
        let strip = column / self.strip_columns;
        (strip, self.position_in((column - strip * self.strip_columns) as isize))
    }

    /// Calls `exchange` for each square of up to 64 × 64 cells. A square consists of one word of each of up to 64
    /// adjacent vectors. Bit b of these words contains run b, which is a run of adjacent columns. `exchange` receives
    /// the first vector, the index of the word, and a function that describes a run by its number. This function
    /// returns three numbers: the first column of the run that the strip owns, the number of columns of the run that
    /// the strip owns, and the number of columns of the run before the first of these.
    fn squares(&self, columns: usize, mut exchange: impl FnMut(usize, usize, &dyn Fn(usize) -> (usize, usize, usize))) {
        for word in 0..N {
            for vector in (0..self.vectors).step_by(64) {
                let len = (self.vectors - vector).min(64);
                exchange(vector, word, &|bit| {
                    let begin = (64 * word + bit) * self.vectors + vector;
                    let own = begin.max(self.margin)..(begin + len).min(self.margin + columns);
                    (own.start.saturating_sub(self.margin), own.len(), own.start - begin)
                });
            }
        }
    }

    /// Copies cells of `words`, which is a row of the board, into the vectors of a strip's row. `columns` selects the
    /// cells. Cells beyond the end of `words` are dead.
    pub fn spread(&self, words: &[u32], columns: Range<usize>, row: &mut [Block<N>]) {
        self.squares(columns.len(), |vector, word, run| {
            let mut square = std::array::from_fn(|bit| {
                let (column, count, before) = run(bit);
                if count == 0 { 0 } else { bits_of(words, columns.start + column, count) << before }
            });
            transpose(&mut square);
            for (block, bits) in row[vector..].iter_mut().zip(square) {
                block.0[word] = bits;
            }
        });
    }

    /// Copies the cells of a strip's row to `columns` of `words`, which is a row of the board. These columns must be
    /// dead on entry.
    pub fn gather(&self, row: &[Block<N>], columns: Range<usize>, words: &mut [u32]) {
        self.squares(columns.len(), |vector, word, run| {
            let mut square = [0; 64];
            for (bits, block) in square.iter_mut().zip(&row[vector..]) {
                *bits = block.0[word];
            }
            transpose(&mut square);
            for (bit, bits) in square.into_iter().enumerate() {
                let (column, count, before) = run(bit);
                if count > 0 {
                    put_bits(words, columns.start + column, bits >> before & low_bits(count));
                }
            }
        });
    }

    /// Returns the number of live cells among the first `columns` columns that the strip owns.
    pub fn population(&self, row: &[Block<N>], columns: usize) -> u64 {
        let mut live = 0;
        self.squares(columns, |vector, word, run| {
            let all = row[vector..].iter().take(64).map(|block| block.0[word]);
            // In most squares, every cell belongs to the strip.
            let len = (self.vectors - vector).min(64);
            if run(0).1 == len && run(63).1 == len {
                live += all.map(|bits| u64::from(bits.count_ones())).sum::<u64>();
                return;
            }
            for (k, bits) in all.enumerate() {
                let is_own = |bit: usize| {
                    let (_, count, before) = run(bit);
                    (before..before + count).contains(&k)
                };
                live += (0..64).filter(|&bit| bits >> bit & 1 != 0 && is_own(bit)).count() as u64;
            }
        });
        live
    }

    /// Returns the margin cells of `strip` in order of their distance from the strip. Each pair consists of a cell on
    /// the left and a cell on the right.
    pub fn margin_cells(&self, strip: usize) -> Vec<[MarginCell; 2]> {
        let columns = self.columns(strip);
        let copied = |column: isize| {
            let (from_strip, from) = self.position(column.rem_euclid(self.width as isize) as usize);
            MarginCell { to: self.position_in(column - columns.start as isize), column, from_strip, from }
        };
        let pair = |i: isize| [columns.start as isize - i, columns.end as isize - 1 + i].map(copied);
        (1..=self.margin as isize).map(pair).collect()
    }
}

/// Transposes a square of bits: bit b of word k becomes bit k of word b.
fn transpose(square: &mut [u64; 64]) {
    let mut mask = u64::MAX >> 32;
    let mut half = 32;
    while half > 0 {
        for k in (0..64).filter(|k| k & half == 0) {
            let swapped = (square[k] >> half ^ square[k + half]) & mask;
            square[k] ^= swapped << half;
            square[k + half] ^= swapped;
        }
        half /= 2;
        mask ^= mask << half;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposing_exchanges_bits_and_words() {
        let mut square: [u64; 64] = std::array::from_fn(|k| (k as u64 + 3).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let before = square;
        transpose(&mut square);
        for (k, before) in before.into_iter().enumerate() {
            for (bit, after) in square.into_iter().enumerate() {
                assert_eq!(after >> k & 1, before >> bit & 1);
            }
        }
    }

    #[test]
    fn every_cell_has_its_position() {
        for width in [1, 63, 100, 256, 480, 481, 512, 1000, 16384, 16385, 40000, 65536] {
            let layout = Layout::<4>::of(width, true);
            let mut words = vec![0; width.div_ceil(32)];
            for column in [0, width / 3, width / 2, width - 1] {
                words[column / 32] = 1 << (column % 32);
                let (strip, position) = layout.position(column);
                let mut row = vec![Block::DEAD; layout.vectors];
                layout.spread(&words, layout.columns(strip), &mut row);
                assert_eq!(position.get(&row), 1, "{width}: {column}");
                assert_eq!(layout.population(&row, layout.columns(strip).len()), 1);
                let mut gathered = vec![0; words.len()];
                layout.gather(&row, layout.columns(strip), &mut gathered);
                assert_eq!(gathered, words, "{width}: {column}");
                words[column / 32] = 0;
            }
        }
    }
}
