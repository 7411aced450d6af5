//! Last block: one launch for a sum of the whole grid.
//!
//! Each block has the sum of its part. The sum of these needs all of them, and blocks cannot wait for each other: a
//! block may begin only when another has ended. But each block can find out whether it is the last one to finish. It
//! draws a ticket, and the last ticket says that all other blocks have drawn theirs:
//!
//! ```text
//! block 0   store its sum, draw ticket 1
//! block 1   store its sum, draw ticket 2: the last of three, so load all sums, and store the total
//! block 2   store its sum, draw ticket 0
//! ```
//!
//! `tickets.atomic(0).fetch_add(1, order)` adds 1 to the counter of tickets and returns what it was before. The `order`
//! says how the ticket orders the accesses to other memory:
//!
//! ```text
//! Relaxed    it orders none
//! Release    who acquires this ticket, or a later one, sees what this thread has stored before
//! Acquire    this thread sees what was stored before earlier tickets that were released
//! AcqRel     both
//! ```
//!
//! `sums.load(i)` and `sums.store(i, value)` access the sums of the blocks. `block` is the number of this block and
//! `blocks` is the number of all, both as `u32`. Thread 0 fills the hole; `sum` is the sum of its block.

use cuda_std::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use cuda_std::prelude::*;

/// Stores the sum of `x` to `total[0]`. A one-dimensional grid of any size; blocks of whole warps. `sums` has one
/// element per block, and `tickets[0]` is 0.
#[kernel]
pub fn sum(x: Global<u32>, sums: GlobalMut<u32>, tickets: GlobalMut<u32>, total: GlobalMut<u32>) {
    let of_block = shared_array![u32; 1];
    let (block, blocks) = (thread::block_idx_x(), thread::grid_dim_x());
    of_block.atomic_exchange(0, 0);
    thread::sync_threads();
    for i in thread::grid_stride(x.len()) {
        of_block.atomic_add(0, x.load(i));
    }
    thread::sync_threads();
    if thread::thread_idx_x() == 0 {
        let sum = of_block.load(0);
        // Your code begins here.
        todo!("store the sum, draw a ticket, and in the last block store the total");
        // Your code ends here.
    }
}
