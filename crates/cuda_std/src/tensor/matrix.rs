//! Moves matrices of 8 × 8 elements between shared memory and the registers of a warp (`ldmatrix`, `stmatrix`).
//!
//! A matrix is 8 rows of 16 bytes: 8 elements of 16 bits each, or 16 elements of 8 bits, or 4 of 32 bits. Each row may
//! be at any multiple of 16 bytes in shared memory. One instruction moves 1, 2 or 4 matrices; lane 8·*j* + *r* passes
//! the position of row *r* of matrix *j*.
//!
//! [`Fragment::ldmatrix`] and [`Fragment::stmatrix`] compute these positions for the fragments of a product. The
//! functions of this module take them from the caller, for tiles that are swizzled or padded in another way.
//!
//! All 32 lanes of a warp must execute these instructions together. They order no accesses: after stores by other
//! lanes, a [`sync_warp`](crate::warp::sync_warp) or a barrier must precede `ldmatrix`.

use super::layout::Layout;
use super::mma::{Fragment, Side};
use super::operand::Tile;
use crate::{Element, Shared, backend};

/// Returns the shared address of the 16 bytes that begin at element `index`, after a check of the index.
#[inline(always)]
#[track_caller]
fn address<T: Element, const X: usize>(tile: Shared<T>, index: usize) -> u32 {
    const {
        assert!(matches!(X, 1 | 2 | 4), "ldmatrix and stmatrix move 1, 2 or 4 matrices");
        assert!(16 % size_of::<T>() == 0, "a row has 16 bytes: use elements of 1, 2, 4, 8 or 16 bytes");
    }
    tile.check(index.saturating_add(16 / size_of::<T>() - 1));
    tile.address_of(index)
}

macro_rules! moves {
    ($($(#[$doc:meta])* $load:ident $(#[$store_doc:meta])* $store:ident $transposed:literal;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[track_caller]
        pub fn $load<const X: usize, T: Element>(tile: Shared<T>, index: usize) -> [u32; X] {
            backend::ldmatrix::<X, $transposed>(address::<T, X>(tile, index))
        }

        $(#[$store_doc])*
        #[inline(always)]
        #[track_caller]
        pub fn $store<const X: usize, T: Element>(tile: Shared<T>, index: usize, registers: [u32; X]) {
            backend::stmatrix::<X, $transposed>(address::<T, X>(tile, index), registers);
        }
    )*};
}

moves! {
    /// Loads `X` (1, 2 or 4) matrices. `index` is the first element of the row that the calling lane addresses; lanes
    /// from 8·`X` on may pass any row of `tile`. Register *j* of lane *l* receives bytes 4·(*l* mod 4) to 4·(*l* mod 4)
    /// + 3 of row *l* / 4 of matrix *j*. Needs sm_75.
    ldmatrix
    /// Stores `X` (1, 2 or 4) matrices: the opposite of [`ldmatrix`]. Needs sm_90.
    stmatrix false;
    /// Loads matrices like [`ldmatrix`], but transposes each one as a matrix of 8 × 8 elements of 16 bits
    /// (`ldmatrix.trans`).
    ldmatrix_trans
    /// Stores matrices like [`stmatrix`], but transposes each one as a matrix of 8 × 8 elements of 16 bits
    /// (`stmatrix.trans`).
    stmatrix_trans true;
}

/// Loads matrices like [`ldmatrix`], but without a check of the index on a GPU.
///
/// # Safety
/// `tile` must have the 16 bytes from element `index` on.
#[inline(always)]
#[track_caller]
pub unsafe fn ldmatrix_unchecked<const X: usize, T: Element>(tile: Shared<T>, index: usize) -> [u32; X] {
    let address = if backend::CHECKS_EVERY_ACCESS { address::<T, X>(tile, index) } else { tile.address_of(index) };
    backend::ldmatrix::<X, false>(address)
}

/// Returns the index of the first element of the row that the calling lane addresses, for the fragment at `row` and
/// `column` of `matrix`.
#[inline(always)]
fn row_of_lane<S: Side, T, L, const R: usize, const K: usize, const X: usize>(
    matrix: &L,
    row: usize,
    column: usize,
) -> usize
where
    T: Tile<R, K>,
    L: Layout,
{
    const {
        assert!(size_of::<T>() <= 4, "ldmatrix and stmatrix move elements of at most 4 bytes: use `load` or `store`");
        assert!(
            L::HAS_ROWS == S::HAS_ROWS || size_of::<T>() == 2,
            "ldmatrix and stmatrix transpose only elements of 16 bits: use the other layout, or `load` or `store`"
        );
        assert!(!S::IS_SUM || size_of::<T>() == 2, "stmatrix stores sums of 16 bits: convert them, or use `store`");
    }
    let lane = crate::warp::lane_id() as usize % (8 * X);
    let (down, right) = S::block(lane / 8, R, 4 * T::PER_REGISTER);
    let (row, column) = (row + down, column + right);
    if L::HAS_ROWS { matrix.index(row + lane % 8, column) } else { matrix.index(row, column + lane % 8) }
}

impl<S: Side, T, const R: usize, const K: usize, const X: usize> Fragment<S, T, R, K>
where
    T: Tile<R, K, Registers = [u32; X]>,
{
    /// Loads the fragment from `row` and `column` of a matrix in shared memory on (`ldmatrix`). The rows of the matrix,
    /// or its columns if they are contiguous, must start at multiples of 16 bytes.
    ///
    /// `A` has contiguous rows and `B` contiguous columns, or the elements have 16 bits (`ldmatrix.trans`). Needs
    /// sm_75.
    #[inline(always)]
    #[track_caller]
    pub fn ldmatrix<L: Layout<View = Shared<T>>>(matrix: L, row: usize, column: usize) -> Self {
        let index = row_of_lane::<S, T, L, R, K, X>(&matrix, row, column);
        Self::from_registers(match L::HAS_ROWS == S::HAS_ROWS {
            true => ldmatrix(*matrix.view(), index),
            false => ldmatrix_trans(*matrix.view(), index),
        })
    }

    /// Stores the fragment to `row` and `column` of a matrix in shared memory on (`stmatrix`): the opposite of
    /// [`ldmatrix`](Self::ldmatrix). Needs sm_90.
    #[inline(always)]
    #[track_caller]
    pub fn stmatrix<L: Layout<View = Shared<T>>>(self, matrix: L, row: usize, column: usize) {
        let index = row_of_lane::<S, T, L, R, K, X>(&matrix, row, column);
        match L::HAS_ROWS == S::HAS_ROWS {
            true => stmatrix(*matrix.view(), index, self.registers()),
            false => stmatrix_trans(*matrix.view(), index, self.registers()),
        }
    }
}
