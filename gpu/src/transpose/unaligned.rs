//! Unaligned: the last rung for matrices of any size and at any address, by stores of 16 bytes that begin with a sector.
//!
//! Where a row or column is no multiple of 16 bytes, each begins somewhere else in a sector of 32 bytes. A tile whose
//! columns all have the same rows then stores parts of sectors at both ends of each, and can store single elements only.
//! What it changes:
//! - A block takes of each column as many rows as the others', but from the row on whose element in *y* begins a sector:
//!   up to a sector's elements earlier than its first row. It loads the rows of all, some of them twice, and stores whole
//!   sectors, by 16 bytes a thread.
//! - Rows are loaded by words. Bytes and halves lie at another place of their word in each row: the word of four columns
//!   is put together from two by a funnel shift, the neighbour's by a shuffle.
//! - Shared memory holds the rows, padded by a word. A thread gathers the words of its vector in an order that depends
//!   on its place, so that the lanes of a warp meet no bank conflict; bytes and halves take a fifth word, and a shift
//!   again.
//!
//! Limited by memory. What it moves in vain: loads that straddle sectors, and the rows that two tiles load. Source: this
//! project.

use core::ops::Range;

use cuda_std::{Global, GlobalMut, Shared, Zeroable, kernel, shared_array, thread, warp};

use super::{Bits, assert_size, tile_of_block};

const LANES: u32 = 32;

/// Threads that together store 128 bytes of a column. Their loads from shared memory are every fourth bank.
const OCTET: u32 = 8;

/// The most words of a column that a thread loads, of any element.
const MOST: usize = 8;

/// What follows from the size of an element and the shape of its tile.
trait Layout: Bits {
    const THREADS: usize = Self::UNALIGNED.threads;
    const WARPS: usize = Self::THREADS / LANES as usize;
    /// Elements of what a column's stores are aligned to.
    const ALIGNMENT: usize = Self::UNALIGNED.alignment / size_of::<Self>();
    /// Rows that a block loads, and stores of each column.
    const LOADED_ROWS: usize = Self::UNALIGNED.rows;
    const ROWS: usize = Self::LOADED_ROWS - Self::ALIGNMENT;
    /// Words of a piece of a row that begin in the piece, wherever the first begins in its word.
    const PIECE_WORDS: usize = if Self::PER_WORD == 1 { LANES as usize } else { LANES as usize - 1 };
    /// Columns of a piece, and of a tile.
    const PIECE_COLUMNS: usize = Self::PIECE_WORDS * Self::PER_WORD;
    const COLUMNS: usize = Self::UNALIGNED.pieces * Self::PIECE_COLUMNS;
    /// Rows of words, each of [`PER_WORD`](Bits::PER_WORD) rows.
    const WORD_ROWS: usize = Self::LOADED_ROWS / Self::PER_WORD;
    /// Places of columns in a row of words, some of them of no column, and words from a row to the next.
    const PLACES: usize = Self::UNALIGNED.pieces * Self::PER_WORD * LANES as usize;
    const PITCH: usize = Self::PLACES + 1;
    /// Pieces of rows of words that a warp loads.
    const LOADS: usize = Self::UNALIGNED.pieces * Self::WORD_ROWS / Self::WARPS;
    /// Octets that a column takes.
    const OCTETS: usize = (Self::ROWS / Self::PER_VECTOR).div_ceil(OCTET as usize);
    /// Vectors that a thread stores.
    const STORES: usize = Self::PLACES * Self::OCTETS / (Self::THREADS / OCTET as usize);

    /// Whether the threads share the tile evenly, and its parts are whole words and vectors.
    const IS_EVEN: bool = Self::LOADS * Self::WARPS == Self::UNALIGNED.pieces * Self::WORD_ROWS
        && Self::STORES * Self::THREADS == Self::PLACES * Self::OCTETS * OCTET as usize
        && Self::ALIGNMENT.is_power_of_two()
        && Self::ALIGNMENT.is_multiple_of(Self::PER_VECTOR)
        && Self::LOADED_ROWS.is_multiple_of(Self::ALIGNMENT)
        && Self::LOADED_ROWS >= 2 * Self::ALIGNMENT
        && Self::LOADS <= MOST;
}

impl<T: Bits> Layout for T {}

/// Tiles below each other in a matrix of `height` rows, wherever its columns begin.
pub const fn unaligned_tile_rows<T: Bits>(height: usize) -> usize {
    height.saturating_add(T::ALIGNMENT - 1).div_ceil(T::ROWS)
}

