//! Elements of 4 and 8 bytes: rows are loaded by 16 bytes, from a multiple of 16 bytes on, and kept as they are loaded.
//!
//! So each row begins at another place of its first vector, and the words of its columns lie that many words further on. This
//! shift is applied where the words of a column are gathered. As many rows as a vector has words form a group, which is padded
//! by a vector; rows at the same place in their groups have the same shift. A thread gathers the words of its vector in the
//! order of their places in the groups, whichever of them comes first in the column. Then the lanes of an octet read from
//! consecutive groups, a vector apart, and the octets of a warp read neighbouring columns: no bank conflict, whatever the width.

use cuda_std::{Global, Zeroable};

use super::{Bits, LANES, Layout, MOST, OCTET, Parts, Tile, Transpose, lane_and_warp, rotated};

/// Columns that a warp stores of at a time.
const WARP_COLUMNS: usize = (LANES / OCTET) as usize;

/// What follows from the size of an element and the shape of its tile.
pub(super) trait VectorLayout: Bits {
    /// Vectors of a row that a block loads.
    const ROW_VECTORS: usize = Self::UNALIGNED.row_bytes / size_of::<Self::Vector>();
    /// Columns that these hold, wherever the first begins in its vector.
    const HELD_COLUMNS: usize = (Self::ROW_VECTORS - 1) * Self::WORDS + 1;
    /// Vectors from a group of rows to the next, and words that a block keeps.
    const GROUP: usize = Self::WORDS * Self::ROW_VECTORS + 1;
    const HELD_WORDS: usize = Self::UNALIGNED.rows / Self::WORDS * Self::GROUP * Self::WORDS;
    /// Rows from one that a thread loads of to its next, and how many it loads of.
    const ROW_STEP: usize = Self::THREADS / Self::ROW_VECTORS;
    const VECTOR_LOADS: usize = Self::UNALIGNED.rows / Self::ROW_STEP;
    /// Columns from one that a thread stores of to its next, and how many it stores of at most.
    const COLUMN_STEP: usize = Self::WARPS / Self::OCTETS * WARP_COLUMNS;
    const VECTOR_STORES: usize = Self::HELD_COLUMNS.div_ceil(Self::COLUMN_STEP);

    /// Whether the threads share the tile evenly, and a thread's steps keep what its code takes to be the same in all of them.
    const ARE_VECTORS_SHARED: bool = Self::ROW_STEP * Self::ROW_VECTORS == Self::THREADS
        && Self::VECTOR_LOADS * Self::ROW_STEP == Self::UNALIGNED.rows
        && Self::ROW_STEP.is_multiple_of(Self::WORDS)
        && Self::WARPS.is_multiple_of(Self::OCTETS)
        && Self::COLUMN_STEP.is_multiple_of(Self::ALIGNMENT)
        && Self::VECTOR_LOADS <= MOST;
}

impl<T: Bits> VectorLayout for T {}

impl<T: Bits> Tile<T> {
    /// Loads the tile by vectors.
    ///
    /// # Safety
    /// As for [`load`](Self::load).
    #[inline(always)]
    pub(super) unsafe fn load_vectors<const FULL: bool>(&self, x: Global<T>) {
        let x = Parts::<T, T::Vector>::new(x);
        let kept = self.words.cast::<T::Vector>();
        let (lane, warp) = lane_and_warp::<T>();
        let thread = (warp * LANES + lane) as usize;
        let (line, vector) = (thread / T::ROW_VECTORS, thread % T::ROW_VECTORS);
        let slot = line * T::ROW_VECTORS + line / T::WORDS + vector;
        // A step of rows is whole vectors of x, however long a row is, and whole groups.
        let (step, slot_step) = (T::ROW_STEP / T::WORDS * self.width, T::ROW_STEP / T::WORDS * T::GROUP);
        if FULL {
            let (number, _) = x.place((self.row + line) * self.width + self.column);
            let first = x.index(number) + vector;
            let mut loaded = [T::Vector::zeroed(); MOST];
            for i in 0..T::VECTOR_LOADS {
                // SAFETY: there is a row before the tile's, and one behind.
                loaded[i] = unsafe { x.whole.load_unchecked(first + i * step) };
            }
            for i in 0..T::VECTOR_LOADS {
                // SAFETY: a row and a vector of the tile.
                unsafe { kept.store_unchecked(slot + i * slot_step, loaded[i]) };
            }
        } else {
            // One load after the other: the comparisons of several at a time take more registers than all of the rest. That
            // the loop may end early keeps the compilers from moving its loads together.
            let mut i = 0;
            while i < T::VECTOR_LOADS && line + i * T::ROW_STEP < self.rows.end as usize {
                let row = self.row.wrapping_add(line + i * T::ROW_STEP);
                if row < self.height {
                    let (number, shift) = x.place(row * self.width + self.column);
                    if vector * T::WORDS < (self.columns + shift) as usize {
                        let loaded = Self::vector_at_edge(&x, number + vector);
                        // SAFETY: a row and a vector of the tile.
                        unsafe { kept.store_unchecked(slot + i * slot_step, loaded) };
                    }
                }
                i += 1;
            }
        }
    }

