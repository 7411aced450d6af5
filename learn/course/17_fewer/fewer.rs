//! Fewer: a right kernel that waits too often.
//!
//! A block smooths a ring of 128 elements twice: each element becomes the sum of its two neighbours, and then again.
//! The kernel keeps the ring in one tile. It is right, and it reaches four barriers:
//!
//! ```text
//! store x         | load neighbours | store sums      | load neighbours | store y
//!          barrier           barrier           barrier           barrier
//! ```
//!
//! At each barrier all warps wait for the slowest. A barrier is needed only between two accesses of different threads
//! to the same element, at least one of which is a store. Ask of each barrier which two accesses it separates:
//!
//! - A store and then a load by another thread: the load needs the stored value. No rewriting avoids this barrier.
//! - A load and then a store by another thread: the store only needs another place. With a second array in shared
//!   memory, which `shared_array![u32; BLOCK]` declares, nothing has to wait here.
//! - Nothing: the barrier can go.
//!
//! Budget: at most two barriers.

use cuda_std::prelude::*;

/// The number of threads per block, and of elements per ring.
pub const BLOCK: usize = 128;

/// Smooths each ring of [`BLOCK`] elements of `x` twice, into `y`: the neighbours of the last element are the one
/// before and the first. The length is a multiple of `BLOCK`, and each block smooths one ring.
#[kernel]
pub fn smooth(x: Global<u32>, y: GlobalMut<u32>) {
    // Your code begins here.
    let tile = shared_array![u32; BLOCK];
    let me = thread::thread_idx_x() as usize;
    let first = thread::block_idx_x() as usize * BLOCK;
    let (left, right) = ((me + BLOCK - 1) % BLOCK, (me + 1) % BLOCK);
    tile.store(me, x.load(first + me));
    thread::sync_threads();
    let once = tile.load(left) + tile.load(right);
    thread::sync_threads();
    tile.store(me, once);
    thread::sync_threads();
    let twice = tile.load(left) + tile.load(right);
    thread::sync_threads();
    y.store(first + me, twice);
    // Your code ends here.
}