/// Tiles side by side in a matrix of `width` columns.
pub const fn unaligned_tile_columns<T: Bits>(width: usize) -> usize {
    width.div_ceil(T::COLUMNS)
}

/// A matrix as its whole words, and the elements at both ends that make none.
struct Words<'a, T: Bits> {
    elements: Global<'a, T>,
    whole: Global<'a, T::Word>,
    /// Elements from a word's beginning to the first.
    lead: usize,
}

impl<'a, T: Bits> Words<'a, T> {
    #[inline(always)]
    fn new(elements: Global<'a, T>) -> Self {
        let lead = elements.as_ptr() as usize / size_of::<T>() % T::PER_WORD;
        let skipped = (T::PER_WORD - lead) % T::PER_WORD;
        let words = elements.len().saturating_sub(skipped) / T::PER_WORD;
        // SAFETY: from the first word that begins in the view on, those that end in it.
        let whole =
            unsafe { Global::from_raw_parts(elements.as_ptr().wrapping_add(skipped).cast(), words, elements.device()) };
        Self { elements, whole, lead }
    }

    /// The number of the word of element `index`, and the element's place in it.
    #[inline(always)]
    fn place(&self, index: usize) -> (usize, u32) {
        ((index + self.lead) / T::PER_WORD, ((index + self.lead) % T::PER_WORD) as u32)
    }

    /// The index in `whole` of word `number`.
    #[inline(always)]
    fn index(&self, number: usize) -> usize {
        number.wrapping_sub(self.lead.div_ceil(T::PER_WORD))
    }

    /// Word `number`, whatever part of it is in the matrix.
    #[inline(always)]
    fn word(&self, number: usize) -> T::Word {
        let index = self.index(number);
        if index < self.whole.len() {
            // SAFETY: just compared.
            return unsafe { self.whole.load_unchecked(index) };
        }
        let mut word = T::Word::zeroed();
        for i in 0..T::PER_WORD {
            let index = (number * T::PER_WORD + i).wrapping_sub(self.lead);
            if index < self.elements.len() {
                // SAFETY: just compared.
                word = T::with(word, unsafe { self.elements.load_unchecked(index) }, i);
            }
        }
        word
    }
}

/// A tile: what part of the matrix it is, and where a block keeps it. What is counted within the tile has 32 bits.
struct Tile<T: Bits> {
    /// Its first column.
    column: usize,
    /// The first row that it loads; before row 0 it wraps.
    row: usize,
    /// How many of its columns are in the matrix, and which of the rows that it loads.
    columns: u32,
    rows: Range<u32>,
    /// Columns and rows of the matrix.
    width: usize,
    height: usize,
    /// Its rows, in words of columns.
    words: Shared<T::Word>,
}

impl<T: Bits> Tile<T> {
    /// Loads the tile.
    ///
    /// # Safety
    /// `x` must hold the matrix. If `FULL`, the tile's rows and columns must be in the matrix, and a row before and behind.
    #[inline(always)]
    unsafe fn load<const FULL: bool>(&self, x: &Words<T>) {
        if FULL {
            let mut loaded = [([T::Word::zeroed(); 4], [0; 4]); MOST];
            for i in 0..T::LOADS {
                // SAFETY: the caller's.
                loaded[i] = unsafe { self.load_rows::<true>(x, i) };
            }
            for i in 0..T::LOADS {
                self.keep_rows(loaded[i], i);
            }
        } else {
            // One after the other: the comparisons of several at a time take more registers than all of the rest. That the
            // loop may end early keeps the compilers from making one of all its loads; the shuffles do where words are made.
            let lines = if T::PER_WORD == 1 { self.rows.end as usize } else { T::WORD_ROWS };
            let mut i = 0;
            while i < T::LOADS && Self::piece_and_line(i).1 < lines {
                // SAFETY: the caller's.
                self.keep_rows(unsafe { self.load_rows::<false>(x, i) }, i);
                i += 1;
            }
        }
    }

    /// This warp's `i`-th words of as many rows as a word has elements, and where in each the first element is.
    ///
    /// # Safety
    /// As for [`load`](Self::load).
    #[inline(always)]
    unsafe fn load_rows<const FULL: bool>(&self, x: &Words<T>, i: usize) -> ([T::Word; 4], [u32; 4]) {
        let (lane, _) = lane_and_warp::<T>();
        let (piece, line) = Self::piece_and_line(i);
        let column = self.column + piece * T::PIECE_COLUMNS;
        let (mut loaded, mut shifts) = ([T::Word::zeroed(); 4], [0; 4]);
        for j in 0..T::PER_WORD {
            let row = self.row.wrapping_add(line * T::PER_WORD + j);
            if FULL || row < self.height {
                let (number, shift) = x.place(row * self.width + column);
                shifts[j] = shift;
                let number = number + lane as usize;
                if FULL {
                    // SAFETY: there is a row before the tile's, and one behind.
                    loaded[j] = unsafe { x.whole.load_unchecked(x.index(number)) };
                } else if column + lane as usize * T::PER_WORD < self.width + shift as usize {
                    loaded[j] = x.word(number);
                }
            }
        }
        (loaded, shifts)
    }

