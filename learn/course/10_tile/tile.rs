//! Tile: each element is loaded once, and used three times.
//!
//! The threads of a block have memory in common: shared memory. It is as fast as a cache, and the kernel decides what
//! it holds. This kernel adds three neighbours. Read from global memory, each element would be loaded three times. So
//! each block first copies its piece of `x` to a tile, together with one neighbour on each side, the halo. With 4
//! threads per block, block 1 needs:
//!
//! ```text
//! x            0   1   2   3 | 4   5   6   7 | 8   9  10  11
//! tile                     0   1   2   3   4   5
//!                       halo                halo
//! ```
//!
//! `tile.store(t, value)` and `tile.load(t)` access an element of the tile. Each block has its own, and nothing is in
//! it at first. `thread::sync_threads()` is a barrier: it waits until every thread of the block has reached it, and
//! after it each thread sees what the others have stored. Every thread must reach it, also one that is beyond the end.
//!
//! Thread `me` has element `i` of `x`, which is element `me + 1` of the tile. An element before the beginning or past
//! the end of `x` counts as 0: the tile must then have a 0. Fill the whole tile, and let no thread read it too early.
//!
//! Budgets: at most 1.1 × the bytes that must move, and one barrier.

use cuda_std::prelude::*;

/// The number of threads per block.
pub const BLOCK: usize = 128;

/// `y[i] = x[i − 1] + x[i] + x[i + 1]` for every `i`; elements outside of `x` count as 0. One thread per element, in
/// blocks of [`BLOCK`] threads; the grid may have more threads than elements.
#[kernel]
pub fn sum3(x: Global<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; BLOCK + 2];
    let (me, i, n) = (thread::thread_idx_x() as usize, thread::index_1d(), x.len());
    // Your code begins here.
    todo!("fill the tile and its halo");
    // Your code ends here.
    if i < n {
        y.store(i, tile.load(me) + tile.load(me + 1) + tile.load(me + 2));
    }
}
