//! Block sum: warps first, then one warp.
//!
//! A block of 256 threads has 8 warps. `warp_sum` below adds up the values of one warp by shuffles, without a barrier.
//! To add up a block, each warp leaves its sum in shared memory, and one warp adds up these 8 sums:
//!
//! ```text
//! warp     0          1          2        …      7
//! sum      lane 0     lane 0     lane 0   …      lane 0
//!          ↓          ↓          ↓               ↓
//! sums     0          1          2        …      7          one barrier of the block
//!          ↓          ↓          ↓               ↓
//! warp 0   lane 0     lane 1     lane 2   …      lane 7     lanes 8 to 31 have no sum, and take 0
//! ```
//!
//! - `warp::warp_id()` is the index of the warp in the block and `warp::lane_id()` the index in the warp, both `u32`.
//! - `warp_sum(value)` returns the sum of all 32 lanes in lane 0. All 32 lanes of the warp must call it. In other lanes
//!   the result is of no use.
//! - `thread::sync_threads()` waits for all threads of the block.
//! - `sums.load(i)` and `sums.store(i, value)` access the array in shared memory, with a `usize`.
//!
//! Budget: at most one barrier.

use cuda_std::prelude::*;

/// The number of threads per block, and of elements.
pub const BLOCK: usize = 256;
/// The number of warps per block.
pub const WARPS: usize = BLOCK / 32;

/// Returns in lane 0 the sum of the values of all 32 lanes. All lanes of the warp must call it.
fn warp_sum(value: u32) -> u32 {
    let mut sum = value;
    let mut delta = 16;
    while delta > 0 {
        sum += warp::shuffle_down(u32::MAX, sum, delta);
        delta /= 2;
    }
    sum
}

/// `y[b]` is the sum of the [`BLOCK`] elements of block `b`. One thread per element; the length is a multiple of
/// `BLOCK`.
#[kernel]
pub fn sum(x: Global<u32>, y: GlobalMut<u32>) {
    let sums = shared_array![u32; WARPS];
    let (warp, lane) = (warp::warp_id() as usize, warp::lane_id() as usize);
    let value = x.load(thread::index_1d());
    // Your code begins here.
    todo!("store the sum of each warp, and let the first warp add them up and store the result to y");
    // Your code ends here.
}
