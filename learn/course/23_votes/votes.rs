//! Votes: count with one instruction.
//!
//! How many elements of `x` are above a limit? A sum of zeros and ones takes five shuffles per warp. A vote is one
//! instruction: each lane says yes or no, and all lanes get the answers of all, as the bits of one word.
//!
//! ```text
//! lane           31 …  6  5  4  3  2  1  0
//! above limit?    1 …  0  0  1  1  0  1  0
//! ballot        0b1……  0  0  1  1  0  1  0        bit i is the answer of lane i
//! ```
//!
//! - `warp::ballot(u32::MAX, answer)` takes a `bool` and returns this word, a `u32`. All 32 lanes must call it: the
//!   mask `u32::MAX` says so.
//! - `word.count_ones()` is the number of bits that are 1.
//! - `warp::lane_id()` is the lane, 0 to 31.
//! - `thread::index_1d()` is the thread's index in the grid, a `usize`.
//!
//! One lane of each warp stores the count of its warp. The length is arbitrary: a lane without an element votes no.
//! Note that `condition && x.load(i) > limit` loads only if the condition is true.

use cuda_std::prelude::*;

/// `y[w]` is the number of elements above `limit` among the 32 elements of warp `w`, or fewer in the last. Blocks are
/// whole warps, and `y` has an element for each warp with an element.
#[kernel]
pub fn count(limit: u32, x: Global<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d();
    // Your code begins here.
    todo!("vote, and let one lane of each warp store the count to y[i / 32]");
    // Your code ends here.
}
