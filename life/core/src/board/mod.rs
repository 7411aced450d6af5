//! Boards with one bit per cell.
//!
//! A row is packed into 32-bit words, in the layout of the bit-packed kernels. A board is therefore copied to and from
//! a device without conversion. A board of 65536 × 65536 cells needs 512 MiB. For rules of more than two states,
//! further words of the same layout store the states.

use std::ops::Range;

use thiserror::Error;

mod hash;
mod states;

pub(crate) use hash::add_hash;
pub use hash::{hash_of_planes, hash_of_words, hash_of_words_from};

/// The number of cells per word.
pub const WORD_BITS: usize = u32::BITS as usize;

/// A board: the states of all cells, with one bit per cell for rules of two states.
///
/// The layout is row-major with `words_per_row = ceil(width / 32)` words per row. Bit 0 of a row's first word is its
/// leftmost cell. The bits of a row's last word beyond the width are always 0.
#[derive(Clone, PartialEq, Eq)]
pub struct Board {
    width: usize,
    height: usize,
    words_per_row: usize,
    words: Vec<u32>,
    /// The ages of the cells for rules of more than two states. The age of a cell is its state minus 1. There is one
    /// vector per bit of the ages, the lowest bit first.
    ages: Vec<Vec<u32>>,
}

/// A run of live cells, as in run-length encoding. The run contains `length` cells of row `y` from column `x` on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    /// The column of the first cell.
    pub x: usize,
    /// The row of all cells.
    pub y: usize,
    /// The number of cells, at least 1.
    pub length: usize,
}

impl Run {
    /// Returns the cells of the run as (column, row), from left to right.
    pub fn cells(self) -> impl Iterator<Item = (usize, usize)> {
        (self.x..self.x + self.length).map(move |x| (x, self.y))
    }
}

/// The reason why a board of a certain size cannot be made.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SizeError {
    /// The width or the height is zero.
    #[error("a board of {width}x{height} has no cells: both sides must be at least 1")]
    Zero {
        /// The number of columns.
        width: usize,
        /// The number of rows.
        height: usize,
    },
    /// The number of cells overflows `usize`.
    #[error("a board of {width}x{height} has too many cells for this machine: use a smaller board")]
    Overflow {
        /// The number of columns.
        width: usize,
        /// The number of rows.
        height: usize,
    },
    /// The words of the board cannot be allocated.
    #[error("a board of {width}x{height} needs {bytes} bytes, which cannot be allocated: use a smaller board")]
    OutOfMemory {
        /// The number of columns.
        width: usize,
        /// The number of rows.
        height: usize,
        /// The number of bytes that the words need.
        bytes: usize,
    },
}

gridstride::debug_as_displayed!(SizeError);

/// The reason why words cannot be converted to a board.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WordsError {
    /// No board has this size.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// The number of words does not match the size.
    #[error("a board of {width}x{height} has {expected} words, but {found} were given")]
    Length {
        /// The number of columns.
        width: usize,
        /// The number of rows.
        height: usize,
        /// The number of words of a board of this size.
        expected: usize,
        /// The number of words that were passed.
        found: usize,
    },
    /// A bit beyond the width is set.
    #[error("the last word of row {row} has bits set beyond the board's width of {width}: they must be 0")]
    Padding {
        /// The first row with a set bit beyond the width.
        row: usize,
        /// The number of columns.
        width: usize,
    },
}

gridstride::debug_as_displayed!(WordsError);

impl Board {
    /// Makes a board of dead cells.
    ///
    /// # Errors
    /// [`SizeError`] if a side is zero, the number of cells overflows, or the memory does not suffice.
    pub fn new(width: usize, height: usize) -> Result<Self, SizeError> {
        let length = words_needed(width, height)?;
        let mut words = Vec::new();
        words.try_reserve_exact(length).map_err(|_| SizeError::OutOfMemory {
            width,
            height,
            bytes: length.saturating_mul(size_of::<u32>()),
        })?;
        words.resize(length, 0);
        Ok(Self { width, height, words_per_row: width.div_ceil(WORD_BITS), words, ages: Vec::new() })
    }

    /// Checks that `width` and `height` are a valid size of a board. Does not check that the memory suffices.
    ///
    /// # Errors
    /// [`SizeError`] if a side is zero or the number of cells overflows.
    pub fn check_size(width: usize, height: usize) -> Result<(), SizeError> {
        words_needed(width, height).map(drop)
    }

