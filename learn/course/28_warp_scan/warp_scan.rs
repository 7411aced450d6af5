//! Warp scan: without shared memory and without barriers.
//!
//! The 32 threads of a warp are its lanes, and a shuffle passes a value from lane to lane through registers. All lanes
//! of the warp execute it together. `warp::shuffle_up(u32::MAX, value, distance)` takes the `value` of the lane that is
//! `distance` lanes lower:
//!
//! ```text
//! lane                       0   1   2   3   4  …  31
//! value                      a   b   c   d   e  …
//! shuffle_up of distance 1   a   a   b   c   d  …       lane 0 has no lower lane
//! shuffle_up of distance 2   a   b   a   b   c  …       lanes 0 and 1 have none
//! ```
//!
//! A lane for which there is no such lane receives its own value. `u32::MAX` is the mask of all 32 lanes: each lane of
//! the mask must reach the same shuffle.
//!
//! Hillis and Steele's scan takes five steps, with the distances 1, 2, 4, 8 and 16. In each, a lane adds the sum of the
//! lane `distance` lower to its own, if there is such a lane. `warp::lane_id()` is the number of the lane in its warp,
//! and `thread::thread_idx_x()` that of the thread in its block. Both are `u32`, and so is the distance.
//!
//! Budget: no barriers.

use cuda_std::prelude::*;

/// The number of threads per block: two warps.
pub const BLOCK: usize = 64;

/// Scans each group of 32 elements: `y[i]` is the sum of the elements of `x` from the beginning of the group to `x[i]`.
/// The length is a multiple of [`BLOCK`], and each block of `BLOCK` threads scans two groups.
#[kernel]
pub fn scan(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d();
    let mut sum = x.load(i);
    // Your code begins here.
    todo!("add the sums of the lower lanes in five steps");
    // Your code ends here.
    y.store(i, sum);
}
