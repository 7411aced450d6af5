//! Elements of 4 and 8 bytes: the kernel loads rows in aligned 16-byte vectors and keeps them unchanged in shared
//! memory.
//!
//! The first element of a row may therefore be at any word of its vector. This shifts the words of the row's columns in
//! shared memory. The threads take this shift into account when they gather the words of a column.
//!
//! Rows form groups of as many rows as a vector has words. One vector of padding follows each group. Rows at the same
//! position in their groups have the same shift. Each thread gathers the words of its vector in the order of these
//! positions, at whatever position the vector's first row is. The eight lanes of an octet then read from consecutive
//! groups, whose banks are one vector apart, and the octets of a warp read neighbouring columns. There are no bank
//! conflicts at any width.

use cuda_std::{Global, Zeroable};

use super::{Bits, LANES, Layout, MAX, OCTET, Parts, Tile, Transpose, lane_and_warp, rotated};

/// The number of columns in which a warp stores at once.
const WARP_COLUMNS: usize = (LANES / OCTET) as usize;

/// Constants that follow from the size of an element and the shape of a tile.
pub(super) trait VectorLayout: Bits {
    /// The number of vectors of a row that a block loads.
    const ROW_VECTORS: usize = Self::UNALIGNED.row_bytes / size_of::<Self::Vector>();
    /// The number of columns that the loaded vectors of a row contain completely, whatever the row's alignment is.
    const HELD_COLUMNS: usize = (Self::ROW_VECTORS - 1) * Self::WORDS + 1;
    /// The distance between two groups of rows, in vectors.
    const GROUP: usize = Self::WORDS * Self::ROW_VECTORS + 1;
    /// The number of words that a block keeps in shared memory.
    const HELD_WORDS: usize = Self::UNALIGNED.rows / Self::WORDS * Self::GROUP * Self::WORDS;
    /// The distance between two consecutive rows from which a thread loads, in rows.
    const ROW_STEP: usize = Self::THREADS / Self::ROW_VECTORS;
    /// The number of rows from which a thread loads.
    const VECTOR_LOADS: usize = Self::UNALIGNED.rows / Self::ROW_STEP;
    /// The distance between two consecutive columns in which a thread stores, in columns.
    const COLUMN_STEP: usize = Self::WARPS / Self::OCTETS * WARP_COLUMNS;
    /// The largest number of columns in which a thread stores.
    const VECTOR_STORES: usize = Self::HELD_COLUMNS.div_ceil(Self::COLUMN_STEP);

    /// True if the threads share the tile evenly, and if some values are equal in all steps of a thread, because the
    /// code computes them only once.
    const ARE_VECTORS_SHARED: bool = Self::ROW_STEP * Self::ROW_VECTORS == Self::THREADS
        && Self::VECTOR_LOADS * Self::ROW_STEP == Self::UNALIGNED.rows
        && Self::ROW_STEP.is_multiple_of(Self::WORDS)
        && Self::WARPS.is_multiple_of(Self::OCTETS)
        && Self::COLUMN_STEP.is_multiple_of(Self::ALIGNMENT)
        && Self::VECTOR_LOADS <= MAX;
}

impl<T: Bits> VectorLayout for T {}

