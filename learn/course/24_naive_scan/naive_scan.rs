//! Naive scan: mend this kernel from its report alone.
//!
//! A scan computes all prefix sums: `y[i] = x[0] + … + x[i]`. Hillis and Steele's scan needs log₂ n steps. In the step
//! with the distance d, each element adds the element d places before it:
//!
//! ```text
//!               a    b    c    d         the first four of eight elements
//! distance 1    a   ab   bc   cd         ab is short for a + b
//! distance 2    a   ab  abc abcd
//! distance 4    a   ab  abc abcd         the last four add these
//! ```
//!
//! This kernel works in place, in one array, with a barrier before each step. A textbook has it so. A step must read
//! only values of the step before. The report names two accesses of one step, the element, and both threads.
//!
//! `thread::sync_threads()` waits until all threads of the block have reached it. All threads of a block must reach
//! the same barriers. Also think of the steps: each of them runs after another.
//!
//! Budget: at most two barriers per step, 14 in all.

use cuda_std::prelude::*;

/// The number of threads per block, and of elements.
pub const BLOCK: usize = 128;

/// Scans each group of [`BLOCK`] elements: `y[i]` is the sum of the elements of `x` from the beginning of the group to
/// `x[i]`. The length is a multiple of `BLOCK`, and each block scans one group.
#[kernel]
pub fn scan(x: Global<u32>, y: GlobalMut<u32>) {
    let sums = shared_array![u32; BLOCK];
    // Your code begins here.
    let me = thread::thread_idx_x() as usize;
    let first = thread::block_idx_x() as usize * BLOCK;
    sums.store(me, x.load(first + me));
    let mut distance = 1;
    while distance < BLOCK {
        thread::sync_threads();
        if me >= distance {
            let before = sums.load(me - distance);
            sums.store(me, before + sums.load(me));
        }
        distance *= 2;
    }
    y.store(first + me, sums.load(me));
    // Your code ends here.
}
