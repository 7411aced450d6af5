//! Tile: 32 × 32 elements go through shared memory, so that a warp reads a row of *x* and writes a row of *y*.
//!
//! The transpose happens where a warp reads a column of the tile. Limited by that: with elements of 4 bytes all 32 of a
//! column lie in one bank of shared memory, and are read one after the other.
//! Source: `transposeCoalesced` of Harris 2013.

use cuda_std::{Element, Global, GlobalMut, Shared, kernel, shared_array, thread};

use super::{BLOCK_ROWS, PER_THREAD, Strip, TILE, assert_block, assert_size, place_in_tile, tile_of_block};

/// `y` = the transpose of `x` through tiles in shared memory: reads and writes along rows. `x` has `height` rows of `width`
/// elements. A block of 32 × 8 for each 32 × 32.
#[kernel(max_threads = 256, instances(T = [u8, u16, u32, u64]))]
pub fn transpose_tile<T: Element>(x: Global<T>, y: GlobalMut<T>, width: usize, height: usize) {
    assert_size(&x, &y, width, height);
    assert_block();
    // SAFETY: the size was just checked.
    unsafe { through_tile::<T, TILE>(shared_array![T; TILE * TILE], x, y, width, height) };
}

/// Transposes the block's tile of `x` through shared memory, where the rows of `tile` begin `PITCH` elements apart.
///
/// # Safety
/// `x` and `y` must have `width * height` elements.
#[inline(always)]
pub(super) unsafe fn through_tile<T: Element, const PITCH: usize>(
    tile: Shared<T>,
    x: Global<T>,
    y: GlobalMut<T>,
    width: usize,
    height: usize,
) {
    let (tx, ty) = place_in_tile();
    let (tile_column, tile_row) = tile_of_block();
    // SAFETY: the caller's.
    let values = unsafe { Strip::new(tile_column, tile_row, width, height).load(&x) };
    for i in 0..PER_THREAD {
        tile.store((ty + i * BLOCK_ROWS) * PITCH + tx, values[i]);
    }
    thread::sync_threads();
    let values = core::array::from_fn(|i| tile.load(tx * PITCH + ty + i * BLOCK_ROWS));
    // SAFETY: the caller's; the transpose has as many elements.
    unsafe { Strip::new(tile_row, tile_column, height, width).store(&y, values) };
}
