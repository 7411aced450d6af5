//! Halves: a tree whose threads are neighbours.
//!
//! This sum has the tree of `neighbours`. So that the threads that add are neighbours, the thread `me` adds at the
//! index `2 * stride * me`. It is right, but slow: lanes access words that are 2, 4, 8, … apart, and meet in the same
//! banks of shared memory. The word with index `i` is in bank `i % 32`, and each bank gives one word per pass.
//!
//! ```text
//! stride 1:  the lanes 0, 1, 2, … 31 add at 0, 2, 4, … 62: the words 0 and 32 are in bank 0, and so on
//! stride 2:  they add at 0, 4, 8, … 124: 4 words per bank
//! ```
//!
//! Let the stride fall from half the block instead: in each step the lower half adds the upper half, element by
//! element.
//!
//! ```text
//! stride 4    0+4  1+5  2+6  3+7  .  .  .  .      threads 0 to 3
//! stride 2    +2   +3   .    .    .  .  .  .      threads 0 and 1
//! stride 1    +1   .    .    .    .  .  .  .      thread 0
//! ```
//!
//! Threads that are neighbours then access words that are neighbours. As the lower half of the threads works, and then
//! a quarter of them, whole warps have nothing to do, and a warp without a working lane issues no access.
//!
//! Budgets: no bank conflict; at most 50 requests of warps to shared memory per block, which the tree over neighbours
//! exceeds, because in its first steps each warp has a few lanes that add.

use cuda_std::prelude::*;

/// The number of threads per block, and of elements.
pub const BLOCK: usize = 256;

/// `y[b]` is the sum of the [`BLOCK`] elements of block `b`. One thread per element; the length is a multiple of
/// `BLOCK`.
#[kernel]
pub fn sum(x: Global<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; BLOCK];
    let me = thread::thread_idx_x() as usize;
    tile.store(me, x.load(thread::index_1d()));
    // Your code begins here.
    let mut stride = 1;
    while stride < BLOCK {
        thread::sync_threads();
        let i = 2 * stride * me;
        if i < BLOCK {
            tile.store(i, tile.load(i) + tile.load(i + stride));
        }
        stride *= 2;
    }
    // Your code ends here.
    if me == 0 {
        y.store(thread::block_idx_x() as usize, tile.load(0));
    }
}
