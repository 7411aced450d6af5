//! Down-sweep: the second half of a scan with few additions.
//!
//! The up-sweep has left sums in a tree: where i + 1 is an odd multiple of w = 2ᵏ, element i is the sum of the w
//! elements that end there. The down-sweep makes prefix sums of them. The first element of each power of two is one
//! already. Each level adds a prefix sum to the sum of the next w elements, the widest level first:
//!
//! ```text
//! index      0   1   2   3   4   5   6   7
//! given      a  ab   c a…d   e  ef   g a…h
//! width 2    a  ab   c a…d   e a…f   g a…h     5 adds 3
//! width 1    a  ab a…c a…d a…e a…f a…g a…h     2 adds 1,  4 adds 3,  6 adds 5
//! ```
//!
//! With 16 elements, 11 adds 7 at width 4; then 5 adds 3, 9 adds 7, and 13 adds 11 at width 2. Thread 0 makes the first
//! addition of each level, thread 1 the second, and so on. A level needs the sums of the level before. The hole is the
//! whole sweep, from the width `SIZE / 4` down to 1. It begins directly after the stores that fill `tree`, and a
//! barrier follows it. `me` is the number of the thread in its block.
//!
//! `tree.load(i)` and `tree.store(i, value)` access shared memory. `thread::sync_threads()` waits until all threads of
//! the block have reached it.
//!
//! Budget: at most one barrier per level, 8 with the last.

use cuda_std::prelude::*;

/// The number of threads per block.
pub const THREADS: usize = 128;
/// The number of elements per block.
pub const SIZE: usize = 2 * THREADS;

/// Computes prefix sums from the sums of an up-sweep, in groups of [`SIZE`] elements. If i + 1 within the group is an
/// odd multiple of w = 2ᵏ, `x[i]` is the sum of the w elements that end at i. Then `y[i]` is the sum of the elements
/// from the beginning of the group to i. The length is a multiple of `SIZE`, and each block of [`THREADS`] threads has
/// one group.
#[kernel]
pub fn down_sweep(x: Global<u32>, y: GlobalMut<u32>) {
    let tree = shared_array![u32; SIZE];
    let me = thread::thread_idx_x() as usize;
    let first = thread::block_idx_x() as usize * SIZE;
    tree.store(me, x.load(first + me));
    tree.store(me + THREADS, x.load(first + me + THREADS));
    // Your code begins here.
    todo!("the levels from the width `SIZE / 4` down to 1");
    // Your code ends here.
    thread::sync_threads();
    y.store(first + me, tree.load(me));
    y.store(first + me + THREADS, tree.load(me + THREADS));
}
