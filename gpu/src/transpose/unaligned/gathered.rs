//! Bytes and halves in large matrices: rows are loaded by 16 bytes, and a column is gathered element by element.
//!
//! As elements of a word are ([`by_vectors`](super::by_vectors)): shared memory holds the vectors of a row as they are loaded,
//! from wherever in the first of them the row begins. As many rows as a vector has elements form a group, which is padded by a
//! vector. The rows at one place in their groups have the same shift, whatever the width. So a thread gathers the elements of its
//! vector in the order of these places, not in that of the column: all lanes of a warp then read rows of one shift, an octet's from
//! consecutive groups, a vector apart, and the octets' from neighbouring columns. The vector is turned to where it begins in
//! registers. Where the elements are kept is computed once for all columns of a thread, which are whole sectors of *y* apart.
//!
//! What it changes against loads by words: four times as many bytes per load, tiles of 40 KiB, and no shuffles. Blocks are of
//! few threads, so that a thread has the registers for ten vectors on their way. A small matrix has too few of these tiles, and
//! is left to [`transpose_unaligned()`](super::transpose_unaligned()).
//!
//! Limited by memory. Source: this project.

use cuda_std::{Global, GlobalMut, Zeroable, kernel, shared_array, thread};

use super::{OCTET, Parts, Tile, Transpose, rotated};
use crate::transpose::Bits;
use crate::transpose::tuning::{self, UnalignedShape};

/// The most vectors that a thread has in flight, and elements of a vector.
const MOST: usize = 16;

/// What follows from the size of an element and the shape of its tile.
trait GatheredLayout: Bits {
    const SHAPE: UnalignedShape = tuning::gathered(size_of::<Self>());
    const THREADS: usize = Self::SHAPE.threads;
    /// Elements of what a column's stores are aligned to.
    const ALIGNMENT: usize = Self::SHAPE.alignment / size_of::<Self>();
    /// Rows that a block loads, and stores of each column; and vectors of these.
    const LOADED_ROWS: usize = Self::SHAPE.rows;
    const ROWS: usize = Self::LOADED_ROWS - Self::ALIGNMENT;
    const COLUMN_VECTORS: usize = Self::ROWS / Self::PER_VECTOR;
    /// Vectors of a row that a block loads, and the columns that these hold, wherever the first begins in its vector.
    const ROW_VECTORS: usize = Self::SHAPE.row_bytes / size_of::<Self::Vector>();
    const COLUMNS: usize = (Self::ROW_VECTORS - 1) * Self::PER_VECTOR + 1;
    /// Vectors from a group of rows to the next, and vectors that a block keeps.
    const GROUP: usize = Self::PER_VECTOR * Self::ROW_VECTORS + 1;
    const KEPT: usize = Self::LOADED_ROWS / Self::PER_VECTOR * Self::GROUP;
    /// Rows from one that a thread loads of to its next, and how many it loads of.
    const ROW_STEP: usize = Self::THREADS / Self::ROW_VECTORS;
    const LOADS: usize = Self::LOADED_ROWS / Self::ROW_STEP;
    /// Columns from one that a thread stores of to its next.
    const COLUMN_STEP: usize = Self::THREADS / Self::COLUMN_VECTORS;

    /// Whether the threads share the tile evenly, its parts are whole vectors, and a thread's steps keep what its code takes to be
    /// the same in all of them; an octet stores a column.
    const IS_EVEN: bool = Self::ROW_STEP * Self::ROW_VECTORS == Self::THREADS
        && Self::LOADS * Self::ROW_STEP == Self::LOADED_ROWS
        && Self::ROW_STEP.is_multiple_of(Self::PER_VECTOR)
        && Self::LOADED_ROWS.is_multiple_of(Self::PER_VECTOR)
        && Self::LOADED_ROWS >= 2 * Self::ALIGNMENT
        && Self::ALIGNMENT == <Self as super::Layout>::ALIGNMENT
        && Self::COLUMN_VECTORS == OCTET as usize
        && Self::COLUMN_STEP.is_multiple_of(Self::ALIGNMENT)
        && Self::LOADS <= MOST
        && Self::PER_VECTOR <= MOST;
}

impl<T: Bits> GatheredLayout for T {}

/// Tiles below each other in a matrix of `height` rows, wherever its columns begin.
pub const fn gathered_tile_rows<T: Bits>(height: usize) -> usize {
    height.saturating_add(<T as GatheredLayout>::ALIGNMENT - 1).div_ceil(<T as GatheredLayout>::ROWS)
}

