//! Index: which element is mine?
//!
//! A kernel is a function that every thread of a grid executes. The threads of a block are numbered from 0, and so are
//! the blocks of the grid. A thread finds its own element from these numbers:
//!
//! ```text
//! block 0             block 1             block 2
//! 0 1 2 3 … 62 63     0 1 2 3 … 62 63     0 1 2 3 … 62 63      thread::thread_idx_x()
//! 0 1 2 3 … 62 63     64 65 …     127     128 129 …   191      its index in the whole grid
//! ```
//!
//! `thread::block_idx_x()` is the number of the block, and `thread::block_dim_x()` is the number of threads per block.
//! All three are `u32`. `x.load(i)` returns element `i`, `y.store(i, value)` stores one, and `x.len()` is the length.
//!
//! The host launches enough blocks of 64 threads for all elements. If the length is not a multiple of 64, some threads
//! of the last block have no element, and they must access nothing.

use cuda_std::prelude::*;

/// `y[i] = x[i] + 1` for every `i`. One thread per element; the grid may have more threads than elements.
#[kernel]
pub fn add_one(x: Global<u32>, y: GlobalMut<u32>) {
    // Your code begins here.
    todo!("compute the index of this thread in the grid, and add one to its element");
    // Your code ends here.
}