    /// Turns what [`load_rows`](Self::load_rows) gave, and puts it into shared memory.
    #[inline(always)]
    fn keep_rows(&self, (mut rows, shifts): ([T::Word; 4], [u32; 4]), i: usize) {
        let (lane, _) = lane_and_warp::<T>();
        let (piece, line) = Self::piece_and_line(i);
        if T::PER_WORD > 1 {
            for j in 0..T::PER_WORD {
                let next = warp::shuffle_down(warp::FULL_MASK, rows[j], 1);
                rows[j] = T::from_within(rows[j], next, shifts[j]);
            }
        }
        let columns = T::turn(rows);
        for j in 0..T::PER_WORD {
            let place = (piece * T::PER_WORD + j) * LANES as usize + lane as usize;
            // SAFETY: a row and a place of the tile.
            unsafe { self.words.store_unchecked(line * T::PITCH + place, columns[j]) };
        }
    }

    /// Which piece of which row of words the thread's warp loads as its `i`-th.
    #[inline(always)]
    fn piece_and_line(i: usize) -> (usize, usize) {
        let (_, warp) = lane_and_warp::<T>();
        let number = warp as usize + i * T::WARPS;
        (number % T::UNALIGNED.pieces, number / T::UNALIGNED.pieces)
    }

    /// Stores the tile's columns.
    ///
    /// # Safety
    /// `y` must have room for the transpose. If `FULL`, what the tile stores must be in the matrix.
    #[inline(always)]
    unsafe fn store<const FULL: bool>(&self, y: GlobalMut<T>) {
        let (lane, warp) = lane_and_warp::<T>();
        // Elements from the beginning of a sector to the first, and from there to the first whole vector.
        let lead = y.as_ptr() as usize / size_of::<T>() % T::ALIGNMENT;
        let skipped = (T::PER_VECTOR - lead % T::PER_VECTOR) % T::PER_VECTOR;
        let vectors = y.len().saturating_sub(skipped) / T::PER_VECTOR;
        // SAFETY: from the first vector that begins in the view on, those that end in it.
        let vectors =
            unsafe { GlobalMut::from_raw_parts(y.as_ptr().wrapping_add(skipped).cast(), vectors, y.device()) };
        let (octets, per_word, per_vector) = (T::OCTETS as u32, T::PER_WORD as u32, T::PER_VECTOR as u32);
        for i in 0..T::STORES {
            let octet = warp * (LANES / OCTET) + lane / OCTET + (i * T::THREADS) as u32 / OCTET;
            let (place, vector) = (octet / octets, octet % octets * OCTET + lane % OCTET);
            let (in_piece, line) = (place % LANES, place / LANES);
            let column = line / per_word * T::PIECE_COLUMNS as u32 + in_piece * per_word + line % per_word;
            let is_a_column = in_piece < T::PIECE_WORDS as u32 && (FULL || column < self.columns);
            if !is_a_column || vector >= T::ROWS as u32 / per_vector {
                continue;
            }
            let first = (self.column + column as usize) * self.height;
            // The row, counted from the tile's first, whose element begins the sector in which the column's part begins.
            let begin = T::ALIGNMENT - 1 - (lead + first) % T::ALIGNMENT;
            let row = begin as u32 + vector * per_vector;
            let index = first.wrapping_add(self.row).wrapping_add(row as usize);
            if FULL || (row >= self.rows.start && row + per_vector <= self.rows.end) {
                // SAFETY: a place and rows of the tile.
                let moved = unsafe { self.gather(place, row, lane / OCTET) };
                // SAFETY: a vector of the matrix, which begins where vectors do.
                unsafe { vectors.store_unchecked((index - skipped) / T::PER_VECTOR, moved) };
            } else {
                let elements = self.words.cast::<T>();
                for j in 0..per_vector {
                    if self.rows.contains(&(row + j)) {
                        let word = (row + j) / per_word * T::PITCH as u32 + place;
                        let element = word * per_word + (row + j) % per_word;
                        // SAFETY: an element of the tile, and of the matrix.
                        unsafe {
                            y.store_unchecked(
                                index.wrapping_add(j as usize),
                                elements.load_unchecked(element as usize),
                            );
                        }
                    }
                }
            }
        }
    }

