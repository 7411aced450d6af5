//! Reuse: mend this kernel from its report alone.
//!
//! A block reverses several groups of 128 elements, one after the other, through the same tile:
//!
//! ```text
//! round 0:  x[0..128]   → tile → y[0..128]    reversed
//! round 1:  x[256..384] → tile → y[256..384]  reversed      (with 2 blocks in the grid)
//! ```
//!
//! The barrier between the stores to the tile and the loads from it is there. With one group per block the kernel is
//! right, and so it was when its author tested it. From the second round on it is wrong.
//!
//! A barrier holds each thread until all threads of the block have arrived. After that, every thread runs on alone: one
//! warp may be a whole round ahead when another has hardly left the barrier. Read in the report which two lines meet,
//! and think of the round in which each of them is.
//!
//! Available: `thread::sync_threads()` waits for all threads of the block and orders their accesses. All threads of the
//! block must reach it.

use cuda_std::prelude::*;

/// The number of threads per block, and of elements per group.
pub const BLOCK: usize = 128;

/// Reverses each group of [`BLOCK`] elements of `x` into `y`. The length is a multiple of `BLOCK`; any grid.
#[kernel]
pub fn reverse(x: Global<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; BLOCK];
    // Your code begins here.
    let me = thread::thread_idx_x() as usize;
    let mut first = thread::block_idx_x() as usize * BLOCK;
    while first < x.len() {
        tile.store(me, x.load(first + me));
        thread::sync_threads();
        y.store(first + me, tile.load(BLOCK - 1 - me));
        first += thread::grid_dim_x() as usize * BLOCK;
    }
    // Your code ends here.
}
