//! A reduction whose last block combines the results of the other blocks, without the fences that make these results
//! visible.
//!
//! Fault: a relaxed atomic update does not order other accesses. The block that draws the last ticket knows that all
//! other blocks have drawn their tickets. It may still not see the values that they stored before.
//!
//! [`reduce_grid_stride()`](crate::reduce::reduce_grid_stride()) is correct: it publishes each partial result together
//! with a flag and uses no ticket. A kernel with tickets needs one fence before the block draws its ticket and one
//! after.

use cuda_std::{Global, GlobalMut, kernel, thread};

/// Writes the sum of `x` to `y[0]`, with a race between blocks. Launch a one-dimensional grid of any size. `partials`
/// must have one element per block. `ticket[0]` must be 0.
#[kernel]
pub fn ticket_without_fences(x: Global<u32>, partials: GlobalMut<u32>, ticket: GlobalMut<u32>, y: GlobalMut<u32>) {
    if thread::thread_idx_x() != 0 {
        return;
    }
    let (block, blocks) = (thread::block_idx_x() as usize, thread::grid_dim_x() as usize);
    let mut sum = 0_u32;
    let mut i = block;
    while i < x.len() {
        sum = sum.wrapping_add(x.load(i));
        i += blocks;
    }
    partials.store(block, sum); // fault: write
    if ticket.atomic_add(0, 1) as usize == blocks - 1 {
        let mut all = 0_u32;
        for other in 0..blocks {
            all = all.wrapping_add(partials.load(other)); // fault: read
        }
        y.store(0, all);
    }
}