/// Tiles side by side in a matrix of `width` columns.
pub const fn gathered_tile_columns<T: Bits>(width: usize) -> usize {
    width.div_ceil(<T as GatheredLayout>::COLUMNS)
}

/// This thread's number in its block.
#[inline(always)]
fn thread_of<T: GatheredLayout>() -> u32 {
    // In a block of the right size the remainder changes nothing. It shows the compiler the bound.
    thread::thread_idx_x() % <T as GatheredLayout>::THREADS as u32
}

impl<T: Bits> Tile<T> {
    /// Loads the tile.
    ///
    /// # Safety
    /// `x` must hold the matrix. If `FULL`, the tile's rows and columns must be in the matrix, and a row before and behind.
    #[inline(always)]
    unsafe fn load_gathered<const FULL: bool>(&self, x: Global<T>) {
        let x = Parts::<T, T::Vector>::new(x);
        let kept = self.words.cast::<T::Vector>();
        let thread = thread_of::<T>() as usize;
        let row_vectors = <T as GatheredLayout>::ROW_VECTORS;
        let row_step = <T as GatheredLayout>::ROW_STEP;
        let (line, vector) = (thread / row_vectors, thread % row_vectors);
        let slot = line * row_vectors + line / T::PER_VECTOR + vector;
        // A step of rows is whole vectors of x, however long a row is, and whole groups.
        let groups = row_step / T::PER_VECTOR;
        let (step, slot_step) = (groups * self.width, groups * <T as GatheredLayout>::GROUP);
        // The first element of the thread's row, and of the vector in which it is. Before row 0 they are negative.
        let row = (self.row as u32 as i32 + line as i32) as isize;
        let start = row * self.width as isize + self.column as isize;
        let at = (x.elements.as_ptr() as isize).wrapping_add(start * size_of::<T>() as isize);
        let shift = at as usize / size_of::<T>() % T::PER_VECTOR;
        let vectors = (at - (shift * size_of::<T>()) as isize).wrapping_sub(x.whole.as_ptr() as isize);
        let first = ((vectors / size_of::<T::Vector>() as isize) as usize).wrapping_add(vector);
        // Whether the thread's vectors have elements of the tile's columns, and at an edge, of its rows.
        let is_needed = vector as u32 * (T::PER_VECTOR as u32) < self.columns + shift as u32;
        let is_inside = |i: usize| {
            let row = (line + i * row_step) as u32;
            is_needed & self.rows.contains(&row)
        };
        let mut loaded = [T::Vector::zeroed(); MOST];
        for i in 0..T::LOADS {
            let index = first.wrapping_add(i * step);
            if FULL || (is_inside(i) & (index < x.whole.len())) {
                // SAFETY: of a full tile, there is a row before and one behind; else just compared.
                loaded[i] = unsafe { x.whole.load_unchecked(index) };
            }
        }
        for i in 0..T::LOADS {
            // SAFETY: a row and a vector of the tile.
            unsafe { kept.store_unchecked(slot + i * slot_step, loaded[i]) };
        }
        if !FULL {
            // The matrix may begin and end within a vector: its elements are loaded one by one.
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
                            // SAFETY: an element of the matrix, and of a vector of the tile.
                            unsafe { elements.store_unchecked(slot, x.elements.load_unchecked(index)) };
                        }
                    }
                }
                i += 1;
            }
        }
    }

    /// Stores the tile's columns.
    ///
    /// # Safety
    /// `y` must have room for the transpose.
    #[inline(always)]
    unsafe fn store_gathered(&self, y: GlobalMut<T>) {
        let y = Transpose::new(y);
        let thread = thread_of::<T>();
        let (column, vector) = (thread / OCTET, thread % OCTET);
        // A step of columns is whole sectors of y, so that all begin at the same row.
        let (row, mut index) = self.begin(&y, column, vector);
        let places = self.places(column, row);
        let (step, per_vector) = (T::COLUMN_STEP as u32, T::PER_VECTOR as u32);
        let rows = row.max(self.rows.start)..(row + per_vector).min(self.rows.end);
        let mut further = 0;
        if rows.len() == T::PER_VECTOR {
            let mut at = y.vector(index);
            while column + further < self.columns {
                // SAFETY: a column and rows of the tile.
                let moved = unsafe { self.gather_elements(&places, row, further) };
                // SAFETY: a vector of the matrix.
                unsafe { y.vectors.store_unchecked(at, moved) };
                further += step;
                at += T::COLUMN_STEP / T::PER_VECTOR * self.height;
            }
            return;
        }
        // A vector that reaches beyond the matrix: its elements that are in it, one by one.
        while !rows.is_empty() && column + further < self.columns {
            for i in 0..per_vector {
                if rows.contains(&(row + i)) {
                    // SAFETY: an element of the tile, and of the matrix.
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

    /// Where the element of `column` in row `row` of the tile is kept.
    #[inline(always)]
    fn place(&self, column: u32, row: u32) -> u32 {
        let (per_vector, row_vectors) = (T::PER_VECTOR as u32, <T as GatheredLayout>::ROW_VECTORS as u32);
        let shift = self.shift.wrapping_add((row % per_vector).wrapping_mul(self.width as u32)) % per_vector;
        let group = row / per_vector * <T as GatheredLayout>::GROUP as u32;
        (group + row % per_vector * row_vectors) * per_vector + shift + column
    }

    /// Where the elements of `column` from row `row` of the tile on are kept, as many as a vector has: each at its row's place in
    /// its group.
    #[inline(always)]
    fn places(&self, column: u32, row: u32) -> [u32; MOST] {
        let per_vector = T::PER_VECTOR as u32;
        let (group, begin) = (row - row % per_vector, row % per_vector);
        let next = <T as GatheredLayout>::GROUP as u32 * per_vector;
        let mut places = [0; MOST];
        for i in 0..per_vector {
            // Rows before the first one's place are of the next group.
            places[i as usize] = self.place(column, group + i) + if i < begin { next } else { 0 };
        }
        places
    }

    /// The vector of the elements that are kept `further` elements behind these places, from row `row` of the tile on.
    ///
    /// # Safety
    /// What [`places`](Self::places) gave for that row, and the elements must be of the tile.
    #[inline(always)]
    unsafe fn gather_elements(&self, places: &[u32; MOST], row: u32, further: u32) -> T::Vector {
        let elements = self.words.cast::<T>();
        let (per_word, mut words) = (T::PER_WORD, [T::Word::zeroed(); 4]);
        for i in 0..T::PER_VECTOR {
            // SAFETY: the caller's.
            let element = unsafe { elements.load_unchecked((places[i] + further) as usize) };
            words[i / per_word] = T::with(words[i / per_word], element, i % per_word);
        }
        // The first is the one at the row's own place in its group.
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

/// `y` = the transpose of `x`, whose elements are bytes or halves, by loads of 16 bytes and stores of 16 bytes that begin with a
/// sector. `x` has `height` rows of `width` elements, both below 2³¹; the views may begin at any element. A block of
/// [`GATHERED_THREADS`](super::super::GATHERED_THREADS) for each of [`gathered_tile_rows`] along x and each of
/// [`gathered_tile_columns`] along y and z.
#[kernel(max_threads = 256, min_blocks = 4, instances(T = [u8, u16]), wide(loads, stores))]
pub fn transpose_gathered<T: Bits>(x: Global<T>, y: GlobalMut<T>, width: usize, height: usize) {
    const { assert!(<T as GatheredLayout>::IS_EVEN, "the threads of a block share a tile evenly") };
    // Sizes of 31 bits: what comes before the loads takes few instructions.
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
    // Only the first tile's rows begin before the matrix's.
    let start = if tile_row == 0 { alignment - 1 } else { 0 };
    let below = (rows as i32 - row) as u32;
    // A tile in the midst of the matrix needs no comparisons. Below it there is a row more, because its vectors may reach beyond
    // it.
    let is_full = (tile_row > 0) & (below > loaded_rows) & (column + tile_columns <= columns);
    let (row, column, width, height) = (row as isize as usize, column as usize, columns as usize, rows as usize);
    let first = (x.as_ptr() as usize / size_of::<T>()).wrapping_add(row.wrapping_mul(width)).wrapping_add(column);
    let shift = (first % T::PER_VECTOR) as u32;
    let rows = start..below.min(loaded_rows);
    let tile = Tile::<T> { column, row, columns: held, rows, width, height, shift, words: vectors.cast() };
    // SAFETY: the size was checked, and of a full tile its place.
    unsafe { if is_full { tile.load_gathered::<true>(x) } else { tile.load_gathered::<false>(x) } }
    thread::sync_threads();
    // SAFETY: as above; the transpose has as many elements.
    unsafe { tile.store_gathered(y) }
}
