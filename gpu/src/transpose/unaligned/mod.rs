//! Unaligned: the last rung for matrices of any size and at any address, by stores of 16 bytes that begin with a sector.
//!
//! Where a row or column is no multiple of 16 bytes, each begins at another place in a sector of 32 bytes. A tile with the same
//! rows in all of its columns would then store parts of sectors at both ends of each column, and could store single elements
//! only. What it changes:
//! - A block takes equally many rows of every column, but each column's part begins with the row whose element begins a sector
//!   of *y*, up to a sector's elements above the tile's first row. So a block loads some rows that another loads too, and
//!   stores whole sectors, 16 bytes per thread.
//! - Elements of 4 and 8 bytes are loaded by 16 bytes, too: of each row, the vectors that hold the tile's columns, wherever
//!   in the first of them the row begins. Shared memory holds the vectors as they are, and each row's shift is applied where
//!   the words of a column are gathered. The row may begin up to three elements of 4 bytes, or one of 8, after its first
//!   vector does, so the tile has that many columns fewer than its vectors have elements.
//! - Bytes and halves, which also lie at another place of their word in each row, are loaded by words, and shifted in
//!   registers; those of large matrices have a kernel of their own, [`transpose_gathered()`].
//!
//! Limited by memory. What it moves in vain: sectors that two tiles share, and the rows that both load. Shapes and variants
//! that were tried are in `docs/notes/transpose.md`. Source: this project.

use core::ops::Range;

use cuda_std::{Element, Global, GlobalMut, Shared, kernel, shared_array, thread};

use super::{Bits, assert_size, tile_of_block};

mod by_vectors;
mod by_words;
mod gathered;

use by_vectors::VectorLayout;
use by_words::WordLayout;
pub use gathered::{gathered_tile_columns, gathered_tile_rows, transpose_gathered};

const LANES: u32 = 32;

/// Threads that together store 128 bytes of a column. Their loads from shared memory are every fourth bank.
const OCTET: u32 = 8;

/// The most words or vectors that a thread has in flight, of any element.
const MOST: usize = 8;

/// What follows from the size of an element and the shape of its tile.
trait Layout: VectorLayout + WordLayout {
    const THREADS: usize = Self::UNALIGNED.threads;
    const WARPS: usize = Self::THREADS / LANES as usize;
    /// Elements of what a column's stores are aligned to.
    const ALIGNMENT: usize = Self::UNALIGNED.alignment / size_of::<Self>();
    /// Rows that a block loads, and stores of each column.
    const LOADED_ROWS: usize = Self::UNALIGNED.rows;
    const ROWS: usize = Self::LOADED_ROWS - Self::ALIGNMENT;
    /// Octets that a column takes.
    const OCTETS: usize = (Self::ROWS / Self::PER_VECTOR).div_ceil(OCTET as usize);
    /// Whether rows are loaded by vectors. Elements smaller than a word would have to be shifted within words, too.
    const IS_BY_VECTORS: bool = Self::PER_WORD == 1;
    /// Columns of a tile.
    const COLUMNS: usize = if Self::IS_BY_VECTORS { Self::HELD_COLUMNS } else { Self::USED_COLUMNS };
    /// Words of shared memory.
    const KEPT: usize = if Self::IS_BY_VECTORS { Self::HELD_WORDS } else { Self::KEPT_WORDS };

    /// Whether the threads share the tile evenly, and its parts are whole words and vectors.
    const IS_EVEN: bool = (if Self::IS_BY_VECTORS { Self::ARE_VECTORS_SHARED } else { Self::ARE_WORDS_SHARED })
        && Self::ALIGNMENT.is_power_of_two()
        && Self::ALIGNMENT.is_multiple_of(Self::PER_VECTOR)
        && Self::LOADED_ROWS.is_multiple_of(Self::ALIGNMENT)
        && Self::LOADED_ROWS >= 2 * Self::ALIGNMENT;
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

/// A matrix as whole `U`s, which are words or vectors, with the elements before the first and behind the last of them.
struct Parts<'a, T, U> {
    elements: Global<'a, T>,
    whole: Global<'a, U>,
    /// Elements from a `U`'s beginning to the first.
    lead: usize,
}

impl<'a, T: Element, U: Element> Parts<'a, T, U> {
    /// Elements of a `U`.
    const PER: usize = size_of::<U>() / size_of::<T>();

