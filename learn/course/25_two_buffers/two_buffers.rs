//! Two buffers: one barrier per step.
//!
//! A scan computes all prefix sums: `y[i] = x[0] + … + x[i]`. In the step with the distance d, each element adds the
//! element d places before it, as it was before the step. In place, a step needs two barriers: one between the loads
//! and the stores, and one before the loads of the next step. With two buffers, a step reads one and writes the other,
//! and the two change places:
//!
//! ```text
//! buffers     0 ……………… 127  128 ………… 255
//! distance 1    reads  ───────→  writes
//! distance 2    writes ←───────  reads
//! distance 4    reads  ───────→  writes
//! ```
//!
//! Both are in one array: one begins at 0, the other at `BLOCK`. `from` is the beginning of the one that the next step
//! reads, and `sum` is the thread's own element there. The next step reads every element of it.
//!
//! `buffers.load(i)` and `buffers.store(i, value)` access shared memory. `thread::sync_threads()` waits until all
//! threads of the block have reached it; the accesses before it come before those after it.
//!
//! Budget: at most one barrier per step, 8 with the first.

use cuda_std::prelude::*;

/// The number of threads per block, and of elements.
pub const BLOCK: usize = 128;

/// Scans each group of [`BLOCK`] elements: `y[i]` is the sum of the elements of `x` from the beginning of the group to
/// `x[i]`. The length is a multiple of `BLOCK`, and each block scans one group.
#[kernel]
pub fn scan(x: Global<u32>, y: GlobalMut<u32>) {
    let buffers = shared_array![u32; 2 * BLOCK];
    let me = thread::thread_idx_x() as usize;
    let i = thread::block_idx_x() as usize * BLOCK + me;
    let mut from = 0;
    let mut sum = x.load(i);
    buffers.store(from + me, sum);
    thread::sync_threads();
    let mut distance = 1;
    while distance < BLOCK {
        // Your code begins here.
        todo!("add to `sum`, store it in the other buffer, and set `from` for the next step");
        // Your code ends here.
        distance *= 2;
    }
    y.store(i, sum);
}
