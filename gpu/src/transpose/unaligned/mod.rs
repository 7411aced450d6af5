//! Unaligned: a transpose for matrices of any size and address, with 16-byte stores that start at sector boundaries.
//!
//! If rows or columns are not multiples of 16 bytes, they start at different positions in a 32-byte sector. If a tile
//! had the same rows in all columns, its block would store partial sectors, in single elements, at both ends of each
//! column. This kernel avoids that as follows:
//!
//! - A block stores the same number of rows of every column. In each column, the first stored row is one whose element
//!   starts a sector of *y*, up to one sector above the tile's first row. A block therefore loads some rows that
//!   another block loads too, but it stores whole sectors, 16 bytes per thread.
//! - For elements of 4 and 8 bytes, a block also loads 16-byte vectors. It loads those that contain the tile's columns,
//!   at any alignment of the row. Shared memory holds the vectors unchanged. The threads take each row's shift into
//!   account when they gather the words of a column. A row may start up to three 4-byte elements, or one 8-byte
//!   element, into its first vector. The tile therefore has that many columns fewer than its vectors have elements.
//! - For elements of 1 and 2 bytes, a row may also start within a word. A block loads such rows in words and shifts the
//!   words in registers. Large matrices of such elements have a separate kernel, [`transpose_gathered()`].
//!
//! The kernel is limited by memory. It transfers more than necessary, because two tiles share some sectors and load
//! some of the same rows. `docs/notes/transpose.md` lists other shapes and variants. Source: this project.

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

/// The number of threads in an octet. The threads of an octet together store 128 bytes of a column. The loads of these
/// threads from shared memory use every fourth bank.
const OCTET: u32 = 8;

/// The largest number of words or vectors that a thread has in flight, over all element types.
const MAX: usize = 8;

/// Constants that follow from the size of an element and the shape of a tile.
trait Layout: VectorLayout + WordLayout {
    const THREADS: usize = Self::UNALIGNED.threads;
    const WARPS: usize = Self::THREADS / LANES as usize;
    /// The alignment of a column's stores, in elements.
    const ALIGNMENT: usize = Self::UNALIGNED.alignment / size_of::<Self>();
    /// The number of rows that a block loads.
    const LOADED_ROWS: usize = Self::UNALIGNED.rows;
    /// The number of rows that a block stores of each column.
    const ROWS: usize = Self::LOADED_ROWS - Self::ALIGNMENT;
    /// The number of octets that together store a column.
    const OCTETS: usize = (Self::ROWS / Self::PER_VECTOR).div_ceil(OCTET as usize);
    /// True if a block loads rows in vectors, false if in words. For elements smaller than a word, vectors would also
    /// need shifts within words.
    const IS_BY_VECTORS: bool = Self::PER_WORD == 1;
    /// The number of columns in a tile.
    const COLUMNS: usize = if Self::IS_BY_VECTORS { Self::HELD_COLUMNS } else { Self::USED_COLUMNS };
    /// The number of words in shared memory.
    const KEPT: usize = if Self::IS_BY_VECTORS { Self::HELD_WORDS } else { Self::KEPT_WORDS };

    /// True if the threads share the tile evenly, in whole words and vectors.
    const IS_EVEN: bool = (if Self::IS_BY_VECTORS { Self::ARE_VECTORS_SHARED } else { Self::ARE_WORDS_SHARED })
        && Self::ALIGNMENT.is_power_of_two()
        && Self::ALIGNMENT.is_multiple_of(Self::PER_VECTOR)
        && Self::LOADED_ROWS.is_multiple_of(Self::ALIGNMENT)
        && Self::LOADED_ROWS >= 2 * Self::ALIGNMENT;
}

impl<T: Bits> Layout for T {}

/// Returns the number of tiles along a column in a matrix of `height` rows, at any alignment of its columns.
pub const fn unaligned_tile_rows<T: Bits>(height: usize) -> usize {
    height.saturating_add(T::ALIGNMENT - 1).div_ceil(T::ROWS)
}

/// Returns the number of tiles along a row in a matrix of `width` columns.
pub const fn unaligned_tile_columns<T: Bits>(width: usize) -> usize {
    width.div_ceil(T::COLUMNS)
}

/// A matrix in two views: as aligned units of type `U` (words or vectors), and as single elements. The single elements
/// are needed before the first and after the last whole unit.
struct Parts<'a, T, U> {
    elements: Global<'a, T>,
    whole: Global<'a, U>,
    /// The position of the matrix's first element in the aligned unit that contains it, in elements.
    lead: usize,
}

impl<'a, T: Element, U: Element> Parts<'a, T, U> {
    /// The number of elements in a unit of type `U`.
    const PER: usize = size_of::<U>() / size_of::<T>();

