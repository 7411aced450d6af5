//! Scopes: mend this kernel from its report alone.
//!
//! An atomic operation has a scope: the threads for which it is atomic. To the others it is an ordinary access.
//!
//! ```text
//! counts.block_atomic(i)     the threads of the own block
//! counts.atomic(i)           the threads of the device: of all blocks of the grid
//! counts.system_atomic(i)    also the host and other devices
//! ```
//!
//! Each returns a reference to element i. Its `fetch_add(value, order)` adds, and returns what the element was before.
//! The order `Relaxed` says that the addition orders no other accesses, and these counters need no more. The other
//! orders (`Acquire`, `Release`, `AcqRel`) say when others see accesses to *other* elements: they change no scope.
//! `counts.atomic_add(i, value)` is short for `counts.atomic(i).fetch_add(value, Relaxed)`.
//!
//! This kernel counts the even elements of `x` twice: for each block, and for the whole grid. One of the two counters
//! has the wrong scope. The report names the element, the two lines, and the blocks of the two threads.

use cuda_std::atomic::Ordering::{AcqRel, Relaxed};
use cuda_std::prelude::*;

/// Adds to `of_block[b]` the number of even elements of `x` that block b has read, and to `of_grid[0]` the number of
/// all even elements. One thread per element; the grid may have more threads than elements.
#[kernel]
pub fn count_even(x: Global<u32>, of_block: GlobalMut<u32>, of_grid: GlobalMut<u32>) {
    // Your code begins here.
    let i = thread::index_1d();
    let block = thread::block_idx_x() as usize;
    if i < x.len() && x.load(i) % 2 == 0 {
        of_grid.block_atomic(0).fetch_add(1, Relaxed);
        of_block.block_atomic(block).fetch_add(1, Relaxed);
    }
    // Your code ends here.
}
