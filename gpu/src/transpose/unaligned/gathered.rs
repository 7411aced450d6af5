//! Large matrices of 1-byte and 2-byte elements: the kernel loads rows in 16-byte vectors and gathers each column
//! element by element.
//!
//! This extends the idea of [`by_vectors`](super::by_vectors) to elements smaller than a word. Shared memory holds the
//! vectors of a row unchanged, so a row may start at any element of its first vector. This number of elements is the
//! row's shift. Rows form groups of as many rows as a vector has elements. One vector of padding follows each group.
//! Rows at the same position in their groups have the same shift at any width.
//!
//! A thread gathers the elements of its vector in the order of the rows' positions in their groups, at whatever
//! position the vector's first row is. All lanes of a warp then read rows with the same shift. The eight lanes of an
//! octet read from consecutive groups, whose banks are one vector apart, and the octets read neighbouring columns. The
//! thread then rotates the vector in registers to the right order. The thread computes the positions of the elements
//! only once, because its columns are whole sectors of *y* apart.
//!
//! [`transpose_unaligned()`](super::transpose_unaligned()) loads words. Here a load has four times as many bytes, tiles
//! have 40 KiB, and there are no shuffles. Blocks have few threads, so a thread has registers for ten vectors in
//! flight. A small matrix has too few of these tiles to fill the GPU; use
//! [`transpose_unaligned()`](super::transpose_unaligned()) for it.
//!
//! The kernel is limited by memory. Source: this project.

use cuda_std::{Global, GlobalMut, Zeroable, kernel, shared_array, thread};

use super::{OCTET, Parts, Tile, Transpose, rotated};
use crate::transpose::Bits;
use crate::transpose::tuning::{self, UnalignedShape};

/// The length of arrays in registers: no thread has more vectors in flight, and no vector has more elements.
const MAX: usize = 16;

/// Constants that follow from the size of an element and the shape of a tile.
trait GatheredLayout: Bits {
    const SHAPE: UnalignedShape = tuning::gathered(size_of::<Self>());
    const THREADS: usize = Self::SHAPE.threads;
    /// The alignment of a column's stores, in elements.
    const ALIGNMENT: usize = Self::SHAPE.alignment / size_of::<Self>();
    /// The number of rows that a block loads.
    const LOADED_ROWS: usize = Self::SHAPE.rows;
    /// The number of rows that a block stores per column.
    const ROWS: usize = Self::LOADED_ROWS - Self::ALIGNMENT;
    /// The number of vectors that a block stores per column.
    const COLUMN_VECTORS: usize = Self::ROWS / Self::PER_VECTOR;
    /// The number of vectors of a row that a block loads.
    const ROW_VECTORS: usize = Self::SHAPE.row_bytes / size_of::<Self::Vector>();
    /// The number of columns that the loaded vectors of a row contain completely, whatever the row's alignment is.
    const COLUMNS: usize = (Self::ROW_VECTORS - 1) * Self::PER_VECTOR + 1;
    /// The distance between two groups of rows, in vectors.
    const GROUP: usize = Self::PER_VECTOR * Self::ROW_VECTORS + 1;
    /// The number of vectors that a block keeps in shared memory.
    const KEPT: usize = Self::LOADED_ROWS / Self::PER_VECTOR * Self::GROUP;
    /// The distance between two consecutive rows from which a thread loads, in rows.
    const ROW_STEP: usize = Self::THREADS / Self::ROW_VECTORS;
    /// The number of rows from which a thread loads.
    const LOADS: usize = Self::LOADED_ROWS / Self::ROW_STEP;
    /// The distance between two consecutive columns in which a thread stores, in columns.
    const COLUMN_STEP: usize = Self::THREADS / Self::COLUMN_VECTORS;

    /// True if the threads share the tile evenly in whole vectors, and an octet stores a column. In addition, some
    /// values must be equal in all steps of a thread, because the code computes them only once.
    const IS_EVEN: bool = Self::ROW_STEP * Self::ROW_VECTORS == Self::THREADS
        && Self::LOADS * Self::ROW_STEP == Self::LOADED_ROWS
        && Self::ROW_STEP.is_multiple_of(Self::PER_VECTOR)
        && Self::LOADED_ROWS.is_multiple_of(Self::PER_VECTOR)
        && Self::LOADED_ROWS >= 2 * Self::ALIGNMENT
        && Self::ALIGNMENT == <Self as super::Layout>::ALIGNMENT
        && Self::COLUMN_VECTORS == OCTET as usize
        && Self::COLUMN_STEP.is_multiple_of(Self::ALIGNMENT)
        && Self::LOADS <= MAX
        && Self::PER_VECTOR <= MAX;
}

