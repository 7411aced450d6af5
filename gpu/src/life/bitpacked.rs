//! Bit-packed: 32 cells per word. Bitwise logic adds the neighbours of all 32 cells at once.
//!
//! A packed board has an eighth of the bytes of a board with one byte per cell. The next generation of a word takes
//! about ten logic operations with three inputs, instead of nine loads and eight additions per cell. A thread processes
//! one word in each of [`ROWS_PER_THREAD`] rows. It keeps the sums of the two rows above, so it loads and adds each row
//! once. It loads [`ROWS_AHEAD`] rows before it processes the first of them, so it waits for memory once for all of
//! them. The kernel is limited by memory.
//!
//! Source: M. Niemiec's "Life Algorithms" (Byte, January 1979), where bitwise logic forms one full adder per column.
//! Many programs have used this idea since.

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

/// The position of a thread's word in its row, and the positions of the neighbouring words.
pub(super) struct Column {
    word: usize,
    /// The index of the word to the left, and the number of the bit in that word that is the left neighbour of this
    /// word's bit 0.
    left: (usize, u32),
    /// The index of the word to the right, and the number of this word's last bit, whose right neighbour is bit 0 of
    /// the word to the right.
    right: (usize, u32),
    /// A mask of the bits of this word that are cells.
    mask: u32,
}

impl Column {
    #[inline(always)]
    pub(super) fn new(word: usize, width: usize, words_per_row: usize) -> Self {
        let last = words_per_row - 1;
        // The last word of a row contains 1 to 32 cells.
        let last_bit = ((width - 1) % CELLS_PER_WORD) as u32;
        Self {
            word,
            left: if word == 0 { (last, last_bit) } else { (word - 1, 31) },
            right: if word == last { (0, last_bit) } else { (word + 1, 31) },
            mask: if word == last { u32::MAX >> (31 - last_bit) } else { u32::MAX },
        }
    }

    /// Loads a word and its two neighbours: this column's word in the row that starts at word `start` of the board.
    ///
    /// # Safety
    /// `start` must be the first word of a row of the board.
    #[inline(always)]
    pub(super) unsafe fn load(&self, cells: &Global<u32>, start: usize) -> Words {
        // SAFETY: by this function's contract `start` begins a row, and all three words are in that row.
        unsafe {
            Words {
                before: cells.load_unchecked(start + self.left.0),
                alive: cells.load_unchecked(start + self.word),
                after: cells.load_unchecked(start + self.right.0),
            }
        }
    }

    /// Returns a mask of the bits of the word that are cells.
    #[inline(always)]
    pub(super) fn mask(&self) -> u32 {
        self.mask
    }

    /// Returns the intermediate result of the circuit `C` for a row's words.
    #[inline(always)]
    pub(super) fn add<C: Circuit>(&self, Words { before, alive, after }: Words) -> C::Row {
        let left = (alive << 1) | ((before >> self.left.1) & 1);
        let right = (alive >> 1) | ((after & 1) << self.right.1);
        C::row(left, alive, right)
    }
}

/// Processes strips of [`ROWS_PER_THREAD`] rows of a packed torus, and loads `$ahead` rows in advance. `load` must
/// return the words of the row that starts at a given word. `add` must return the intermediate result for a row. `next`
/// receives the index of a word and the intermediate results of three rows. This is a macro, because LLVM unrolls a
/// function differently, which makes the kernels a sixth slower.
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
                    // With an iterator, the compiler would keep the array in local memory.
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

/// Computes one generation by the rule of a [`Circuit`].
macro_rules! advance {
    ($circuit:ty, $cells:ident, $next:ident, $width:ident, $height:ident) => {{
        let words = $width.div_ceil(CELLS_PER_WORD).checked_mul($height);
        assert!($height > 0 && words == Some($cells.len()) && $next.len() == $cells.len());
        strips!(
            $width,
            $height,
            ROWS_AHEAD,
            |column| |start| {
                // SAFETY: `strips` passes only the first words of rows of the board, whose size was checked above.
                unsafe { column.load(&$cells, start) }
            },
            |words| column.add::<$circuit>(words),
            |place, above, row, below| {
                let cells_after = <$circuit>::next(above, row, below) & column.mask();
                // SAFETY: the index is the index of a word of the board.
                unsafe { $next.store_unchecked(place, cells_after) };
            }
        );
    }};
}
pub(super) use advance;

/// Writes the next generation of `cells` to `next`, 32 cells per word, by bitwise addition.
///
/// Both boards must have `height` rows of `⌈width / 32⌉` words. Launch a two-dimensional grid of any size, with blocks
/// of up to 256 threads. A thread processes one word along x and [`ROWS_PER_THREAD`] rows along y.
#[kernel(
    max_threads = 256,
    allow(local_in_ptx = "the compiler does not unroll the loop over the rows loaded ahead; the assembler does")
)]
pub fn life_bitpacked(cells: Global<u32>, next: GlobalMut<u32>, width: usize, height: usize) {
    advance!(Conway, cells, next, width, height);
}
