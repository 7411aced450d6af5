//! Privatised: each block counts for itself.
//!
//! A histogram by atomics in global memory is right, but every key moves a sector, and keys of one bin wait for each
//! other across the whole GPU. Atomics in shared memory are fast, so each block counts its keys there, and adds its
//! counts to the result once:
//!
//! ```text
//! 1  own[b] = 0                  for every bin b of the block's own counters
//! 2  own[b] += 1                 for every key of the block, atomically
//! 3  counts[b] += own[b]         for every bin b, atomically, because all blocks do so
//! ```
//!
//! Shared memory has no values at first. What a thread does in one part, others need in the next.
//!
//! - `thread::block_stride(n)` iterates over the indices below n that belong to this thread, if the threads of its
//!   block divide them. `thread::grid_stride(n)` does so for the threads of the grid.
//! - `own.store(b, value)`, `own.load(b)` and `own.atomic_add(b, value)` access shared memory; `counts` and `keys` have
//!   the same methods.
//! - `thread::sync_threads()` waits until all threads of the block have reached it.
//!
//! A key is a `u32` below `BINS`, and is its own bin. A block has fewer threads than there are bins.
//!
//! Budget: at most 1.2 × the bytes of the keys.

use cuda_std::prelude::*;

/// The number of bins.
pub const BINS: usize = 100;

/// Adds to `counts[b]` the number of keys that are equal to b, for each of the [`BINS`] bins. Any grid; `keys` are
/// below `BINS`.
#[kernel]
pub fn histogram(keys: Global<u32>, counts: GlobalMut<u32>) {
    let own = shared_array![u32; BINS];
    // Your code begins here.
    for i in thread::grid_stride(keys.len()) {
        counts.atomic_add(keys.load(i) as usize, 1);
    }
    // Your code ends here.
}