    #[inline(always)]
    fn new(elements: Global<'a, T>) -> Self {
        let lead = elements.as_ptr() as usize / size_of::<T>() % Self::PER;
        let skipped = (Self::PER - lead) % Self::PER;
        let count = elements.len().saturating_sub(skipped) / Self::PER;
        // SAFETY: `whole` consists of the aligned units of type `U` that are in the view as a whole.
        let whole =
            unsafe { Global::from_raw_parts(elements.as_ptr().wrapping_add(skipped).cast(), count, elements.device()) };
        Self { elements, whole, lead }
    }

    /// Returns the number of the unit that contains element `index`, and the position of the element in this unit. Unit
    /// number 0 contains the first element of the matrix.
    #[inline(always)]
    fn place(&self, index: usize) -> (usize, u32) {
        ((index + self.lead) / Self::PER, ((index + self.lead) % Self::PER) as u32)
    }

    /// Returns the index in `whole` of unit number `number`. If this unit starts before `whole`, the result wraps to a
    /// large number.
    #[inline(always)]
    fn index(&self, number: usize) -> usize {
        number.wrapping_sub(self.lead.div_ceil(Self::PER))
    }

    /// Returns the element at position `place` of unit number `number`, or `None` if it is outside the matrix.
    #[inline(always)]
    fn element(&self, number: usize, place: usize) -> Option<T> {
        let index = (number * Self::PER + place).wrapping_sub(self.lead);
        // SAFETY: the comparison checks the index before the closure runs.
        (index < self.elements.len()).then(|| unsafe { self.elements.load_unchecked(index) })
    }
}

/// The transposed matrix in two views: as its whole aligned vectors, and as single elements.
struct Transpose<'a, T: Bits> {
    elements: GlobalMut<'a, T>,
    vectors: GlobalMut<'a, T::Vector>,
    /// The offset of the first element, in elements, from the last multiple of the stores' alignment before it.
    lead: usize,
    /// The number of elements before the first whole vector.
    skipped: usize,
}

impl<'a, T: Bits> Transpose<'a, T> {
    #[inline(always)]
    fn new(elements: GlobalMut<'a, T>) -> Self {
        let lead = elements.as_ptr() as usize / size_of::<T>() % T::ALIGNMENT;
        let skipped = (T::PER_VECTOR - lead % T::PER_VECTOR) % T::PER_VECTOR;
        let count = elements.len().saturating_sub(skipped) / T::PER_VECTOR;
        let first = elements.as_ptr().wrapping_add(skipped).cast();
        // SAFETY: `vectors` consists of the aligned vectors that are in the view as a whole.
        let vectors = unsafe { GlobalMut::from_raw_parts(first, count, elements.device()) };
        Self { elements, vectors, lead, skipped }
    }

    /// Returns the index of the vector that starts with element `index`.
    #[inline(always)]
    fn vector(&self, index: usize) -> usize {
        (index - self.skipped) / T::PER_VECTOR
    }
}

/// A tile: its position in the matrix, and its shared memory. Indices within the tile have 32 bits.
struct Tile<T: Bits> {
    /// The first column of the tile.
    column: usize,
    /// The first row that the block loads. A row before row 0 is stored as a wrapped negative number.
    row: usize,
    /// The number of columns of the tile that are in the matrix.
    columns: u32,
    /// The range of the tile's rows that are in the matrix.
    rows: Range<u32>,
    /// The width of the matrix.
    width: usize,
    /// The height of the matrix.
    height: usize,
    /// The position of the tile's first element in the aligned vector that contains this element, in elements.
    shift: u32,
    /// The rows of the tile in shared memory.
    words: Shared<T::Word>,
}

impl<T: Bits> Tile<T> {
    /// Loads the tile into shared memory.
    ///
    /// # Safety
    /// `x` must contain the matrix. If `FULL` is true, the matrix must contain the tile's rows and columns, one row
    /// before them and one row after them.
    #[inline(always)]
    unsafe fn load<const FULL: bool>(&self, x: Global<T>) {
        // SAFETY: both called functions have the same contract as this function.
        unsafe { if T::IS_BY_VECTORS { self.load_vectors::<FULL>(x) } else { self.load_words::<FULL>(x) } }
    }

    /// Stores the columns of the tile.
    ///
    /// # Safety
    /// `y` must have room for the transpose. If `FULL` is true, all elements that the tile stores must be in the
    /// matrix.
    #[inline(always)]
    unsafe fn store<const FULL: bool>(&self, y: GlobalMut<T>) {
        let y = Transpose::new(y);
        // SAFETY: both called functions have the same contract as this function.
        unsafe {
            if T::IS_BY_VECTORS { self.store_from_vectors::<FULL>(&y) } else { self.store_from_words::<FULL>(&y) }
        }
    }

