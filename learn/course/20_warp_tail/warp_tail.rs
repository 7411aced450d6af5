//! Warp tail: mend this kernel from its report alone.
//!
//! When a tree has 64 elements left, one warp can do the rest, and textbooks save the barriers then. They rely on the
//! 32 lanes running in lockstep:
//!
//! ```text
//! stride 32:  lane 0: tile[0] += tile[32]   lane 1: tile[1] += tile[33]   …   lane 31: tile[31] += tile[63]
//! stride 16:  lane 0: tile[0] += tile[16]   lane 1: tile[1] += tile[17]   …   lane 31: tile[31] += tile[47]
//! ```
//!
//! Since Volta, the lanes of a warp may run apart: lane 0 may load `tile[16]` before lane 16 has stored it. And in the
//! step in which lane 0 loads `tile[16]`, lane 16 stores to it, although nobody needs its sum.
//!
//! The textbooks declare the memory `volatile` (here `load_volatile` and `store_volatile`). That keeps one lane's
//! accesses in their order, and orders nothing between two lanes. It only silences the report of the race: the checker
//! takes volatile accesses to be meant so, and what is left is a wrong sum under some orders.
//!
//! - `warp::sync_warp(u32::MAX)` waits for all 32 lanes of the warp, and orders their accesses. All 32 must reach it.
//!   It is cheaper than a barrier of the block.
//!
//! Budget: at most one barrier of the block.

use cuda_std::prelude::*;

/// The number of threads per block, and of elements.
pub const BLOCK: usize = 64;

/// `y[b]` is the sum of the [`BLOCK`] elements of block `b`. One thread per element; the length is a multiple of
/// `BLOCK`.
#[kernel]
pub fn sum(x: Global<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; BLOCK];
    let me = thread::thread_idx_x() as usize;
    tile.store(me, x.load(thread::index_1d()));
    thread::sync_threads();
    // Your code begins here.
    if me < 32 {
        let mut stride = 32;
        while stride > 0 {
            tile.store(me, tile.load(me) + tile.load(me + stride));
            stride /= 2;
        }
    }
    // Your code ends here.
    if me == 0 {
        y.store(thread::block_idx_x() as usize, tile.load(0));
    }
}
