//! The board: a torus of cells, one bit per cell.
//!
//! Rows are packed into 32-bit words, the layout of the bit-packed kernels, so that a board goes to a device and comes
//! back as it is. 65536 × 65536 cells take 512 MiB. Where a rule has more than two states, further words of the same
//! layout say which one a cell that is not dead is in.

use thiserror::Error;

mod hash;
mod states;

pub(crate) use hash::add_hash;
pub use hash::{hash_of_planes, hash_of_words, hash_of_words_from};

/// Cells in a word of a row.
pub const WORD_BITS: usize = u32::BITS as usize;

/// A board on a torus: its left edge touches the right one, its top the bottom.
///
/// Row-major, `words_per_row = ceil(width / 32)` words per row. Bit 0 of a row's first word is its leftmost cell. The
/// bits of a row's last word that lie beyond the width are always 0.
#[derive(Clone, PartialEq, Eq)]
pub struct Board {
    width: usize,
    height: usize,
    words_per_row: usize,
    words: Vec<u32>,
    /// The bits of the states above 1, less 1, the lowest first; none for two states.
    ages: Vec<Vec<u32>>,
}

/// Live cells side by side in one row: `length` of them from column `x` on in row `y`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    /// Column of the first cell.
    pub x: usize,
    /// Row.
    pub y: usize,
    /// Number of cells, at least 1.
    pub length: usize,
}

impl Run {
    /// The cells as (column, row), from the left.
    pub fn cells(self) -> impl Iterator<Item = (usize, usize)> {
        (self.x..self.x + self.length).map(move |x| (x, self.y))
    }
}

/// Why a board of this size cannot be.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SizeError {
    /// A side is zero.
    #[error("a board of {width}x{height} has no cells: both sides must be at least 1")]
    Zero {
        /// Columns asked for.
        width: usize,
        /// Rows asked for.
        height: usize,
    },
    /// The number of cells does not fit into an address.
    #[error("a board of {width}x{height} has more cells than this machine can count: ask for a smaller one")]
    Overflow {
        /// Columns asked for.
        width: usize,
        /// Rows asked for.
        height: usize,
    },
    /// The words cannot be allocated.
    #[error(
        "a board of {width}x{height} needs {bytes} bytes of memory, which are not to be had: ask for a smaller one"
    )]
    OutOfMemory {
        /// Columns asked for.
        width: usize,
        /// Rows asked for.
        height: usize,
        /// Bytes of its words.
        bytes: usize,
    },
}

gridstride::debug_as_displayed!(SizeError);

/// Why words are no board.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WordsError {
    /// The size itself is wrong.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// Not as many words as the size needs.
    #[error("a board of {width}x{height} is {expected} words long, and {found} were given")]
    Length {
        /// Columns.
        width: usize,
        /// Rows.
        height: usize,
        /// Words that the size needs.
        expected: usize,
        /// Words given.
        found: usize,
    },
    /// A bit beyond the width is set.
    #[error("the last word of row {row} has bits set beyond the board's width of {width}: they must be 0")]
    Padding {
        /// The first such row.
        row: usize,
        /// Columns.
        width: usize,
    },
}

gridstride::debug_as_displayed!(WordsError);

impl Board {
    /// A board of dead cells.
    ///
    /// # Errors
    /// [`SizeError`] when a side is zero, when the number of cells overflows, or when memory does not suffice.
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

    /// Finds out whether there are boards of this size.
    ///
    /// # Errors
    /// [`SizeError`] when a side is zero or the number of cells overflows.
    pub fn check_size(width: usize, height: usize) -> Result<(), SizeError> {
        words_needed(width, height).map(drop)
    }

    /// The board whose packed rows are `words`, as [`Board::words`] gives them.
    ///
    /// # Errors
    /// [`WordsError`] when the size is none, when there are not exactly `words_per_row * height` words, or when a bit
    /// beyond the width is set.
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

    /// Columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Words of a row: the width over 32, rounded up.
    pub fn words_per_row(&self) -> usize {
        self.words_per_row
    }

    /// The rows one after the other, each [`Board::words_per_row`] words long.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// The rows' words, without a copy.
    pub fn into_words(self) -> Vec<u32> {
        self.words
    }

    /// The words of row `y`.
    ///
    /// # Panics
    /// When `y` is not below the height.
    pub fn row(&self, y: usize) -> &[u32] {
        assert!(y < self.height, "row {y} of a board {} cells high", self.height);
        &self.words[y * self.words_per_row..][..self.words_per_row]
    }

    /// Some rows as a board of their own.
    ///
    /// # Errors
    /// [`SizeError`] when there are none, or memory does not suffice.
    ///
    /// # Panics
    /// When the board has not these rows.
    pub fn part(&self, rows: std::ops::Range<usize>) -> Result<Self, SizeError> {
        let mut part = Self::with_states(self.width, rows.len(), self.states())?;
        let range = rows.start * self.words_per_row..rows.end * self.words_per_row;
        part.words.copy_from_slice(&self.words[range.clone()]);
        part.ages.iter_mut().zip(&self.ages).for_each(|(part, age)| part.copy_from_slice(&age[range.clone()]));
        Ok(part)
    }

