//! Copy through shared memory: a baseline that shows what the detour through shared memory and its barrier cost.
//!
//! As in a transpose, a thread stores elements that another thread has loaded. The first warp stores the elements of
//! the last warp, the second warp those of the second-to-last warp, and so on. The kernel is limited by memory: at the
//! barrier, a block waits for its slowest load. Source: `copySharedMem` of Harris 2013. In that kernel, each thread
//! stores the elements that it has loaded, so the barrier has no effect.

use cuda_std::{Element, Global, GlobalMut, kernel, shared_array, thread};

use super::{BLOCK_ROWS, PER_THREAD, Strip, TILE, assert_block, assert_size, place_in_tile, tile_of_block};

/// Copies `x` to `y` through shared memory without transposing it: the baseline for kernels that use shared memory. `x`
/// has `height` rows of `width` elements. Launch one block of 32 × 8 threads per tile of 32 × 32 elements.
#[kernel(max_threads = 256, instances(T = [u8, u16, u32, u64]))]
pub fn transpose_copy_tile<T: Element>(x: Global<T>, y: GlobalMut<T>, width: usize, height: usize) {
    assert_size(&x, &y, width, height);
    assert_block();
    let tile = shared_array![T; TILE * TILE];
    let (tx, ty) = place_in_tile();
    let (tile_column, tile_row) = tile_of_block();
    let strip = Strip::new(tile_column, tile_row, width, height);
    let other = strip.mirrored();
    // SAFETY: `assert_size` has checked that `x` has `width * height` elements.
    let values = unsafe { strip.load(&x) };
    for i in 0..PER_THREAD {
        tile.store((ty + i * BLOCK_ROWS) * TILE + tx, values[i]);
    }
    thread::sync_threads();
    let other_ty = BLOCK_ROWS - 1 - ty;
    let values = core::array::from_fn(|i| tile.load((other_ty + i * BLOCK_ROWS) * TILE + tx));
    // SAFETY: `assert_size` has checked that `y` has `width * height` elements.
    unsafe { other.store(&y, values) };
}
