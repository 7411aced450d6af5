//! Tile: 32 × 32 elements pass through shared memory, so a warp reads a row of *x* and writes a row of *y*.
//!
//! A warp writes rows of the tile and reads columns of it, which transposes the elements. The kernel is limited by
//! these reads. All 32 elements of a column, if they have 4 bytes, are in one bank of shared memory, which serves them
//! one after the other. Source: `transposeCoalesced` of Harris 2013.

use cuda_std::{Element, Global, GlobalMut, Shared, kernel, shared_array, thread};

use super::{BLOCK_ROWS, PER_THREAD, Strip, TILE, assert_block, assert_size, place_in_tile, tile_of_block};

/// Writes the transpose of `x` to `y` through tiles in shared memory, so that reads and writes follow rows. `x` has
/// `height` rows of `width` elements. Launch one block of 32 × 8 threads per tile of 32 × 32 elements.
#[kernel(max_threads = 256, instances(T = [u8, u16, u32, u64]))]
pub fn transpose_tile<T: Element>(x: Global<T>, y: GlobalMut<T>, width: usize, height: usize) {
    assert_size(&x, &y, width, height);
    assert_block();
    // SAFETY: `assert_size` has checked that both views have `width * height` elements.
    unsafe { through_tile::<T, TILE>(shared_array![T; TILE * TILE], x, y, width, height) };
}

/// Transposes the block's tile of `x` through shared memory. The rows of `tile` start `PITCH` elements apart.
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
    // SAFETY: by this function's contract, `x` has `width * height` elements.
    let values = unsafe { Strip::new(tile_column, tile_row, width, height).load(&x) };
    for i in 0..PER_THREAD {
        tile.store((ty + i * BLOCK_ROWS) * PITCH + tx, values[i]);
    }
    thread::sync_threads();
    let values = core::array::from_fn(|i| tile.load(tx * PITCH + ty + i * BLOCK_ROWS));
    // SAFETY: by this function's contract, `y` has `width * height` elements, as many as the transposed matrix.
    unsafe { Strip::new(tile_row, tile_column, height, width).store(&y, values) };
}
