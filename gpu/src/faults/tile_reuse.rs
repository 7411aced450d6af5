//! A tile of shared memory that is overwritten while some threads still read its old values.
//!
//! Fault: a barrier separates the tile's writes from its reads, but no barrier separates these reads from the writes of
//! the next round. The fault occurs only if a block processes more than one tile.
//!
//! The rungs of [`reduce`](crate::reduce) have a barrier between two tiles.

use cuda_std::{Global, GlobalMut, kernel, shared_array, thread};

/// The number of elements in a tile, and the largest number of threads per block.
pub const TILE: usize = 128;

/// Copies `x` to `y` with the elements of each tile in reverse order, with a race from the second tile on. A tile has
/// as many elements as the block has threads. Launch one block. `x` and `y` must consist of whole tiles.
#[kernel(max_threads = 128)]
pub fn tile_reused(x: Global<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; TILE];
    let (thread, block) = (thread::thread_idx_x() as usize, thread::block_dim_x() as usize);
    let mut start = 0;
    while start < x.len() {
        tile.store(thread, x.load(start + thread)); // fault: write
        thread::sync_threads();
        let value = tile.load(block - 1 - thread); // fault: read
        y.store(start + thread, value);
        start += block;
    }
}
