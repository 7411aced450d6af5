//! Elements of 1 and 2 bytes: the kernel loads rows in words. A row may start at any element of its first word.
//!
//! A funnel shift combines a thread's word and the next word into a word that starts at a column of the tile. The
//! thread gets the next word from the next lane by a shuffle. The thread then transposes such words of several rows
//! into words of one column each. Shared memory holds these words, in rows that are padded by one word. A thread
//! gathers the words of its vector in an order that depends on the thread's position in the warp. This avoids bank
//! conflicts. The vector may start within a word, so the thread gathers one more word and shifts all words.

use cuda_std::{Global, Zeroable, warp};

use super::{Bits, LANES, Layout, MAX, OCTET, Parts, Tile, Transpose, lane_and_warp, rotated};

/// Constants that follow from the size of an element and the shape of a tile.
pub(super) trait WordLayout: Bits {
    /// The number of pieces of a row. A piece has one word per lane.
    const PIECES: usize = Self::UNALIGNED.row_bytes / (LANES as usize * size_of::<Self::Word>());
    /// The number of words in a piece that are whole after the shift, whatever the alignment of its first column is.
    const PIECE_WORDS: usize = LANES as usize - 1;
    /// The number of columns in a piece.
    const PIECE_COLUMNS: usize = Self::PIECE_WORDS * Self::PER_WORD;
    /// The number of columns in a tile.
    const USED_COLUMNS: usize = Self::PIECES * Self::PIECE_COLUMNS;
    /// The number of rows of words in a tile. A row of words contains [`PER_WORD`](Bits::PER_WORD) rows of elements.
    const WORD_ROWS: usize = Self::UNALIGNED.rows / Self::PER_WORD;
    /// The number of columns for which a row of words has room. Some of these columns stay unused.
    const PLACES: usize = Self::PIECES * Self::PER_WORD * LANES as usize;
    /// The distance between two rows of words, in words.
    const PITCH: usize = Self::PLACES + 1;
    /// The number of words that a block keeps in shared memory.
    const KEPT_WORDS: usize = Self::WORD_ROWS * Self::PITCH;
    /// The number of pieces that a warp loads: one per step, from one row of words.
    const WORD_LOADS: usize = Self::PIECES * Self::WORD_ROWS / Self::WARPS;
    /// The number of vectors that a thread stores.
    const WORD_STORES: usize = Self::PLACES * Self::OCTETS / (Self::THREADS / OCTET as usize);

    /// True if the threads share the tile evenly.
    const ARE_WORDS_SHARED: bool = Self::WORD_LOADS * Self::WARPS == Self::PIECES * Self::WORD_ROWS
        && Self::WORD_STORES * Self::THREADS == Self::PLACES * Self::OCTETS * OCTET as usize
        && Self::WORD_LOADS <= MAX;
}

impl<T: Bits> WordLayout for T {}

impl<T: Bits> Tile<T> {
    /// Loads the tile into shared memory, one word per access.
    ///
    /// # Safety
    /// The caller must satisfy the contract of [`load`](Self::load).
    #[inline(always)]
    pub(super) unsafe fn load_words<const FULL: bool>(&self, x: Global<T>) {
        let x = Parts::<T, T::Word>::new(x);
        if FULL {
            let mut loaded = [([T::Word::zeroed(); 4], [0; 4]); MAX];
            for i in 0..T::WORD_LOADS {
                // SAFETY: this function's contract is also that of `load_rows`.
                loaded[i] = unsafe { self.load_rows::<true>(&x, i) };
            }
            for i in 0..T::WORD_LOADS {
                self.keep_rows(loaded[i], i);
            }
        } else {
            // At an edge, loads follow one after the other, because comparisons for several loads at once would need
            // too many registers. The shuffles keep the compilers from moving the loads together.
            for i in 0..T::WORD_LOADS {
                // SAFETY: this function's contract is also that of `load_rows`.
                self.keep_rows(unsafe { self.load_rows::<false>(&x, i) }, i);
            }
        }
    }

    /// Loads the lane's words for the warp's `i`-th step: one word from each row of a row of words. Returns these
    /// words. For each row, also returns the position in the row's first word at which the row starts.
    ///
    /// # Safety
    /// The caller must satisfy the contract of [`load`](Self::load).
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
                    // SAFETY: by the contract of `load`, the matrix has a row before the tile and a row after it, so
                    // the word is in `x`.
                    loaded[j] = unsafe { x.whole.load_unchecked(x.index(number)) };
                } else if column + lane as usize * T::PER_WORD < self.width + shift as usize {
                    loaded[j] = Self::word_at_edge(x, number);
                }
            }
        }
        (loaded, shifts)
    }

    /// Transposes the result of [`load_rows`](Self::load_rows) and stores it in shared memory.
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
            // SAFETY: the row and the position are in the tile.
            unsafe { self.words.store_unchecked(line * T::PITCH + place, columns[j]) };
        }
    }

    /// Returns the numbers of the piece and of the row of words that the thread's warp loads in its `i`-th step.
    #[inline(always)]
    fn piece_and_line(i: usize) -> (usize, usize) {
        let (_, warp) = lane_and_warp::<T>();
        let number = warp as usize + i * T::WARPS;
        (number % T::PIECES, number / T::PIECES)
    }

    /// Returns word `number`. Elements of the word that are outside the matrix are zero.
    #[inline(always)]
    fn word_at_edge(x: &Parts<T, T::Word>, number: usize) -> T::Word {
        let index = x.index(number);
        if index < x.whole.len() {
            // SAFETY: the comparison above has checked the index.
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

    /// Stores the columns of the tile.
    ///
    /// # Safety
    /// The caller must satisfy the contract of [`store`](Self::store).
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
                // SAFETY: the column and the vector are in the tile, and both closures return positions of their
                // elements.
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

    /// Returns a vector of the column at position `place`: the vector that starts at row `row` of the tile. `octet`
    /// must be the number of the thread's octet in its warp.
    ///
    /// # Safety
    /// `place` must be a column position of the tile, and the rows of the vector must be in the tile.
    #[inline(always)]
    unsafe fn gather(&self, place: u32, row: u32, octet: u32) -> T::Vector {
        let (line, shift) = (row / T::PER_WORD as u32, row % T::PER_WORD as u32);
        let (count, pitch) = (T::WORDS as u32, T::PITCH as u32);
        let first = line * pitch + place;
        // The lanes of an octet read `count` banks apart. The rotation lets each octet start one bank after the
        // previous octet. The next row of words is one bank further, and so is the next column position.
        let turned = octet.wrapping_sub(line + place) % count;
        let mut words = [T::Word::zeroed(); 4];
        for i in 0..count {
            // SAFETY: by this function's contract, these rows and this position are in the tile.
            words[i as usize] = unsafe { self.words.load_unchecked((first + (i + turned) % count * pitch) as usize) };
        }
        words = rotated::<T>(words, turned);
        // SAFETY: the tile has one row of words more than the vectors of its columns need, at any alignment.
        let fifth = unsafe { self.words.load_unchecked((first + count * pitch) as usize) };
        T::vector([
            T::from_within(words[0], words[1], shift),
            T::from_within(words[1], words[2], shift),
            T::from_within(words[2], words[3], shift),
            T::from_within(words[3], fifth, shift),
        ])
    }
}
