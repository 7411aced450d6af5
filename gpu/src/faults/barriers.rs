//! Block barriers that some threads of the block do not reach.
//!
//! Fault: a barrier waits for all threads of the block, but some of them do not reach it.
//!
//! - In [`barrier_in_branch()`], threads beyond the end of the array return before the barrier. CUDA forbids this,
//!   though GPUs since Volta tolerate it.
//! - In [`barriers_of_branches()`], each branch contains a barrier. It is undefined which threads meet at which
//!   barrier.
//! - In [`barrier_of_two_calls()`], both branches call the same function, which contains a barrier. The two barriers
//!   therefore have the same source line.
//! - In [`barrier_skipped()`], one lane skips the barrier in a different iteration than the other lanes. All lanes
//!   execute the same number of barriers.
//!
//! [`transpose_tile()`](crate::transpose::transpose_tile()) is correct: only its accesses are inside the branch, and
//! the barrier is outside.

use cuda_std::{Global, GlobalMut, kernel, shared_array, thread};

/// The number of elements in a tile, and the largest number of threads per block.
const TILE: usize = 128;

/// Computes `y[i] = x[i] + x[i + 1]` within a block. Threads beyond the end of the array do not reach the barrier.
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

/// In thread `i`, writes the value of the opposite thread of the block to `y[i]`. Each branch has its own barrier,
/// instead of one for all threads. Launch one block of an even number of threads, at most 128.
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

/// Executes the barrier. Both branches of [`barrier_of_two_calls()`] call this function.
fn end_phase() {
    thread::sync_threads();
}

/// Writes `y[i] = i` in all threads except the first, which writes `y[0] = 1`. Each branch calls a function with a
/// barrier. Launch one block of at most 128 threads.
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

/// Writes to `y[i]` the number of rounds in which thread `i` was active. Launch one block of at most 128 threads.
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
