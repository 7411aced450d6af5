//! Race: mend this kernel from its report alone.
//!
//! Each block reverses its 128 elements through shared memory, so that both its loads and its stores of global memory
//! are coalesced. The kernel looks right, and on most days a GPU returns the right result. It is wrong all the same:
//! the threads of a block do not run in step, and one line relies on it.
//!
//! The check runs the kernel under eight orders of its threads and reports two accesses that nothing orders. The report
//! names both lines, both threads and the element, and it says what would order them. The kernel lacks one line.

use cuda_std::prelude::*;

/// The number of threads per block, and of elements.
pub const BLOCK: usize = 128;

/// Reverses each group of [`BLOCK`] elements of `x` into `y`. The length is a multiple of `BLOCK`, and each block
/// reverses one group.
#[kernel]
pub fn reverse(x: Global<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; BLOCK];
    // Your code begins here.
    let me = thread::thread_idx_x() as usize;
    let first = thread::block_idx_x() as usize * BLOCK;
    tile.store(me, x.load(first + me));
    y.store(first + me, tile.load(BLOCK - 1 - me));
    // Your code ends here.
}