    /// Vector `number`, whatever part of it is in the matrix.
    #[inline(always)]
    fn vector_at_edge(x: &Parts<T, T::Vector>, number: usize) -> T::Vector {
        let index = x.index(number);
        if index < x.whole.len() {
            // SAFETY: just compared.
            return unsafe { x.whole.load_unchecked(index) };
        }
        let mut words = [T::Word::zeroed(); 4];
        for i in 0..T::WORDS {
            if let Some(element) = x.element(number, i) {
                words[i] = T::with(words[i], element, 0);
            }
        }
        T::vector(words)
    }

    /// Stores the tile's columns.
    ///
    /// # Safety
    /// As for [`store`](Self::store).
    #[inline(always)]
    pub(super) unsafe fn store_from_vectors<const FULL: bool>(&self, y: &Transpose<T>) {
        let (lane, warp) = lane_and_warp::<T>();
        let octets = T::OCTETS as u32;
        let column = warp / octets * WARP_COLUMNS as u32 + lane / OCTET;
        let vector = warp % octets * OCTET + lane % OCTET;
        if vector >= (T::ROWS / T::PER_VECTOR) as u32 {
            return;
        }
        if FULL {
            // A step of columns is whole sectors of y, so that all begin at the same row.
            let (row, index) = self.begin(y, column, vector);
            let (first, places) = (y.vector(index), self.word_places(column, row));
            for i in 0..T::VECTOR_STORES {
                let further = i * T::COLUMN_STEP;
                if column as usize + further < T::COLUMNS {
                    // SAFETY: a column and rows of the tile.
                    let moved = unsafe { self.gather_shifted(places, row, further as u32) };
                    // SAFETY: a vector of the matrix.
                    unsafe { y.vectors.store_unchecked(first + further / T::WORDS * self.height, moved) };
                }
            }
        } else {
            for i in 0..T::VECTOR_STORES {
                let column = column + (i * T::COLUMN_STEP) as u32;
                if column < self.columns {
                    // SAFETY: a column and a vector of the tile.
                    unsafe {
                        self.store_part::<false>(
                            y,
                            (column, vector),
                            |row| self.gather_shifted(self.word_places(column, row), row, 0),
                            |row| self.word_place(column, row),
                        );
                    }
                }
            }
        }
    }

    /// Where the word of `column` in row `row` of the tile is kept.
    #[inline(always)]
    fn word_place(&self, column: u32, row: u32) -> u32 {
        let words = T::WORDS as u32;
        let shift = self.shift.wrapping_add(row.wrapping_mul(self.width as u32)) % words;
        (row / words * T::GROUP as u32 + row % words * T::ROW_VECTORS as u32) * words + shift + column
    }

    /// Where the words of `column` from row `row` of the tile on are kept: each at its place in its group of rows.
    #[inline(always)]
    fn word_places(&self, column: u32, row: u32) -> [u32; 4] {
        let words = T::WORDS as u32;
        let mut places = [0; 4];
        for i in 0..words {
            let group = row / words + u32::from(i < row % words);
            places[i as usize] = self.word_place(column, group * words + i);
        }
        places
    }

    /// The vector of the words that are kept `further` words behind these places, from row `row` of the tile on.
    ///
    /// # Safety
    /// What [`word_places`](Self::word_places) gave for that row, and the words must be of the tile.
    #[inline(always)]
    unsafe fn gather_shifted(&self, places: [u32; 4], row: u32, further: u32) -> T::Vector {
        let mut words = [T::Word::zeroed(); 4];
        for i in 0..T::WORDS {
            // SAFETY: the caller's.
            words[i] = unsafe { self.words.load_unchecked((places[i] + further) as usize) };
        }
        // The first is the one at the row's own place in its group.
        T::vector(rotated::<T>(words, 0_u32.wrapping_sub(row)))
    }
}
