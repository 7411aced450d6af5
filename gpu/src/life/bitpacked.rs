//! Bit-packed: 32 cells per word, neighbours added for all 32 at once by bitwise logic.
//!
//! What it changes: an eighth of the bytes, and some ten three-input logic operations per word instead of nine loads
//! and eight additions per cell. A thread takes one word of [`ROWS_PER_THREAD`] rows and carries the sums of the two rows above
//! along, so that a row is loaded and added once; it loads [`ROWS_AHEAD`] rows before it works on the first of them, so
//! that it waits for memory once and not for each row. Limited by memory.
//! Idea: a bitwise full adder for each of the 32 columns, as in many engines since M. Niemiec's "Life Algorithms" (Byte,
//! January 1979).

use cuda_std::{Global, GlobalMut, kernel, thread};

use super::CELLS_PER_WORD;
use super::adder::{Circuit, Conway};
use super::tuning::{ROWS_AHEAD, ROWS_PER_THREAD};

/// A word of a row, and the words to its left and right.
#[derive(Clone, Copy)]
pub(super) struct Words {
    before: u32,
    alive: u32,
    after: u32,
}

impl Words {
    #[inline(always)]
    pub(super) fn new(before: u32, alive: u32, after: u32) -> Self {
        Self { before, alive, after }
    }
}

/// Which word of a row a thread works on, and where that word's neighbours are.
pub(super) struct Column {
    word: usize,
    /// The word to the left, and the bit of it that is the left neighbour of bit 0.
    left: (usize, u32),
    /// The word to the right, and the bit of this word whose right neighbour is that word's bit 0.
    right: (usize, u32),
    /// The bits of this word that are cells.
    mask: u32,
}

impl Column {
    #[inline(always)]
    pub(super) fn new(word: usize, width: usize, words_per_row: usize) -> Self {
        let last = words_per_row - 1;
        // The last word of a row holds 1 to 32 cells.
        let last_bit = ((width - 1) % CELLS_PER_WORD) as u32;
        Self {
            word,
            left: if word == 0 { (last, last_bit) } else { (word - 1, 31) },
            right: if word == last { (0, last_bit) } else { (word + 1, 31) },
            mask: if word == last { u32::MAX >> (31 - last_bit) } else { u32::MAX },
        }
    }

    /// Loads this column of the row that starts at word `start` of the board.
    ///
    /// # Safety
    /// `start` must be that of a row of the board.
    #[inline(always)]
    pub(super) unsafe fn load(&self, cells: &Global<u32>, start: usize) -> Words {
        // SAFETY: the three words are in the row that the caller vouches for.
        unsafe {
            Words {
                before: cells.load_unchecked(start + self.left.0),
                alive: cells.load_unchecked(start + self.word),
                after: cells.load_unchecked(start + self.right.0),
            }
        }
    }

    /// The bits of the word that are cells.
    #[inline(always)]
    pub(super) fn mask(&self) -> u32 {
        self.mask
    }

    /// What the rule makes of the row.
    #[inline(always)]
    pub(super) fn add<C: Circuit>(&self, Words { before, alive, after }: Words) -> C::Row {
        let left = (alive << 1) | ((before >> self.left.1) & 1);
        let right = (alive >> 1) | ((after & 1) << self.right.1);
        C::row(left, alive, right)
    }
}

/// Walks down strips of [`ROWS_PER_THREAD`] rows of a torus of packed rows, of which it loads so many ahead: `load` gives what there is of the row that begins at a
/// word, `add` what is made of it for the three rows that it is a neighbour of, and `next` takes a row's word and three of these.
/// Macros: as functions they are unrolled otherwise, and a sixth slower.
macro_rules! strips {
    ($width:ident, $height:ident, $ahead:expr, |$column:ident| $load:expr, $add:expr, $next:expr) => {{
        let words_per_row = $width.div_ceil(CELLS_PER_WORD);
        for word in thread::grid_stride(words_per_row) {
            let $column = Column::new(word, $width, words_per_row);
            for strip in thread::grid_stride_y($height.div_ceil(ROWS_PER_THREAD)) {
                let mut y = strip * ROWS_PER_THREAD;
                let end = (y + ROWS_PER_THREAD).min($height);
                let load = |row: usize| $load(row * words_per_row);
                let load_below = |row: usize| load(if row + 1 == $height { 0 } else { row + 1 });
                let mut above = $add(load(if y == 0 { $height - 1 } else { y - 1 }));
                let mut row = $add(load(y));
                let mut advance = |y: usize, words| {
                    let below = $add(words);
                    $next(y * words_per_row + word, above, row, below);
                    (above, row) = (row, below);
                };
                while y + $ahead <= end {
                    let ahead: [_; $ahead] = core::array::from_fn(|i| load_below(y + i));
                    // Not an iterator over the array: that would keep it in local memory.
                    let mut i = 0;
                    while i < $ahead {
                        advance(y + i, ahead[i]);
                        i += 1;
                    }
                    y += $ahead;
                }
                while y < end {
                    advance(y, load_below(y));
                    y += 1;
                }
            }
        }
    }};
}
pub(super) use strips;

/// A generation by the rule of a [`Circuit`].
macro_rules! advance {
    ($circuit:ty, $cells:ident, $next:ident, $width:ident, $height:ident) => {{
        let words = $width.div_ceil(CELLS_PER_WORD).checked_mul($height);
        assert!($height > 0 && words == Some($cells.len()) && $next.len() == $cells.len());
        strips!(
            $width,
            $height,
            ROWS_AHEAD,
            |column| |start| {
                // SAFETY: every row asked for is one of the board, whose size was checked above.
                unsafe { column.load(&$cells, start) }
            },
            |words| column.add::<$circuit>(words),
            |place, above, row, below| {
                let cells_after = <$circuit>::next(above, row, below) & column.mask();
                // SAFETY: the place is a word of the board.
                unsafe { $next.store_unchecked(place, cells_after) };
            }
        );
    }};
}
pub(super) use advance;

/// One generation of 32 cells per word, added by bitwise logic.
///
/// `next` = the generation after `cells`, both `height` rows of `⌈width / 32⌉` words. Any two-dimensional grid of blocks of
/// up to 256 threads: a thread takes a word along x and [`ROWS_PER_THREAD`] rows along y.
#[kernel(
    max_threads = 256,
    allow(local_in_ptx = "the compiler does not unroll the loop over the rows loaded ahead; the assembler does")
)]
pub fn life_bitpacked(cells: Global<u32>, next: GlobalMut<u32>, width: usize, height: usize) {
    advance!(Conway, cells, next, width, height);
}