impl<T: Bits> GatheredLayout for T {}

/// Returns the number of tiles along a column in a matrix of `height` rows, at any alignment of its columns.
pub const fn gathered_tile_rows<T: Bits>(height: usize) -> usize {
    height.saturating_add(<T as GatheredLayout>::ALIGNMENT - 1).div_ceil(<T as GatheredLayout>::ROWS)
}

/// Returns the number of tiles along a row in a matrix of `width` columns.
pub const fn gathered_tile_columns<T: Bits>(width: usize) -> usize {
    width.div_ceil(<T as GatheredLayout>::COLUMNS)
}

/// Returns this thread's number in its block.
#[inline(always)]
fn thread_of<T: GatheredLayout>() -> u32 {
    // In a block of `THREADS` threads, the remainder never changes the value. It lets the compiler see the bound.
    thread::thread_idx_x() % <T as GatheredLayout>::THREADS as u32
}

impl<T: Bits> Tile<T> {
    /// Loads the tile into shared memory.
    ///
    /// # Safety
    /// `x` must contain the matrix. If `FULL` is true, the matrix must contain the tile's rows and columns, one row
    /// before them and one row after them.
    #[inline(always)]
    unsafe fn load_gathered<const FULL: bool>(&self, x: Global<T>) {
        let x = Parts::<T, T::Vector>::new(x);
        let kept = self.words.cast::<T::Vector>();
        let thread = thread_of::<T>() as usize;
        let row_vectors = <T as GatheredLayout>::ROW_VECTORS;
        let row_step = <T as GatheredLayout>::ROW_STEP;
        let (line, vector) = (thread / row_vectors, thread % row_vectors);
        let slot = line * row_vectors + line / T::PER_VECTOR + vector;
        // `ROW_STEP` rows are a whole number of groups, and a whole number of vectors of `x` at any row length.
        let groups = row_step / T::PER_VECTOR;
        let (step, slot_step) = (groups * self.width, groups * <T as GatheredLayout>::GROUP);
        // Computes the index of the first element of the thread's row, and the index of the vector that contains this
        // element. Both are negative for rows before row 0.
        let row = (self.row as u32 as i32 + line as i32) as isize;
        let start = row * self.width as isize + self.column as isize;
        let at = (x.elements.as_ptr() as isize).wrapping_add(start * size_of::<T>() as isize);
        let shift = at as usize / size_of::<T>() % T::PER_VECTOR;
        let vectors = (at - (shift * size_of::<T>()) as isize).wrapping_sub(x.whole.as_ptr() as isize);
        let first = ((vectors / size_of::<T::Vector>() as isize) as usize).wrapping_add(vector);
        // True if the thread's vectors contain elements of the tile's columns and, at an edge, of its rows.
        let is_needed = vector as u32 * (T::PER_VECTOR as u32) < self.columns + shift as u32;
        let is_inside = |i: usize| {
            let row = (line + i * row_step) as u32;
            is_needed & self.rows.contains(&row)
        };
        let mut loaded = [T::Vector::zeroed(); MAX];
        for i in 0..T::LOADS {
            let index = first.wrapping_add(i * step);
            if FULL || (is_inside(i) & (index < x.whole.len())) {
                // SAFETY: if `FULL` is true, by this function's contract `x` has a row before the tile and a row after
                // it. Otherwise the comparison has checked the index.
                loaded[i] = unsafe { x.whole.load_unchecked(index) };
            }
        }
        for i in 0..T::LOADS {
            // SAFETY: the row and the vector are in the tile.
            unsafe { kept.store_unchecked(slot + i * slot_step, loaded[i]) };
        }
        if !FULL {
            // The matrix may start and end within a vector. The elements of such a vector are loaded one by one.
            let elements = self.words.cast::<T>();
            let mut i = 0;
            while i < T::LOADS {
                if is_inside(i) && first.wrapping_add(i * step) >= x.whole.len() {
                    for place in 0..T::PER_VECTOR {
                        let index = (start as usize)
                            .wrapping_sub(shift)
                            .wrapping_add((vector + i * step) * T::PER_VECTOR + place);
                        if index < x.elements.len() {
                            let slot = (slot + i * slot_step) * T::PER_VECTOR + place;
                            // SAFETY: the element is in the matrix, and its position belongs to a vector of the tile.
                            unsafe { elements.store_unchecked(slot, x.elements.load_unchecked(index)) };
                        }
                    }
                }
                i += 1;
            }
        }
    }

