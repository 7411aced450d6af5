//! Histogram: many threads add to one counter.
//!
//! A histogram counts the keys of each bin. Here bin b has the keys from `WIDTH * b` on, `WIDTH` of them, and there are
//! `BINS` bins. Larger keys are in no bin, and are not counted:
//!
//! ```text
//! key      0 … 9   10 … 19   20 … 29   …   70 … 79   80 …
//! bin        0        1         2      …      7      none
//! ```
//!
//! To count a key is to load the counter of its bin, add 1, and store it. Two threads with keys of one bin may load the
//! same value, and then one of the two additions is lost:
//!
//! ```text
//! thread 0   load 5             store 6
//! thread 9            load 5             store 6        two keys, and the counter has grown by 1
//! ```
//!
//! An atomic update does all three at once: no other access comes between. `counts.atomic_add(i, value)` adds to
//! element i and returns what it was before. Others are `atomic_sub`, `atomic_min`, `atomic_max` and `atomic_exchange`.
//! Atomic accesses do not race with each other, but two atomic accesses are not one.
//!
//! The hole is the body of a loop over the keys: count `key`, a `u32`.

use cuda_std::prelude::*;

/// The number of bins.
pub const BINS: usize = 8;
/// The number of keys that are in one bin.
pub const WIDTH: u32 = 10;

/// Adds to `counts[b]` the number of keys from `WIDTH * b` up to `WIDTH * (b + 1) - 1`, for each of the [`BINS`] bins.
/// Any grid.
#[kernel]
pub fn histogram(keys: Global<u32>, counts: GlobalMut<u32>) {
    for i in thread::grid_stride(keys.len()) {
        let key = keys.load(i);
        // Your code begins here.
        todo!("add 1 to the counter of the bin of `key`, if it is in a bin");
        // Your code ends here.
    }
}
