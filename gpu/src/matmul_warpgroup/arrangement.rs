//! The two orders in which an operand's elements may lie in memory, and the parts of shared memory that hold its tiles.
//!
//! An operand is a matrix of rows (of *A*, or columns of *B*) by *k*. A tile of it consists of units of 64 × 128 bytes,
//! each of which is one box of a tensor map. A unit has 64 rows with 128 bytes along *k* each or, if the rows are
//! contiguous, 64 steps along *k* with 128 bytes of rows each.

use cuda_std::barrier::Barrier;
use cuda_std::bulk::TensorMap;
use cuda_std::tensor::{Factor, RowMajorPart, SharedTile, Swizzle128, TransposedPart, tf32};
use cuda_std::{Element, Shared, bf16, e4m3, e5m2, f16};

/// The number of rows of a unit.
pub const UNIT: usize = 64;

/// The order of the elements of a tile in shared memory.
pub trait Arrangement: Copy + 'static {
    /// A part of a tile of `ROWS` × `K` elements: `R` of its rows as a factor of a product.
    type Part<T: Element, const R: usize, const ROWS: usize, const K: usize>: Factor<T, R, K>;

    /// Returns the rows from `row` on of the tile that begins at element `first` of `shared`.
    ///
    /// # Safety
    /// The conditions of [`SharedTile::at`] must hold for the tile.
    unsafe fn part<T: Element, const R: usize, const ROWS: usize, const K: usize>(
        shared: Shared<T>,
        first: usize,
        row: usize,
    ) -> Self::Part<T, R, ROWS, K>;
}

/// The elements of a row are contiguous: *k* is the innermost dimension.
#[derive(Clone, Copy, Debug)]
pub struct ContiguousK;

/// The elements of a column are contiguous: the rows are the innermost dimension.
#[derive(Clone, Copy, Debug)]
pub struct ContiguousRows;

macro_rules! arrangements {
    ($($name:ident $part:ident [$($sizes:ident)*] $method:ident [$($tile:tt)*];)*) => {$(
        impl Arrangement for $name {
            type Part<T: Element, const R: usize, const ROWS: usize, const K: usize> =
                $part<T, R, $($sizes,)* Swizzle128>;

            #[inline(always)]
            #[track_caller]
            unsafe fn part<T: Element, const R: usize, const ROWS: usize, const K: usize>(
                shared: Shared<T>,
                first: usize,
                row: usize,
            ) -> Self::Part<T, R, ROWS, K> {
                // SAFETY: the caller guarantees the conditions.
                unsafe { SharedTile::<T, $($tile)*, Swizzle128>::at_unchecked(shared, first) }.$method(row)
            }
        }
    )*};
}

arrangements! {
    ContiguousK RowMajorPart [ROWS K] rows [ROWS, K];
    ContiguousRows TransposedPart [K ROWS] transposed [K, ROWS];
}

/// An element type of operands, with the order that tensor cores read in addition to contiguous *k*.
pub trait Arranged: Element {
    /// True for the 16-bit floats. Tensor cores read no other type with contiguous rows.
    const HAS_ACROSS: bool = size_of::<Self>() == 2;
    /// `ContiguousRows`, or `ContiguousK` for types that have no other order.
    type Across: Arrangement;
}

macro_rules! arranged {
    ($($across:ident: $($type:ident)*;)*) => {$($(
        impl Arranged for $type {
            type Across = $across;
        }
    )*)*};
}

arranged! {
    ContiguousRows: f16 bf16;
    ContiguousK: tf32 e4m3 e5m2 i8;
}

/// Begins to copy the unit of `R` rows of `map` at the row, the *k* and the product `at` to element `first` of
/// `shared`. With `ranks`, the unit is copied to each block of the cluster whose rank has a bit in it. `is_across` is
/// true if the rows are contiguous; `R` is then 64.
///
/// # Safety
/// The conditions of [`SharedTile::at`] must hold for a tile of `R` × `K` elements.
#[inline(always)]
#[track_caller]
pub unsafe fn load_unit<T: Element, const R: usize, const K: usize>(
    map: &TensorMap<'_, T, 3>,
    (is_across, [row, k, batch]): (bool, [u32; 3]),
    (shared, first): (Shared<T>, usize),
    full: Barrier,
    ranks: Option<u16>,
) {
    let at = if is_across { [row, k, batch] } else { [k, row, batch] }.map(|coordinate| coordinate as i32);
    // SAFETY: the caller guarantees the conditions.
    let unit = unsafe { SharedTile::<T, R, K, Swizzle128>::at_unchecked(shared, first) }.rows::<R>(0);
    match ranks {
        None => map.load_rows(at, unit, full),
        Some(ranks) => map.load_rows_multicast(at, unit, full, ranks),
    }
}
