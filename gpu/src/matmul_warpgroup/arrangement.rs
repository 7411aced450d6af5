//! The two orders in which an operand's elements may lie in memory, and the parts of shared memory that hold its tiles.
//!
//! A tile of an operand consists of units of 64 × 128 bytes, each of which is one box of a tensor map. A unit has 64 rows
//! of the operand, with 128 bytes along *k* each, or 64 steps along *k*, with 128 bytes of rows each.

use cuda_std::barrier::Barrier;
use cuda_std::bulk::TensorMap;
use cuda_std::tensor::{Factor, RowMajorPart, SharedTile, Swizzle128, TransposedPart};
use cuda_std::{Element, Shared};

/// The number of rows of a unit.
pub const UNIT: usize = 64;

/// The order of the elements of an operand in memory. An operand is a matrix of rows (of *A*, or columns of *B*) by *k*.
pub trait Arrangement: Copy + 'static {
    /// Tells if `k` is the contiguous dimension.
    const HAS_CONTIGUOUS_K: bool;

    /// A part of a tile of `ROWS` × `K` elements: `R` of its rows as a factor of a product.
    type Part<T: Element, const R: usize, const ROWS: usize, const K: usize>: Factor<T, R, K>;

    /// Returns the rows from `row` on of the tile that begins at element `first` of `shared`.
    fn part<T: Element, const R: usize, const ROWS: usize, const K: usize>(
        shared: Shared<T>,
        first: usize,
        row: usize,
    ) -> Self::Part<T, R, ROWS, K>;

    /// Returns the coordinates of a box: `row` and `k` of its first element, in the matrix number `batch`.
    fn coordinates(row: u32, k: u32, batch: u32) -> [i32; 3];
}

/// The elements of a row are contiguous: *k* is the innermost dimension.
#[derive(Clone, Copy, Debug)]
pub struct ContiguousK;

/// The elements of a column are contiguous: the rows are the innermost dimension. Tensor cores read 16-bit floats alone in
/// this order.
#[derive(Clone, Copy, Debug)]
pub struct ContiguousRows;

impl Arrangement for ContiguousK {
    const HAS_CONTIGUOUS_K: bool = true;

    type Part<T: Element, const R: usize, const ROWS: usize, const K: usize> = RowMajorPart<T, R, ROWS, K, Swizzle128>;

    #[inline(always)]
    #[track_caller]
    fn part<T: Element, const R: usize, const ROWS: usize, const K: usize>(
        shared: Shared<T>,
        first: usize,
        row: usize,
    ) -> Self::Part<T, R, ROWS, K> {
        SharedTile::at(shared, first).rows(row)
    }

    #[inline(always)]
    fn coordinates(row: u32, k: u32, batch: u32) -> [i32; 3] {
        [k as i32, row as i32, batch as i32]
    }
}

impl Arrangement for ContiguousRows {
    const HAS_CONTIGUOUS_K: bool = false;

    type Part<T: Element, const R: usize, const ROWS: usize, const K: usize> = TransposedPart<T, R, K, ROWS, Swizzle128>;

    #[inline(always)]
    #[track_caller]
    fn part<T: Element, const R: usize, const ROWS: usize, const K: usize>(
        shared: Shared<T>,
        first: usize,
        row: usize,
    ) -> Self::Part<T, R, ROWS, K> {
        SharedTile::at(shared, first).transposed(row)
    }

    #[inline(always)]
    fn coordinates(row: u32, k: u32, batch: u32) -> [i32; 3] {
        [row as i32, k as i32, batch as i32]
    }
}

/// Begins to copy the unit of `map` at `row` and `k` to element `first` of `shared`. With `ranks`, the unit is copied to
/// each block of the cluster whose rank has a bit in it.
#[inline(always)]
#[track_caller]
pub fn load_unit<T: Element, A: Arrangement, const K: usize>(
    map: &TensorMap<'_, T, 3>,
    at: [u32; 3],
    (shared, first): (Shared<T>, usize),
    full: Barrier,
    ranks: Option<u16>,
) {
    let [row, k, batch] = at;
    let at = A::coordinates(row, k, batch);
    let unit = SharedTile::<T, UNIT, K, Swizzle128>::at(shared, first).rows::<UNIT>(0);
    match ranks {
        None => map.load_rows(at, unit, full),
        Some(ranks) => map.load_rows_multicast(at, unit, full, ranks),
    }
}
