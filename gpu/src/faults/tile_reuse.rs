//! A tile of shared memory that is filled again while some threads still read what was in it.
//!
//! What is wrong: the barrier between the tile's writes and its reads is there, and the one between these reads and the
//! next round's writes is not. It shows only where a block takes more than one tile.
//!
//! The rungs of [`reduce`](crate::reduce) have a barrier between two tiles.

use cuda_std::{Global, GlobalMut, kernel, shared_array, thread};

/// Elements of a tile, and the most threads of a block.
pub const TILE: usize = 128;

/// `y` = `x` with each tile turned around, a tile being as many elements as a block has threads, with a race from the
/// second tile on. One block; `x` and `y` are whole tiles.
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
