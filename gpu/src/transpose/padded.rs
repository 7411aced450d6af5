//! Padded: the tile's rows are 33 elements apart, so that a column of 4-byte elements has one in each bank.
//!
//! Elements of 8 bytes meet no conflict either; columns of 1 and 2 bytes have several elements a bank, which is short of
//! free and rarely felt. Limited by memory, which it moves in pieces of 32 elements: 128 bytes of 4-byte elements, but 32 of
//! bytes. Source: `transposeNoBankConflicts` of Harris 2013.

use cuda_std::{Element, Global, GlobalMut, kernel, shared_array, thread};

use super::{BLOCK_ROWS, PER_THREAD, Strip, TILE, assert_block, assert_size, place_in_tile, tile_of_block};

/// Elements from a row of the tile to the next.
const PITCH: usize = TILE + 1;

/// `y` = the transpose of `x` through tiles whose rows are padded by an element: columns without bank conflicts. `x`
/// has `height` rows of `width` elements. A block of 32 × 8 for each 32 × 32.
#[kernel(max_threads = 256, instances(T = [u8, u16, u32, u64]))]
pub fn transpose_padded<T: Element>(x: Global<T>, y: GlobalMut<T>, width: usize, height: usize) {
    assert_size(&x, &y, width, height);
    assert_block();
    let tile = shared_array![T; TILE * PITCH];
    let (tx, ty) = place_in_tile();
    let (tile_column, tile_row) = tile_of_block();
    // SAFETY: the size was checked.
    let values = unsafe { Strip::new(tile_column, tile_row, width, height).load(&x) };
    for i in 0..PER_THREAD {
        tile.store((ty + i * BLOCK_ROWS) * PITCH + tx, values[i]);
    }
    thread::sync_threads();
    let values = core::array::from_fn(|i| tile.load(tx * PITCH + ty + i * BLOCK_ROWS));
    // SAFETY: the size was checked; the transpose has as many elements.
    unsafe { Strip::new(tile_row, tile_column, height, width).store(&y, values) };
}