    /// Returns where a vector that the block stores starts: vector number `vector` of `column`. The result is the
    /// vector's first row in the tile, and the index of its first element in `y`.
    #[inline(always)]
    fn begin(&self, y: &Transpose<T>, column: u32, vector: u32) -> (u32, usize) {
        let first = (self.column + column as usize) * self.height;
        // The first stored row of this column, relative to the tile's first row. Its element starts a sector.
        let begin = T::ALIGNMENT - 1 - (y.lead + first) % T::ALIGNMENT;
        let row = begin as u32 + vector * T::PER_VECTOR as u32;
        (row, first.wrapping_add(self.row).wrapping_add(row as usize))
    }

    /// Stores vector number `vector` of the vectors that the block stores in `column`. At an edge of the matrix, this
    /// function stores only the elements inside the matrix, one by one.
    ///
    /// `gather(row)` must return the column's vector that starts at row `row` of the tile. `place(row)` must return the
    /// index in shared memory of the column's element in row `row`.
    ///
    /// # Safety
    /// The caller must satisfy the contract of [`store`](Self::store). `vector` must be one of the tile's vectors, and
    /// `place` must return positions in the tile.
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
            // SAFETY: the vector is in the matrix and starts at a vector boundary.
            unsafe { y.vectors.store_unchecked(y.vector(index), gather(row)) };
            return;
        }
        let elements = self.words.cast::<T>();
        for r in row.max(self.rows.start)..(row + per_vector).min(self.rows.end) {
            // SAFETY: the element is in the tile and in the matrix.
            unsafe {
                let element = elements.load_unchecked(place(r) as usize);
                y.elements.store_unchecked(index.wrapping_add((r - row) as usize), element);
            }
        }
    }
}

/// Returns the words of a vector rotated by `by` positions towards the end. The last `by` words become the first.
#[inline(always)]
fn rotated<T: Bits>(mut words: [T::Word; 4], by: u32) -> [T::Word; 4] {
    // The code has two separate steps, because the compiler would not unroll a loop and would then keep the words in
    // local memory.
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

/// Returns this thread's lane, and the number of its warp in the block.
#[inline(always)]
fn lane_and_warp<T: Bits>() -> (u32, u32) {
    // In a block of `THREADS` threads, the remainder never changes the value. It lets the compiler see the bound.
    let thread = thread::thread_idx_x() % T::THREADS as u32;
    (thread % LANES, thread / LANES)
}

/// Writes the transpose of `x` to `y`. The stores have 16 bytes, and the stores of a column start at a sector boundary.
/// The loads have 16 bytes or one word. `x` has `height` rows of `width` elements. The views may begin at any element.
/// Launch one block of [`UNALIGNED.threads`](super::UnalignedShape) threads per tile. The grid has
/// [`unaligned_tile_rows`] blocks along x and [`unaligned_tile_columns`] along y and z.
#[kernel(
    max_threads = 512,
    min_blocks = 3,
    instances(T = [u8, u16]),
    instances(T = [u32, u64], wide(loads)),
    wide(stores)
)]
pub fn transpose_unaligned<T: Bits>(x: Global<T>, y: GlobalMut<T>, width: usize, height: usize) {
    const { assert!(T::IS_EVEN, "the threads of a block must share a tile evenly") };
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
    // Only the first tile has rows before the first row of the matrix.
    let start = if tile_row == 0 { T::ALIGNMENT as u32 - 1 } else { 0 };
    let rows = start..height.wrapping_sub(row).min(T::LOADED_ROWS) as u32;
    // A tile inside the matrix needs no comparisons, which would delay its loads. The matrix must have one more row
    // below it, because its words and vectors may extend beyond it.
    let is_full = tile_row > 0 && row + T::LOADED_ROWS < height && column + T::COLUMNS <= width;
    let first = (x.as_ptr() as usize / size_of::<T>()).wrapping_add(row.wrapping_mul(width)).wrapping_add(column);
    let shift = (first % T::PER_VECTOR) as u32;
    let tile = Tile::<T> { column, row, columns, rows, width, height, shift, words: vectors.cast() };
    // SAFETY: the assertions have checked the size, and `is_full` the position of a full tile.
    unsafe { if is_full { tile.load::<true>(x) } else { tile.load::<false>(x) } }
    thread::sync_threads();
    // SAFETY: the assertions have checked that `y` has as many elements as `x`.
    unsafe { if is_full { tile.store::<true>(y) } else { tile.store::<false>(y) } }
}
