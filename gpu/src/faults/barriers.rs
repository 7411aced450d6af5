//! Block barriers that not every thread comes to.
//!
//! What is wrong: a barrier waits for all threads of the block. In [`barrier_in_branch()`] those whose element is past the
//! array's end return before it, which CUDA allows nowhere and GPUs since Volta forgive; in [`barriers_of_branches()`] each
//! way through the branch has a barrier of its own, and which threads meet at which is left to the GPU. In
//! [`barrier_of_two_calls()`] the two barriers stand in one line, of a function that both arms call, and in
//! [`barrier_skipped()`] a lane leaves it out in another iteration than the others: all come to as many.
//!
//! [`transpose_tile()`](crate::transpose::transpose_tile()) has the branch around the accesses, and the barrier outside of it.

use cuda_std::{Global, GlobalMut, kernel, shared_array, thread};

/// Elements of a tile, and the most threads of a block.
const TILE: usize = 128;

/// `y[i]` = `x[i] + x[i + 1]` within a block, with a barrier that the threads past the array's end do not reach.
#[kernel(max_threads = 128)]
pub fn barrier_in_branch(x: Global<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; TILE];
    let (thread, i) = (thread::thread_idx_x() as usize, thread::index_1d());
    if i >= x.len() {
        return;
    }
    tile.store(thread, x.load(i));
    thread::sync_threads(); // fault: barrier
    let above = if thread + 1 < thread::block_dim_x() as usize && i + 1 < x.len() { tile.load(thread + 1) } else { 0 };
    y.store(i, x.load(i).wrapping_add(above));
}

/// `y[i]` = what the thread across the block has, by two barriers where there should be one. One block of at most 128
/// threads, an even number.
#[kernel(max_threads = 128)]
pub fn barriers_of_branches(x: Global<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; TILE];
    let (i, half) = (thread::thread_idx_x() as usize, thread::block_dim_x() as usize / 2);
    tile.store(i, x.load(i));
    let across = if i < half {
        thread::sync_threads(); // fault: barrier of the lower half
        tile.load(i + half)
    } else {
        thread::sync_threads(); // fault: barrier of the upper half
        tile.load(i - half)
    };
    y.store(i, across);
}

/// What a phase ends with.
fn end_phase() {
    thread::sync_threads();
}

/// `y[i]` = `i`, but for the first, with a phase's end in both arms of a branch. One block of at most 128 threads.
#[kernel(max_threads = 128)]
pub fn barrier_of_two_calls(y: GlobalMut<u32>) {
    let i = thread::thread_idx_x() as usize;
    if i == 0 {
        y.store(0, 1);
        end_phase(); // fault: call of the first lane
    } else {
        y.store(i, i as u32);
        end_phase(); // fault: call of the others
    }
}

/// `y[i]` = the rounds in which the thread did not rest. One block of at most 128 threads.
#[kernel(max_threads = 128)]
pub fn barrier_skipped(y: GlobalMut<u32>) {
    let i = thread::thread_idx_x() as usize;
    let mut worked = 0;
    // fault: rounds
    for round in 0..4 {
        if round == usize::from(i == 0) {
            continue;
        }
        worked += 1;
        thread::sync_threads();
    }
    y.store(i, worked);
}