    /// Makes a board from `words`: its packed rows, in the layout of [`Board::words`].
    ///
    /// # Errors
    /// [`WordsError`] if no board has this size, if there are not `words_per_row * height` words, or if a bit beyond
    /// the width is set.
    pub fn from_words(width: usize, height: usize, words: Vec<u32>) -> Result<Self, WordsError> {
        let expected = words_needed(width, height)?;
        if words.len() != expected {
            return Err(WordsError::Length { width, height, expected, found: words.len() });
        }
        let words_per_row = width.div_ceil(WORD_BITS);
        let padding = !last_word_mask(width);
        match words.chunks_exact(words_per_row).position(|row| row[words_per_row - 1] & padding != 0) {
            Some(row) => Err(WordsError::Padding { row, width }),
            None => Ok(Self { width, height, words_per_row, words, ages: Vec::new() }),
        }
    }

    /// Returns the number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Returns the number of words per row: the width divided by 32, rounded up.
    pub fn words_per_row(&self) -> usize {
        self.words_per_row
    }

    /// Returns all rows, one after the other. Each row has [`Board::words_per_row`] words.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Converts the board into the words of all its rows, without copying.
    pub fn into_words(self) -> Vec<u32> {
        self.words
    }

    /// Returns the words of row `y`.
    ///
    /// # Panics
    /// If `y` is not less than the height.
    pub fn row(&self, y: usize) -> &[u32] {
        assert!(y < self.height, "row {y} is outside a board of {} rows", self.height);
        &self.words[y * self.words_per_row..][..self.words_per_row]
    }

    /// Returns a copy of `rows` as a board.
    ///
    /// # Errors
    /// [`SizeError`] if `rows` is empty or the memory does not suffice.
    ///
    /// # Panics
    /// If the board lacks one of the rows.
    pub fn part(&self, rows: Range<usize>) -> Result<Self, SizeError> {
        let mut part = Self::with_states(self.width, rows.len(), self.states())?;
        let range = rows.start * self.words_per_row..rows.end * self.words_per_row;
        part.words.copy_from_slice(&self.words[range.clone()]);
        part.ages.iter_mut().zip(&self.ages).for_each(|(part, age)| part.copy_from_slice(&age[range.clone()]));
        Ok(part)
    }

    /// Replaces the rows from `first` on by `rows`, a board of the same width and number of states.
    ///
    /// # Panics
    /// If the board lacks one of the rows.
    pub(crate) fn replace_rows(&mut self, first: usize, rows: &Self) {
        let at = first * self.words_per_row;
        for (words, new) in [&mut self.words].into_iter().chain(&mut self.ages).zip(rows.planes_of_words()) {
            words[at..at + new.len()].copy_from_slice(new);
        }
    }

    /// Returns true if the cell in column `x` of row `y` is not dead.
    ///
    /// # Panics
    /// If the cell is outside the board.
    pub fn get(&self, x: usize, y: usize) -> bool {
        let (word, bit) = self.position(x, y);
        self.words[word] >> bit & 1 == 1
    }

    /// Sets the cell in column `x` of row `y` to alive or dead.
    ///
    /// # Panics
    /// If the cell is outside the board.
    pub fn set(&mut self, x: usize, y: usize, alive: bool) {
        let (word, bit) = self.position(x, y);
        self.words[word] = self.words[word] & !(1 << bit) | u32::from(alive) << bit;
        for age in &mut self.ages {
            age[word] &= !(1 << bit);
        }
    }

    /// Makes the cells of a run alive. The run must not cross the right edge.
    ///
    /// # Panics
    /// If a cell is outside the board.
    pub fn fill_run(&mut self, Run { x, y, length }: Run) {
        assert!(
            y < self.height && x <= self.width && length <= self.width - x,
            "{length} cells from ({x}, {y}) are not within a board of {}x{}",
            self.width,
            self.height
        );
        if length == 0 {
            return;
        }
        if self.states() > 2 {
            return (x..x + length).for_each(|x| self.set(x, y, true));
        }
        let row = &mut self.words[y * self.words_per_row..][..self.words_per_row];
        let (first, last) = (x / WORD_BITS, (x + length - 1) / WORD_BITS);
        let from = u32::MAX << (x % WORD_BITS);
        let to = last_word_mask(x + length);
        if first == last {
            row[first] |= from & to;
        } else {
            row[first] |= from;
            row[first + 1..last].fill(u32::MAX);
            row[last] |= to;
        }
    }

