//! Padded: the tile's rows are 33 elements apart, so that a column of 4-byte elements has one in each bank.
//!
//! Elements of 8 bytes meet no conflict either; columns of 1 and 2 bytes have several elements per bank, which costs a
//! little and is rarely felt. Limited by memory, which it moves in pieces of 32 elements: 128 bytes of 4-byte elements, but 32 of
//! bytes. Source: `transposeNoBankConflicts` of Harris 2013.

use cuda_std::{Element, Global, GlobalMut, kernel, shared_array};

use super::tile::through_tile;
use super::{TILE, assert_block, assert_size};

/// Elements from a row of the tile to the next.
const PITCH: usize = TILE + 1;

/// `y` = the transpose of `x` through tiles whose rows are padded by an element: columns without bank conflicts. `x`
/// has `height` rows of `width` elements. A block of 32 × 8 for each 32 × 32.
#[kernel(max_threads = 256, instances(T = [u8, u16, u32, u64]))]
pub fn transpose_padded<T: Element>(x: Global<T>, y: GlobalMut<T>, width: usize, height: usize) {
    assert_size(&x, &y, width, height);
    assert_block();
    // SAFETY: the size was just checked.
    unsafe { through_tile::<T, PITCH>(shared_array![T; TILE * PITCH], x, y, width, height) };
}
