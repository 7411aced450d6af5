//! The last block to finish combines what the others left, without the fences that let it see that.
//!
//! What is wrong: an atomic update orders nothing but itself. The block that draws the last ticket knows that the others
//! have drawn theirs, and not that it sees what they stored before.
//!
//! [`reduce_grid_stride()`](crate::reduce::reduce_grid_stride()) publishes each partial result together with a flag, and draws
//! no ticket. With a ticket, a fence would have to stand before it, and one after it.

use cuda_std::{Global, GlobalMut, kernel, thread};

/// `y[0]` = the sum of `x`, with a race between the blocks. Any one-dimensional grid; `partials` has an element per block,
/// `ticket[0]` is 0.
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
