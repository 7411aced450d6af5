//! Bytes and halves: rows are loaded by words, and lie at another place of their word in each row.
//!
//! A funnel shift makes a word that begins with a column of the tile out of two loaded words, of which the second is the next
//! lane's and comes by shuffle. Such words of several rows are turned into words of one column each. Shared memory holds
//! these, in rows that are padded by a word. A thread gathers the words of its vector in an order that depends on its place, so
//! that the lanes of a warp meet no bank conflict; it takes one word more, and shifts again.

use cuda_std::{Global, Zeroable, warp};

use super::{Bits, LANES, Layout, MOST, OCTET, Parts, Tile, Transpose, lane_and_warp, rotated};

/// What follows from the size of an element and the shape of its tile.
pub(super) trait WordLayout: Bits {
    /// Pieces of a row: a piece is a word per lane.
    const PIECES: usize = Self::UNALIGNED.row_bytes / (LANES as usize * size_of::<Self::Word>());
    /// Words of a piece of a row that begin in the piece, wherever the first begins in its word.
    const PIECE_WORDS: usize = LANES as usize - 1;
    /// Columns of a piece, and of a tile.
    const PIECE_COLUMNS: usize = Self::PIECE_WORDS * Self::PER_WORD;
    const USED_COLUMNS: usize = Self::PIECES * Self::PIECE_COLUMNS;
    /// Rows of words, each of [`PER_WORD`](Bits::PER_WORD) rows.
    const WORD_ROWS: usize = Self::UNALIGNED.rows / Self::PER_WORD;
    /// Places of columns in a row of words, some of them of no column, and words from a row to the next.
    const PLACES: usize = Self::PIECES * Self::PER_WORD * LANES as usize;
    const PITCH: usize = Self::PLACES + 1;
    /// Words that a block keeps.
    const KEPT_WORDS: usize = Self::WORD_ROWS * Self::PITCH;
    /// Pieces of rows of words that a warp loads.
    const WORD_LOADS: usize = Self::PIECES * Self::WORD_ROWS / Self::WARPS;
    /// Vectors that a thread stores.
    const WORD_STORES: usize = Self::PLACES * Self::OCTETS / (Self::THREADS / OCTET as usize);

    /// Whether the threads share the tile evenly.
    const ARE_WORDS_SHARED: bool = Self::WORD_LOADS * Self::WARPS == Self::PIECES * Self::WORD_ROWS
        && Self::WORD_STORES * Self::THREADS == Self::PLACES * Self::OCTETS * OCTET as usize
        && Self::WORD_LOADS <= MOST;
}

impl<T: Bits> WordLayout for T {}

impl<T: Bits> Tile<T> {
    /// Loads the tile by words.
    ///
    /// # Safety
    /// As for [`load`](Self::load).
    #[inline(always)]
    pub(super) unsafe fn load_words<const FULL: bool>(&self, x: Global<T>) {
        let x = Parts::<T, T::Word>::new(x);
        if FULL {
            let mut loaded = [([T::Word::zeroed(); 4], [0; 4]); MOST];
            for i in 0..T::WORD_LOADS {
                // SAFETY: the caller's.
                loaded[i] = unsafe { self.load_rows::<true>(&x, i) };
            }
            for i in 0..T::WORD_LOADS {
                self.keep_rows(loaded[i], i);
            }
        } else {
            // One load after the other: the comparisons of several at a time take more registers than all of the rest. The
            // shuffles keep the compilers from moving the loop's loads together.
            for i in 0..T::WORD_LOADS {
                // SAFETY: the caller's.
                self.keep_rows(unsafe { self.load_rows::<false>(&x, i) }, i);
            }
        }
    }

    /// This warp's `i`-th words of as many rows as a word has elements, and where in each the first element is.
    ///
    /// # Safety
    /// As for [`load`](Self::load).
    #[inline(always)]
    unsafe fn load_rows<const FULL: bool>(&self, x: &Parts<T, T::Word>, i: usize) -> ([T::Word; 4], [u32; 4]) {
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
                    loaded[j] = Self::word_at_edge(x, number);
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
        for j in 0..T::PER_WORD {
            let next = warp::shuffle_down(warp::FULL_MASK, rows[j], 1);
            rows[j] = T::from_within(rows[j], next, shifts[j]);
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
        (number % T::PIECES, number / T::PIECES)
    }

    /// Word `number`, whatever part of it is in the matrix.
    #[inline(always)]
    fn word_at_edge(x: &Parts<T, T::Word>, number: usize) -> T::Word {
        let index = x.index(number);
        if index < x.whole.len() {
            // SAFETY: just compared.
            return unsafe { x.whole.load_unchecked(index) };
        }
        let mut word = T::Word::zeroed();
        for i in 0..T::PER_WORD {
            if let Some(element) = x.element(number, i) {
                word = T::with(word, element, i);
            }
        }
        word
    }

    /// Stores the tile's columns.
    ///
    /// # Safety
    /// As for [`store`](Self::store).
    #[inline(always)]
    pub(super) unsafe fn store_from_words<const FULL: bool>(&self, y: &Transpose<T>) {
        let (lane, warp) = lane_and_warp::<T>();
        let (octets, per_word) = (T::OCTETS as u32, T::PER_WORD as u32);
        for i in 0..T::WORD_STORES {
            let octet = warp * (LANES / OCTET) + lane / OCTET + (i * T::THREADS) as u32 / OCTET;
            let (place, vector) = (octet / octets, octet % octets * OCTET + lane % OCTET);
            let (in_piece, line) = (place % LANES, place / LANES);
            let column = line / per_word * T::PIECE_COLUMNS as u32 + in_piece * per_word + line % per_word;
            let is_a_column = in_piece < T::PIECE_WORDS as u32 && (FULL || column < self.columns);
            if is_a_column && vector < (T::ROWS / T::PER_VECTOR) as u32 {
                // SAFETY: a column and a vector of the tile, and where its elements are kept.
                unsafe {
                    self.store_part::<FULL>(
                        y,
                        (column, vector),
                        |row| self.gather(place, row, lane / OCTET),
                        |row| (row / per_word * T::PITCH as u32 + place) * per_word + row % per_word,
                    );
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
        let mut words = [T::Word::zeroed(); 4];
        for i in 0..count {
            // SAFETY: the caller's.
            words[i as usize] = unsafe { self.words.load_unchecked((first + (i + turned) % count * pitch) as usize) };
        }
        words = rotated::<T>(words, turned);
        // SAFETY: the tile has a row of words more than its columns' vectors, wherever they begin.
        let fifth = unsafe { self.words.load_unchecked((first + count * pitch) as usize) };
        T::vector([
            T::from_within(words[0], words[1], shift),
            T::from_within(words[1], words[2], shift),
            T::from_within(words[2], words[3], shift),
            T::from_within(words[3], fifth, shift),
        ])
    }
}