    #[inline(always)]
    fn new(elements: Global<'a, T>) -> Self {
        let lead = elements.as_ptr() as usize / size_of::<T>() % Self::PER;
        let skipped = (Self::PER - lead) % Self::PER;
        let count = elements.len().saturating_sub(skipped) / Self::PER;
        // SAFETY: from the first that begins in the view on, those that end in it.
        let whole =
            unsafe { Global::from_raw_parts(elements.as_ptr().wrapping_add(skipped).cast(), count, elements.device()) };
        Self { elements, whole, lead }
    }

    /// The number of the `U` of element `index`, and the element's place in it.
    #[inline(always)]
    fn place(&self, index: usize) -> (usize, u32) {
        ((index + self.lead) / Self::PER, ((index + self.lead) % Self::PER) as u32)
    }

    /// The index in `whole` of number `number`.
    #[inline(always)]
    fn index(&self, number: usize) -> usize {
        number.wrapping_sub(self.lead.div_ceil(Self::PER))
    }

    /// Element `place` of number `number`, if it is in the matrix.
    #[inline(always)]
    fn element(&self, number: usize, place: usize) -> Option<T> {
        let index = (number * Self::PER + place).wrapping_sub(self.lead);
        // SAFETY: just compared.
        (index < self.elements.len()).then(|| unsafe { self.elements.load_unchecked(index) })
    }
}

/// The transpose as its whole vectors, and its elements.
struct Transpose<'a, T: Bits> {
    elements: GlobalMut<'a, T>,
    vectors: GlobalMut<'a, T::Vector>,
    /// Elements from the beginning of a sector to the first, and from there to the first whole vector.
    lead: usize,
    skipped: usize,
}

impl<'a, T: Bits> Transpose<'a, T> {
    #[inline(always)]
    fn new(elements: GlobalMut<'a, T>) -> Self {
        let lead = elements.as_ptr() as usize / size_of::<T>() % T::ALIGNMENT;
        let skipped = (T::PER_VECTOR - lead % T::PER_VECTOR) % T::PER_VECTOR;
        let count = elements.len().saturating_sub(skipped) / T::PER_VECTOR;
        let first = elements.as_ptr().wrapping_add(skipped).cast();
        // SAFETY: from the first vector that begins in the view on, those that end in it.
        let vectors = unsafe { GlobalMut::from_raw_parts(first, count, elements.device()) };
        Self { elements, vectors, lead, skipped }
    }

    /// The index of the vector that begins with element `index`.
    #[inline(always)]
    fn vector(&self, index: usize) -> usize {
        (index - self.skipped) / T::PER_VECTOR
    }
}

/// A tile: what part of the matrix it is, and where a block keeps it. Numbers within the tile have 32 bits.
struct Tile<T: Bits> {
    /// Its first column.
    column: usize,
    /// The first row that it loads; before row 0 it wraps.
    row: usize,
    /// How many of its columns are in the matrix, and which of its rows.
    columns: u32,
    rows: Range<u32>,
    /// Columns and rows of the matrix.
    width: usize,
    height: usize,
    /// Elements from the beginning of a vector to its first.
    shift: u32,
    /// Its rows.
    words: Shared<T::Word>,
}

impl<T: Bits> Tile<T> {
    /// Loads the tile.
    ///
    /// # Safety
    /// `x` must hold the matrix. If `FULL`, the tile's rows and columns must be in the matrix, and a row before and behind.
    #[inline(always)]
    unsafe fn load<const FULL: bool>(&self, x: Global<T>) {
        // SAFETY: the caller's.
        unsafe { if T::IS_BY_VECTORS { self.load_vectors::<FULL>(x) } else { self.load_words::<FULL>(x) } }
    }

    /// Stores the tile's columns.
    ///
    /// # Safety
    /// `y` must have room for the transpose. If `FULL`, what the tile stores must be in the matrix.
    #[inline(always)]
    unsafe fn store<const FULL: bool>(&self, y: GlobalMut<T>) {
        let y = Transpose::new(y);
        // SAFETY: the caller's.
        unsafe {
            if T::IS_BY_VECTORS { self.store_from_vectors::<FULL>(&y) } else { self.store_from_words::<FULL>(&y) }
        }
    }

    /// Where vector `vector` of what the tile stores of `column` begins: its row of the tile, and its index in `y`.
    #[inline(always)]
    fn begin(&self, y: &Transpose<T>, column: u32, vector: u32) -> (u32, usize) {
        let first = (self.column + column as usize) * self.height;
        // The row, counted from the tile's first, whose element begins the sector in which the column's part begins.
        let begin = T::ALIGNMENT - 1 - (y.lead + first) % T::ALIGNMENT;
        let row = begin as u32 + vector * T::PER_VECTOR as u32;
        (row, first.wrapping_add(self.row).wrapping_add(row as usize))
    }