impl<T: Bits> Tile<T> {
    /// Loads the tile into shared memory, one vector per access.
    ///
    /// # Safety
    /// The caller must satisfy the contract of [`load`](Self::load).
    #[inline(always)]
    pub(super) unsafe fn load_vectors<const FULL: bool>(&self, x: Global<T>) {
        let x = Parts::<T, T::Vector>::new(x);
        let kept = self.words.cast::<T::Vector>();
        let (lane, warp) = lane_and_warp::<T>();
        let thread = (warp * LANES + lane) as usize;
        let (line, vector) = (thread / T::ROW_VECTORS, thread % T::ROW_VECTORS);
        let slot = line * T::ROW_VECTORS + line / T::WORDS + vector;
        // `ROW_STEP` rows are a whole number of groups, and a whole number of vectors of `x` at any row length.
        let (step, slot_step) = (T::ROW_STEP / T::WORDS * self.width, T::ROW_STEP / T::WORDS * T::GROUP);
        if FULL {
            let (number, _) = x.place((self.row + line) * self.width + self.column);
            let first = x.index(number) + vector;
            let mut loaded = [T::Vector::zeroed(); MAX];
            for i in 0..T::VECTOR_LOADS {
                // SAFETY: by the contract of `load`, the matrix has a row before the tile and a row after it, so the
                // vector is in `x`.
                loaded[i] = unsafe { x.whole.load_unchecked(first + i * step) };
            }
            for i in 0..T::VECTOR_LOADS {
                // SAFETY: the row and the vector are in the tile.
                unsafe { kept.store_unchecked(slot + i * slot_step, loaded[i]) };
            }
        } else {
            // At an edge, loads follow one after the other, because comparisons for several loads at once would need
            // too many registers. The early end of the loop keeps the compilers from moving the loads together.
            let mut i = 0;
            while i < T::VECTOR_LOADS && line + i * T::ROW_STEP < self.rows.end as usize {
                let row = self.row.wrapping_add(line + i * T::ROW_STEP);
                if row < self.height {
                    let (number, shift) = x.place(row * self.width + self.column);
                    if vector * T::WORDS < (self.columns + shift) as usize {
                        let loaded = Self::vector_at_edge(&x, number + vector);
                        // SAFETY: the row and the vector are in the tile.
                        unsafe { kept.store_unchecked(slot + i * slot_step, loaded) };
                    }
                }
                i += 1;
            }
        }
    }

    /// Returns vector `number`. Elements of the vector that are outside the matrix are zero.
    #[inline(always)]
    fn vector_at_edge(x: &Parts<T, T::Vector>, number: usize) -> T::Vector {
        let index = x.index(number);
        if index < x.whole.len() {
            // SAFETY: the comparison above has checked the index.
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

    /// Stores the columns of the tile.
    ///
    /// # Safety
    /// The caller must satisfy the contract of [`store`](Self::store).
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
            // `COLUMN_STEP` columns span whole sectors of `y`, so the stored parts of all columns of a thread start at
            // the same row.
            let (row, index) = self.begin(y, column, vector);
            let (first, places) = (y.vector(index), self.word_places(column, row));
            for i in 0..T::VECTOR_STORES {
                let further = i * T::COLUMN_STEP;
                if column as usize + further < T::COLUMNS {
                    // SAFETY: the column and the rows are in the tile.
                    let moved = unsafe { self.gather_shifted(places, row, further as u32) };
                    // SAFETY: by the contract of `store`, the vector is in the matrix.
                    unsafe { y.vectors.store_unchecked(first + further / T::WORDS * self.height, moved) };
                }
            }
        } else {
            for i in 0..T::VECTOR_STORES {
                let column = column + (i * T::COLUMN_STEP) as u32;
                if column < self.columns {
                    // SAFETY: the column and the vector are in the tile.
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

    /// Returns the index in shared memory of the word of `column` in row `row` of the tile.
    #[inline(always)]
    fn word_place(&self, column: u32, row: u32) -> u32 {
        let words = T::WORDS as u32;
        let shift = self.shift.wrapping_add(row.wrapping_mul(self.width as u32)) % words;
        (row / words * T::GROUP as u32 + row % words * T::ROW_VECTORS as u32) * words + shift + column
    }

    /// Returns the indices in shared memory of the words of `column` in the rows of one vector, which starts at row
    /// `row` of the tile. Entry *i* of the array belongs to the row at position *i* in its group of rows.
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

    /// Returns the vector whose words are `further` words after the indices `places` in shared memory. The vector
    /// starts at row `row` of the tile.
    ///
    /// # Safety
    /// `places` must come from [`word_places`](Self::word_places) for that row, and the words must be in the tile.
    #[inline(always)]
    unsafe fn gather_shifted(&self, places: [u32; 4], row: u32, further: u32) -> T::Vector {
        let mut words = [T::Word::zeroed(); 4];
        for i in 0..T::WORDS {
            // SAFETY: by this function's contract, the words are in the tile.
            words[i] = unsafe { self.words.load_unchecked((places[i] + further) as usize) };
        }
        // The first word of the vector is at the position that `row` has in its group.
        T::vector(rotated::<T>(words, 0_u32.wrapping_sub(row)))
    }
}
