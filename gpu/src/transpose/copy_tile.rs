//! Copy through shared memory: what the detour and its barriers cost a transpose that is otherwise perfect.
//!
//! As in a transpose, a thread stores what another has loaded: the first warp what the last has loaded, the second what the
//! last but one has, and so on. Limited by memory; a block waits for its slowest load at the barrier. Source: `copySharedMem`
//! of Harris 2013, where each thread stores what it has loaded itself, and the barrier orders nothing.

use cuda_std::{Element, Global, GlobalMut, kernel, shared_array, thread};

use super::{BLOCK_ROWS, PER_THREAD, Strip, TILE, assert_block, assert_size, place_in_tile, tile_of_block};

/// `y` = `x`, not transposed, by way of shared memory: the yardstick for the kernels that take that way. `x` has
/// `height` rows of `width` elements. A block of 32 × 8 for each 32 × 32.
#[kernel(max_threads = 256, instances(T = [u8, u16, u32, u64]))]
pub fn transpose_copy_tile<T: Element>(x: Global<T>, y: GlobalMut<T>, width: usize, height: usize) {
    assert_size(&x, &y, width, height);
    assert_block();
    let tile = shared_array![T; TILE * TILE];
    let (tx, ty) = place_in_tile();
    let (tile_column, tile_row) = tile_of_block();
    let strip = Strip::new(tile_column, tile_row, width, height);
    let other = strip.mirrored();
    // SAFETY: the size was checked.
    let values = unsafe { strip.load(&x) };
    for i in 0..PER_THREAD {
        tile.store((ty + i * BLOCK_ROWS) * TILE + tx, values[i]);
    }
    thread::sync_threads();
    let other_ty = BLOCK_ROWS - 1 - ty;
    let values = core::array::from_fn(|i| tile.load((other_ty + i * BLOCK_ROWS) * TILE + tx));
    // SAFETY: the size was checked.
    unsafe { other.store(&y, values) };
}