    /// The vector of the column at `place` from row `row` of the tile on. `octet` is the thread's in its warp.
    ///
    /// # Safety
    /// A place of the tile, and a row of it so that the vector is in it.
    #[inline(always)]
    unsafe fn gather(&self, place: u32, row: u32, octet: u32) -> T::Vector {
        let (line, shift) = (row / T::PER_WORD as u32, row % T::PER_WORD as u32);
        let (count, pitch) = (T::WORDS as u32, T::PITCH as u32);
        let first = line * pitch + place;
        // The lanes of an octet are `count` banks apart. Of each other octet the next bank is read: a row further is a
        // bank further, and so is the next place.
        let turned = octet.wrapping_sub(line + place) % count;
        let mut words = [T::Word::zeroed(); 5];
        for i in 0..count {
            // SAFETY: the caller's.
            words[i as usize] = unsafe { self.words.load_unchecked((first + (i + turned) % count * pitch) as usize) };
        }
        // Word i is the one that was read as number i - turned. No loop over the two steps: it would stay one, and take the
        // words to local memory.
        if turned & 1 != 0 {
            let read = words;
            for i in 0..T::WORDS {
                words[i] = read[(i + T::WORDS - 1) % T::WORDS];
            }
        }
        if T::WORDS > 2 && turned & 2 != 0 {
            let read = words;
            for i in 0..T::WORDS {
                words[i] = read[(i + T::WORDS - 2) % T::WORDS];
            }
        }
        if T::PER_WORD > 1 {
            // SAFETY: the tile has a row of words more than its columns' vectors, wherever they begin.
            words[4] = unsafe { self.words.load_unchecked((first + count * pitch) as usize) };
            for i in 0..4 {
                words[i] = T::from_within(words[i], words[i + 1], shift);
            }
        }
        T::vector([words[0], words[1], words[2], words[3]])
    }
}

/// This thread's number in its warp, and that of its warp.
#[inline(always)]
fn lane_and_warp<T: Bits>() -> (u32, u32) {
    // No remainder is taken in a block of the right size.
    let thread = thread::thread_idx_x() % T::THREADS as u32;
    (thread % LANES, thread / LANES)
}

/// `y` = the transpose of `x` by loads of words and stores of 16 bytes that begin with a sector. `x` has `height` rows of
/// `width` elements; the views may begin at any element. A block of [`UNALIGNED.threads`](super::UnalignedShape) for each of
/// [`unaligned_tile_rows`] along x and each of [`unaligned_tile_columns`] along y and z.
#[kernel(max_threads = 512, min_blocks = 2, instances(T = [u8, u16, u32, u64]))]
pub fn transpose_unaligned<T: Bits>(x: Global<T>, y: GlobalMut<T>, width: usize, height: usize) {
    const { assert!(T::IS_EVEN, "the threads of a block share a tile evenly") };
    assert_size(&x, &y, width, height);
    assert!(thread::block_dim_x() as usize == T::THREADS);
    let words = shared_array![<T as Bits>::Word; T::WORD_ROWS * T::PITCH];
    let (tile_row, tile_column) = tile_of_block();
    let column = tile_column * T::COLUMNS;
    if column >= width || tile_row * T::ROWS >= height + (T::ALIGNMENT - 1) {
        return;
    }
    let row = (tile_row * T::ROWS + 1).wrapping_sub(T::ALIGNMENT);
    let columns = (width - column).min(T::COLUMNS) as u32;
    // Only the first tile's rows begin before the matrix's.
    let start = if tile_row == 0 { T::ALIGNMENT as u32 - 1 } else { 0 };
    let rows = start..height.wrapping_sub(row).min(T::LOADED_ROWS) as u32;
    // A tile in the midst of the matrix needs no comparisons, which stand between its loads. One row is left for words
    // that are longer than the tile.
    let is_full = tile_row > 0 && row + T::LOADED_ROWS < height && column + T::COLUMNS <= width;
    let tile = Tile::<T> { column, row, columns, rows, width, height, words };
    let x = Words::new(x);
    // SAFETY: the size was checked, and of a full tile its place.
    unsafe { if is_full { tile.load::<true>(&x) } else { tile.load::<false>(&x) } }
    thread::sync_threads();
    // SAFETY: as above; the transpose has as many elements.
    unsafe { if is_full { tile.store::<true>(y) } else { tile.store::<false>(y) } }
}
