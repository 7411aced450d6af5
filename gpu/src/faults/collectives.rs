//! Collectives of a block that are called wrongly.
//!
//! Faults: two scans use one array in shared memory without a barrier between them, so that a warp overwrites the
//! aggregates that another warp still reads; and only some threads of the block call the collective.
//!
//! [`collective`](crate::collective) states what each function requires.

use cuda_std::{Global, GlobalMut, kernel, shared_array, thread};

use crate::collective::block::{MAX_WARPS, block_exclusive_scan, block_inclusive_scan};
use crate::operator::Sum;

/// Scans twice in the same shared memory, without a barrier between.
#[kernel(max_threads = 1024)]
pub fn aggregates_reused(x: Global<u32>, y: GlobalMut<u32>) {
    let aggregates = shared_array![u32; MAX_WARPS];
    let i = thread::index_in_block() as usize;
    let (first, _) = block_inclusive_scan::<u32, Sum>(aggregates, x.load(i)); // fault: read
    let (second, _) = block_inclusive_scan::<u32, Sum>(aggregates, first); // fault: write
    y.store(i, second);
}

/// Calls a collective of the block in a branch that only the first warp takes.
#[kernel(max_threads = 1024)]
pub fn collective_in_branch(x: Global<u32>, y: GlobalMut<u32>) {
    let aggregates = shared_array![u32; MAX_WARPS];
    let i = thread::index_in_block() as usize;
    if i < 32 {
        let (sum, _) = block_exclusive_scan::<u32, Sum>(aggregates, x.load(i)); // fault: branch
        y.store(i, sum);
    }
}
