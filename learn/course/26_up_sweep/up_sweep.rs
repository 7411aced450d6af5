//! Up-sweep: the first half of a scan with few additions.
//!
//! Hillis and Steele's scan makes n log₂ n additions. The work-efficient scan makes about 2n: it goes up a tree of
//! sums, and then down (the next exercise). On the way up, the level with the width w joins neighbours: the sum of w
//! elements is added to the sum of the next w. Each sum is where the last of its elements was:
//!
//! ```text
//! index      0   1   2   3   4   5   6   7
//!            a   b   c   d   e   f   g   h
//! width 1    a  ab   c  cd   e  ef   g  gh     1 adds 0,  3 adds 2,  5 adds 4,  7 adds 6
//! width 2    a  ab   c abcd  e  ef   g efgh    3 adds 1,  7 adds 5
//! width 4    a  ab   c abcd  e  ef   g  a…h    7 adds 3
//! ```
//!
//! Each level has half as many additions as the one before, and needs the sums of the level before. Thread 0 makes the
//! first addition of each level, thread 1 the second, and so on; the others have nothing to do. `me` is the number of
//! the thread in its block. The hole is one level. It begins directly after the stores of the level before, or after
//! those that fill `tree`, and a barrier follows the last level.
//!
//! `tree.load(i)` and `tree.store(i, value)` access shared memory. `thread::sync_threads()` waits until all threads of
//! the block have reached it.
//!
//! Budget: at most one barrier per level, 9 with the last.

use cuda_std::prelude::*;

/// The number of threads per block.
pub const THREADS: usize = 128;
/// The number of elements per block.
pub const SIZE: usize = 2 * THREADS;

/// Computes the sums of the up-sweep of each group of [`SIZE`] elements. If i + 1 within the group is an odd multiple
/// of w = 2ᵏ, `y[i]` is the sum of the w elements of `x` that end at `x[i]`. The length is a multiple of `SIZE`, and
/// each block of [`THREADS`] threads has one group.
#[kernel]
pub fn up_sweep(x: Global<u32>, y: GlobalMut<u32>) {
    let tree = shared_array![u32; SIZE];
    let me = thread::thread_idx_x() as usize;
    let first = thread::block_idx_x() as usize * SIZE;
    tree.store(me, x.load(first + me));
    tree.store(me + THREADS, x.load(first + me + THREADS));
    let mut width = 1;
    while width < SIZE {
        // Your code begins here.
        todo!("add the sums of `width` elements in pairs");
        // Your code ends here.
        width *= 2;
    }
    thread::sync_threads();
    y.store(first + me, tree.load(me));
    y.store(first + me + THREADS, tree.load(me + THREADS));
}
