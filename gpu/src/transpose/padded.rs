//! Padded: the rows of the tile start 33 elements apart, so the 4-byte elements of a column are in different banks.
//!
//! Elements of 8 bytes have no conflicts either. Columns of 1-byte and 2-byte elements have several elements per bank,
//! which costs little. The kernel is limited by memory. It accesses memory in rows of 32 elements, which are 128 bytes
//! for 4-byte elements, but only 32 bytes for 1-byte elements. Source: `transposeNoBankConflicts` of Harris 2013.

use cuda_std::{Element, Global, GlobalMut, kernel, shared_array};

use super::tile::through_tile;
use super::{TILE, assert_block, assert_size};

/// The distance between two rows of the tile, in elements.
const PITCH: usize = TILE + 1;

/// Writes the transpose of `x` to `y` through tiles whose rows are padded by one element, so columns have no bank
/// conflicts. `x` has `height` rows of `width` elements. Launch one block of 32 × 8 threads per tile of 32 × 32
/// elements.
#[kernel(max_threads = 256, instances(T = [u8, u16, u32, u64]))]
pub fn transpose_padded<T: Element>(x: Global<T>, y: GlobalMut<T>, width: usize, height: usize) {
    assert_size(&x, &y, width, height);
    assert_block();
    // SAFETY: `assert_size` has checked that both views have `width * height` elements.
    unsafe { through_tile::<T, PITCH>(shared_array![T; TILE * PITCH], x, y, width, height) };
}
