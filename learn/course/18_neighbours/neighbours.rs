//! Neighbours: the sum of a block as a tree.
//!
//! Adding up 128 numbers one after the other takes 127 steps. If many threads add at the same time, 7 steps are enough.
//! In the first step every second thread adds its neighbour's number to its own. In the next step, every fourth thread
//! adds the number two places above, and so on. The stride doubles from step to step:
//!
//! ```text
//! tile        0    1    2    3    4    5    6    7
//! stride 1    0+1  .    2+3  .    4+5  .    6+7  .        threads 0, 2, 4, 6
//! stride 2    0..4 .    .    .    4..8 .    .    .        threads 0, 4
//! stride 4    0..8 .    .    .    .    .    .    .        thread 0
//! ```
//!
//! After the last step, `tile[0]` is the sum of all. Write the loop over the strides. [`BLOCK`] is a power of two.
//!
//! - `tile.load(i)` and `tile.store(i, value)` access the array in shared memory, which all threads of the block share.
//! - `thread::sync_threads()` waits for all threads of the block. One step reads what another thread stored in the step
//!   before, so each step needs a barrier. All threads must reach it, also those that do not add.
//! - `me.is_multiple_of(k)` is true if `k` divides `me`.

use cuda_std::prelude::*;

/// The number of threads per block, and of elements.
pub const BLOCK: usize = 128;

/// `y[b]` is the sum of the [`BLOCK`] elements of block `b`. One thread per element; the length is a multiple of
/// `BLOCK`.
#[kernel]
pub fn sum(x: Global<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; BLOCK];
    let me = thread::thread_idx_x() as usize;
    tile.store(me, x.load(thread::index_1d()));
    add_up(tile, me);
    if me == 0 {
        y.store(thread::block_idx_x() as usize, tile.load(0));
    }
}

/// Adds up the elements of `tile` into `tile[0]`. The thread `me` has stored its element; no barrier has followed.
fn add_up(tile: Shared<u32>, me: usize) {
    // Your code begins here.
    todo!("a loop over the strides 1, 2, 4, … below BLOCK");
    // Your code ends here.
}