    /// Stores the columns of the tile.
    ///
    /// # Safety
    /// `y` must have room for the transpose.
    #[inline(always)]
    unsafe fn store_gathered(&self, y: GlobalMut<T>) {
        let y = Transpose::new(y);
        let thread = thread_of::<T>();
        let (column, vector) = (thread / OCTET, thread % OCTET);
        // `COLUMN_STEP` columns span whole sectors of `y`, so the stored parts of all columns of a thread start at the
        // same row.
        let (row, mut index) = self.begin(&y, column, vector);
        let places = self.places(column, row);
        let (step, per_vector) = (T::COLUMN_STEP as u32, T::PER_VECTOR as u32);
        let rows = row.max(self.rows.start)..(row + per_vector).min(self.rows.end);
        let mut further = 0;
        if rows.len() == T::PER_VECTOR {
            let mut at = y.vector(index);
            while column + further < self.columns {
                // SAFETY: the column and the rows are in the tile.
                let moved = unsafe { self.gather_elements(&places, row, further) };
                // SAFETY: all elements of the vector are in the matrix.
                unsafe { y.vectors.store_unchecked(at, moved) };
                further += step;
                at += T::COLUMN_STEP / T::PER_VECTOR * self.height;
            }
            return;
        }
        // The vector extends beyond the matrix: its elements inside the matrix are stored one by one.
        while !rows.is_empty() && column + further < self.columns {
            for i in 0..per_vector {
                if rows.contains(&(row + i)) {
                    // SAFETY: the element is in the tile and in the matrix.
                    unsafe {
                        let place = self.place(column + further, row + i) as usize;
                        y.elements.store_unchecked(
                            index.wrapping_add(i as usize),
                            self.words.cast::<T>().load_unchecked(place),
                        );
                    }
                }
            }
            further += step;
            index = index.wrapping_add(T::COLUMN_STEP * self.height);
        }
    }

    /// Returns the index in shared memory of the element of `column` in row `row` of the tile.
    #[inline(always)]
    fn place(&self, column: u32, row: u32) -> u32 {
        let (per_vector, row_vectors) = (T::PER_VECTOR as u32, <T as GatheredLayout>::ROW_VECTORS as u32);
        let shift = self.shift.wrapping_add((row % per_vector).wrapping_mul(self.width as u32)) % per_vector;
        let group = row / per_vector * <T as GatheredLayout>::GROUP as u32;
        (group + row % per_vector * row_vectors) * per_vector + shift + column
    }

    /// Returns the indices in shared memory of the elements of `column` in the rows of one vector, which starts at row
    /// `row` of the tile. Entry *i* of the array belongs to the row at position *i* in its group of rows.
    #[inline(always)]
    fn places(&self, column: u32, row: u32) -> [u32; MAX] {
        let per_vector = T::PER_VECTOR as u32;
        let (group, begin) = (row - row % per_vector, row % per_vector);
        let next = <T as GatheredLayout>::GROUP as u32 * per_vector;
        let mut places = [0; MAX];
        for i in 0..per_vector {
            // Rows at positions before the position of the first row belong to the next group.
            places[i as usize] = self.place(column, group + i) + if i < begin { next } else { 0 };
        }
        places
    }