    /// Whether the cell in column `x` of row `y` is alive.
    ///
    /// # Panics
    /// When the cell lies outside of the board.
    pub fn get(&self, x: usize, y: usize) -> bool {
        let (word, bit) = self.position(x, y);
        self.words[word] >> bit & 1 == 1
    }

    /// Makes the cell in column `x` of row `y` alive or dead.
    ///
    /// # Panics
    /// When the cell lies outside of the board.
    pub fn set(&mut self, x: usize, y: usize, alive: bool) {
        let (word, bit) = self.position(x, y);
        self.words[word] = self.words[word] & !(1 << bit) | u32::from(alive) << bit;
        for age in &mut self.ages {
            age[word] &= !(1 << bit);
        }
    }

    /// Makes `length` cells from column `x` of row `y` on alive, without going around the torus.
    ///
    /// # Panics
    /// When a cell lies outside of the board.
    pub fn fill_run(&mut self, Run { x, y, length }: Run) {
        assert!(
            y < self.height && x <= self.width && length <= self.width - x,
            "{length} cells from ({x}, {y}) on a board of {}x{}",
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

    /// Number of live cells.
    pub fn population(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// A hash of the cells: boards of one size that differ have the same one in 1 of 2⁶⁴ cases.
    pub fn hash(&self) -> u64 {
        let mut hashes = Vec::new();
        add_hash(&mut hashes, self, 0);
        hash_of_planes(&hashes)
    }

    /// How many cells live in `later` and not here, and how many live here and not in `later`, a board of this size.
    pub fn changes(&self, later: &Self) -> (u64, u64) {
        let words = || self.words.iter().zip(&later.words);
        let born = words().map(|(before, now)| u64::from((now & !before).count_ones())).sum();
        (born, words().map(|(before, now)| u64::from((before & !now).count_ones())).sum())
    }

    /// The live cells as (column, row), row by row from the left.
    pub fn cells(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.runs().flat_map(Run::cells)
    }

    /// The live cells as runs, row by row from the left; each as long as it can be within its row.
    pub fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        self.words
            .chunks_exact(self.words_per_row)
            .enumerate()
            .flat_map(|(y, row)| RowRuns { row, x: 0 }.map(move |(x, length)| Run { x, y, length }))
    }

    /// The words, for code beside this one. It keeps padding bits at 0.
    pub(super) fn words_mut(&mut self) -> &mut [u32] {
        &mut self.words
    }

    /// Index of a cell's word, and its bit.
    fn position(&self, x: usize, y: usize) -> (usize, usize) {
        assert!(x < self.width && y < self.height, "cell ({x}, {y}) of a board of {}x{}", self.width, self.height);
        (y * self.words_per_row + x / WORD_BITS, x % WORD_BITS)
    }
}

/// Draws small boards as rows of `.` and `O`; of large ones it gives size and population.
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

/// Mask of the bits that belong to a row in its last word, for a row of `width` cells, at least one.
pub fn last_word_mask(width: usize) -> u32 {
    u32::MAX >> ((WORD_BITS - width % WORD_BITS) % WORD_BITS)
}

/// Words for which it is worth waking the other cores.
pub(super) const ALL_CORES: usize = 1 << 16;

/// Words of a board, whose cells can be counted in a `usize`.
pub(super) fn words_needed(width: usize, height: usize) -> Result<usize, SizeError> {
    if width == 0 || height == 0 {
        return Err(SizeError::Zero { width, height });
    }
    let overflow = SizeError::Overflow { width, height };
    width.checked_mul(height).ok_or(overflow)?;
    width.div_ceil(WORD_BITS).checked_mul(height).ok_or(overflow)
}

/// Runs of ones in a row's words, as (first column, length).
struct RowRuns<'a> {
    row: &'a [u32],
    x: usize,
}

impl RowRuns<'_> {
    /// The first column from `self.x` on whose bit is 1 in `word ^ flip`, or the row's end in whole words.
    #[inline]
    fn seek(&self, flip: u32) -> usize {
        let mut index = self.x / WORD_BITS;
        let mut above = u32::MAX << (self.x % WORD_BITS);
        while let Some(&word) = self.row.get(index) {
            let hits = (word ^ flip) & above;
            if hits != 0 {
                return index * WORD_BITS + hits.trailing_zeros() as usize;
            }
            index += 1;
            above = u32::MAX;
        }
        self.row.len() * WORD_BITS
    }
}

impl Iterator for RowRuns<'_> {
    type Item = (usize, usize);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let start = self.seek(0);
        self.x = start;
        if start == self.row.len() * WORD_BITS {
            return None;
        }
        self.x = self.seek(u32::MAX);
        Some((start, self.x - start))
    }
}

#[cfg(test)]
mod tests;
