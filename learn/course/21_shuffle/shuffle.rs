//! Shuffle: the sum of a warp without memory.
//!
//! The 32 lanes of a warp can read each other's registers. No shared memory and no barrier is needed:
//!
//! - `warp::shuffle_down(u32::MAX, value, delta)` returns the `value` of the lane `delta` above the caller. If there is
//!   no such lane, it returns the caller's own value. `delta` is a `u32` below 32.
//! - `warp::lane_id()` is the caller's index in its warp, 0 to 31.
//!
//! The first argument is the mask of the lanes that take part, here all 32. All lanes of the mask must call the
//! function, also those whose result is not used.
//!
//! ```text
//! lane          0        1        2        3        4     5     6     7
//! delta 4      0+4      1+5      2+6      3+7       .     .     .     .      a warp of 8 lanes, to show it
//! delta 2      +(2+6)   +(3+7)    .        .        .     .     .     .
//! delta 1      all       .        .        .        .     .     .     .
//! ```
//!
//! At the points are sums that nobody needs. Only lane 0 has the sum of all. Let it return this sum; what the other
//! lanes return does not matter. A warp has 32 lanes, so the first `delta` differs from that of the picture.
//!
//! Budget: no barrier.

use cuda_std::prelude::*;

/// `y[w]` is the sum of the 32 elements of warp `w`. One thread per element; the length is a multiple of 32.
#[kernel]
pub fn sum(x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d();
    let all = warp_sum(x.load(i));
    if warp::lane_id() == 0 {
        y.store(i / 32, all);
    }
}

/// Returns in lane 0 the sum of the values of all 32 lanes. All lanes of the warp must call it.
fn warp_sum(value: u32) -> u32 {
    // Your code begins here.
    todo!("add the values of other lanes, from which lane 0 gets the sum of all");
    // Your code ends here.
}