    /// Returns the vector whose elements are `further` elements after the indices `places` in shared memory. The vector
    /// starts at row `row` of the tile.
    ///
    /// # Safety
    /// `places` must come from [`places`](Self::places) for that row, and the elements must be in the tile.
    #[inline(always)]
    unsafe fn gather_elements(&self, places: &[u32; MAX], row: u32, further: u32) -> T::Vector {
        let elements = self.words.cast::<T>();
        let (per_word, mut words) = (T::PER_WORD, [T::Word::zeroed(); 4]);
        for i in 0..T::PER_VECTOR {
            // SAFETY: by this function's contract, the elements are in the tile.
            let element = unsafe { elements.load_unchecked((places[i] + further) as usize) };
            words[i / per_word] = T::with(words[i / per_word], element, i % per_word);
        }
        // The first element of the vector is at the position that `row` has in its group.
        let begin = row % T::PER_VECTOR as u32;
        let words = rotated::<T>(words, 0_u32.wrapping_sub(begin / per_word as u32));
        let within = begin % per_word as u32;
        T::vector([
            T::from_within(words[0], words[1], within),
            T::from_within(words[1], words[2], within),
            T::from_within(words[2], words[3], within),
            T::from_within(words[3], words[0], within),
        ])
    }
}

/// Writes the transpose of `x`, whose elements have 1 or 2 bytes, to `y`. Loads and stores have 16 bytes. The stores of
/// a column start at a sector boundary. `x` has `height` rows of `width` elements, both below 2³¹. The views may begin
/// at any element. Launch one block of [`GATHERED_THREADS`](super::super::GATHERED_THREADS) threads per tile. The grid
/// has [`gathered_tile_rows`] blocks along x and [`gathered_tile_columns`] along y and z.
#[kernel(max_threads = 256, min_blocks = 4, instances(T = [u8, u16]), wide(loads, stores))]
pub fn transpose_gathered<T: Bits>(x: Global<T>, y: GlobalMut<T>, width: usize, height: usize) {
    const { assert!(<T as GatheredLayout>::IS_EVEN, "the threads of a block must share a tile evenly") };
    // Sizes have 31 bits, so that few instructions precede the loads.
    let is_right = ((width | height) >> 31 == 0)
        & (width as u32 as u64 * height as u32 as u64 == x.len() as u64)
        & (y.len() == x.len())
        & (thread::block_dim_x() as usize == <T as GatheredLayout>::THREADS);
    assert!(is_right);
    let (columns, rows) = (width as u32, height as u32);
    let vectors = shared_array![<T as Bits>::Vector; <T as GatheredLayout>::KEPT];
    let (tile_rows, tile_columns) = (<T as GatheredLayout>::ROWS as u32, <T as GatheredLayout>::COLUMNS as u32);
    let (loaded_rows, alignment) = (<T as GatheredLayout>::LOADED_ROWS as u32, <T as GatheredLayout>::ALIGNMENT as u32);
    let tile_row = thread::block_idx_x();
    let tile_column = thread::block_idx_z() * thread::grid_dim_y() + thread::block_idx_y();
    let is_beyond = u64::from(tile_row) * u64::from(tile_rows) >= u64::from(rows + alignment - 1);
    if is_beyond | (u64::from(tile_column) * u64::from(tile_columns) >= u64::from(columns)) {
        return;
    }
    let column = tile_column * tile_columns;
    let row = (tile_row * tile_rows + 1) as i32 - alignment as i32;
    let held = (columns - column).min(tile_columns);
    // Only the first tile has rows before the first row of the matrix.
    let start = if tile_row == 0 { alignment - 1 } else { 0 };
    let below = (rows as i32 - row) as u32;
    // A tile inside the matrix needs no comparisons. The matrix must have one more row below it, because its vectors
    // may extend beyond it.
    let is_full = (tile_row > 0) & (below > loaded_rows) & (column + tile_columns <= columns);
    let (row, column, width, height) = (row as isize as usize, column as usize, columns as usize, rows as usize);
    let first = (x.as_ptr() as usize / size_of::<T>()).wrapping_add(row.wrapping_mul(width)).wrapping_add(column);
    let shift = (first % T::PER_VECTOR) as u32;
    let rows = start..below.min(loaded_rows);
    let tile = Tile::<T> { column, row, columns: held, rows, width, height, shift, words: vectors.cast() };
    // SAFETY: `is_right` has checked the size, and `is_full` the position of a full tile.
    unsafe { if is_full { tile.load_gathered::<true>(x) } else { tile.load_gathered::<false>(x) } }
    thread::sync_threads();
    // SAFETY: `is_right` has checked that `y` has as many elements as `x`.
    unsafe { tile.store_gathered(y) }
}