    /// Stores vector `vector` of what the tile stores of `column`. At an edge of the matrix, it stores only those elements of
    /// the vector that are in the matrix, one by one.
    ///
    /// `gather(row)` reads from shared memory the vector that begins with row `row` of the tile; `place(row)` is the index
    /// there of the column's element in that row.
    ///
    /// # Safety
    /// As for [`store`](Self::store); a vector of what the tile stores, and where its elements are kept.
    #[inline(always)]
    unsafe fn store_part<const FULL: bool>(
        &self,
        y: &Transpose<T>,
        (column, vector): (u32, u32),
        gather: impl Fn(u32) -> T::Vector,
        place: impl Fn(u32) -> u32,
    ) {
        let (row, index) = self.begin(y, column, vector);
        let per_vector = T::PER_VECTOR as u32;
        if FULL || (row >= self.rows.start && row + per_vector <= self.rows.end) {
            // SAFETY: a vector of the matrix, which begins where vectors do.
            unsafe { y.vectors.store_unchecked(y.vector(index), gather(row)) };
            return;
        }
        let elements = self.words.cast::<T>();
        for r in row.max(self.rows.start)..(row + per_vector).min(self.rows.end) {
            // SAFETY: an element of the tile, and of the matrix.
            unsafe {
                let element = elements.load_unchecked(place(r) as usize);
                y.elements.store_unchecked(index.wrapping_add((r - row) as usize), element);
            }
        }
    }
}

/// The words of a vector, each moved `by` places on; the last ones come first.
#[inline(always)]
fn rotated<T: Bits>(mut words: [T::Word; 4], by: u32) -> [T::Word; 4] {
    // The two steps are no loop: the compiler would not unroll it, and would keep the words in local memory.
    if by & 1 != 0 {
        let read = words;
        for i in 0..T::WORDS {
            words[i] = read[(i + T::WORDS - 1) % T::WORDS];
        }
    }
    if T::WORDS > 2 && by & 2 != 0 {
        let read = words;
        for i in 0..T::WORDS {
            words[i] = read[(i + T::WORDS - 2) % T::WORDS];
        }
    }
    words
}

/// This thread's number in its warp, and that of its warp.
#[inline(always)]
fn lane_and_warp<T: Bits>() -> (u32, u32) {
    // In a block of the right size the remainder changes nothing. It shows the compiler the bound.
    let thread = thread::thread_idx_x() % T::THREADS as u32;
    (thread % LANES, thread / LANES)
}

/// `y` = the transpose of `x` by stores of 16 bytes that begin with a sector, and loads of 16 bytes or of words. `x` has
/// `height` rows of `width` elements; the views may begin at any element. A block of
/// [`UNALIGNED.threads`](super::UnalignedShape) for each of [`unaligned_tile_rows`] along x and each of
/// [`unaligned_tile_columns`] along y and z.
#[kernel(
    max_threads = 512,
    min_blocks = 3,
    instances(T = [u8, u16]),
    instances(T = [u32, u64], wide(loads)),
    wide(stores)
)]
pub fn transpose_unaligned<T: Bits>(x: Global<T>, y: GlobalMut<T>, width: usize, height: usize) {
    const { assert!(T::IS_EVEN, "the threads of a block share a tile evenly") };
    assert_size(&x, &y, width, height);
    assert!(thread::block_dim_x() as usize == T::THREADS);
    let vectors = shared_array![<T as Bits>::Vector; T::KEPT.div_ceil(T::WORDS)];
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
    // A tile in the midst of the matrix needs no comparisons, which would stand between its loads. Below it there is a row
    // more, because its words and vectors may reach beyond it.
    let is_full = tile_row > 0 && row + T::LOADED_ROWS < height && column + T::COLUMNS <= width;
    let first = (x.as_ptr() as usize / size_of::<T>()).wrapping_add(row.wrapping_mul(width)).wrapping_add(column);
    let shift = (first % T::PER_VECTOR) as u32;
    let tile = Tile::<T> { column, row, columns, rows, width, height, shift, words: vectors.cast() };
    // SAFETY: the size was checked, and of a full tile its place.
    unsafe { if is_full { tile.load::<true>(x) } else { tile.load::<false>(x) } }
    thread::sync_threads();
    // SAFETY: as above; the transpose has as many elements.
    unsafe { if is_full { tile.store::<true>(y) } else { tile.store::<false>(y) } }
}
