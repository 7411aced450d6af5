//! A transpose through a tile of shared memory, without the barrier between its writes and its reads.
//!
//! Fault: a thread reads an element of the tile that another thread writes, and does not wait for that write.
//!
//! The correct [`transpose_tile()`](crate::transpose::transpose_tile()) has the barrier.

use cuda_std::{Global, GlobalMut, kernel, shared_array, thread};

/// The number of rows of a tile, which is also the number of its columns. A block has one thread per element.
pub const TILE: usize = 16;

/// Writes the transpose of `x`, a square matrix of `size` rows, to `y`, with a race. Launch a block of [`TILE`] ×
/// [`TILE`] threads per tile. `size` must be a multiple of [`TILE`].
#[kernel(max_threads = 256)]
pub fn tile_unsynchronised(x: Global<u32>, y: GlobalMut<u32>, size: usize) {
    let tile = shared_array![u32; TILE * TILE];
    let (tx, ty) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let (column, row) = (thread::block_idx_x() as usize * TILE, thread::block_idx_y() as usize * TILE);
    tile.store(ty * TILE + tx, x.load((row + ty) * size + column + tx)); // fault: write
    let value = tile.load(tx * TILE + ty); // fault: read
    y.store((column + ty) * size + row + tx, value);
}