    /// Returns the number of cells that are not dead.
    pub fn population(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Returns a hash of the cells. Two different boards of one size have the same hash with probability 2⁻⁶⁴.
    pub fn hash(&self) -> u64 {
        let mut hashes = Vec::new();
        add_hash(&mut hashes, self, 0);
        hash_of_planes(&hashes)
    }

    /// Returns the numbers of births and deaths from this board to `later`, which must have the same size.
    pub fn changes(&self, later: &Self) -> (u64, u64) {
        let words = || self.words.iter().zip(&later.words);
        let born = words().map(|(before, now)| u64::from((now & !before).count_ones())).sum();
        (born, words().map(|(before, now)| u64::from((before & !now).count_ones())).sum())
    }

    /// Returns the live cells as (column, row), row by row from the left.
    pub fn cells(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.runs().flat_map(Run::cells)
    }

    /// Returns the live cells as runs, row by row from the left. Each run is as long as possible within its row.
    pub fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        self.words
            .chunks_exact(self.words_per_row)
            .enumerate()
            .flat_map(|(y, row)| row_runs(row).map(move |(x, length)| Run { x, y, length }))
    }

    /// Returns the words of all rows for writing. The caller must leave the bits beyond the width 0.
    pub(super) fn words_mut(&mut self) -> &mut [u32] {
        &mut self.words
    }

    /// Returns the index of the word that contains a cell, and the cell's bit in that word.
    fn position(&self, x: usize, y: usize) -> (usize, usize) {
        assert!(x < self.width && y < self.height, "cell ({x}, {y}) is outside {}x{} cells", self.width, self.height);
        (y * self.words_per_row + x / WORD_BITS, x % WORD_BITS)
    }
}

/// Prints small boards as rows of `.` and `O`. For large boards, prints only the size and the population.
impl std::fmt::Debug for Board {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Board {}x{}, {} alive", self.width, self.height, self.population())?;
        if self.width <= 128 && self.height <= 128 {
            for y in 0..self.height {
                f.write_str("\n")?;
                for x in 0..self.width {
                    f.write_str(if self.get(x, y) { "O" } else { "." })?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the mask of the bits in a row's last word that belong to cells. `width` must be at least 1.
pub fn last_word_mask(width: usize) -> u32 {
    u32::MAX >> ((WORD_BITS - width % WORD_BITS) % WORD_BITS)
}

/// The minimum number of words of a board that is processed on several cores.
pub(super) const ALL_CORES: usize = 1 << 16;

/// The maximum number of words that are read, written or packed at once: 64 MiB.
pub(crate) const CHUNK_WORDS: usize = 1 << 24;

/// Divides `rows` into ranges of at most [`CHUNK_WORDS`] words. A range has at least one row, even if the row has more
/// words.
pub(crate) fn row_chunks(rows: Range<usize>, words_per_row: usize) -> impl Iterator<Item = Range<usize>> {
    let (end, count) = (rows.end, (CHUNK_WORDS / words_per_row).max(1));
    rows.step_by(count).map(move |first| first..(first + count).min(end))
}

/// Returns the number of words of a board of this size. Fails if a side is 0 or if the number of cells overflows
/// `usize`.
pub(super) fn words_needed(width: usize, height: usize) -> Result<usize, SizeError> {
    if width == 0 || height == 0 {
        return Err(SizeError::Zero { width, height });
    }
    let overflow = SizeError::Overflow { width, height };
    width.checked_mul(height).ok_or(overflow)?;
    width.div_ceil(WORD_BITS).checked_mul(height).ok_or(overflow)
}

/// Returns the runs of ones in the words of a row, as (first column, length).
fn row_runs(row: &[u32]) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut x = 0;
    std::iter::from_fn(move || {
        let start = seek(row, x, 0);
        x = seek(row, start, u32::MAX);
        (start < x).then(|| (start, x - start))
    })
}

/// Searches from column `x` on for the first bit that differs from the bits of `flip`, and returns its column. The bits
/// of `flip` must be all 0 or all 1. If there is no such column, returns the number of columns in `row`.
#[inline]
fn seek(row: &[u32], x: usize, flip: u32) -> usize {
    let mut index = x / WORD_BITS;
    let mut above = u32::MAX << (x % WORD_BITS);
    while let Some(&word) = row.get(index) {
        let hits = (word ^ flip) & above;
        if hits != 0 {
            return index * WORD_BITS + hits.trailing_zeros() as usize;
        }
        index += 1;
        above = u32::MAX;
    }
    row.len() * WORD_BITS
}

#[cfg(test)]
mod tests;
