//! Unrolled: several elements per thread in flight, and the tail.
//!
//! A thread that loads one element and waits for it leaves memory idle. This kernel loads 4 elements before it stores
//! the first, so that 4 loads are in flight. A block takes a span of `4 · threads` elements, and within a span
//! neighbouring threads take neighbouring elements. With 8 threads per block:
//!
//! ```text
//! start               start + 8             start + 16            start + 24            start + 32
//! | 0 1 2 3 4 5 6 7   | 0 1 2 3 4 5 6 7     | 0 1 2 3 4 5 6 7     | 0 1 2 3 4 5 6 7     | the next span
//! ```
//!
//! The loads of a whole span need no tests of the index. The loop below is from a textbook, and it has two mistakes:
//!
//! - It ends before the last span if that is not whole. Its elements, the tail, are never stored.
//! - `n` and `span` are unsigned. If the vector is shorter than a span, `n - span` is below 0: a fault here, and a huge
//!   number in CUDA.
//!
//! Mend the loop, and treat the tail element by element. Each element may be stored by one thread of one block only.

use cuda_std::prelude::*;

/// The number of elements per thread in a span.
pub const ITEMS: usize = 4;

/// `y[i] = s·x[i]` for every `i`; any grid of one dimension.
#[kernel]
pub fn scale(s: f32, x: Global<f32>, y: GlobalMut<f32>) {
    let (n, threads) = (y.len(), thread::block_dim_x() as usize);
    let span = ITEMS * threads; // the number of elements that a block takes at once
    let stride = span * thread::grid_dim_x() as usize; // from a span of this block to its next
    let mut start = thread::block_idx_x() as usize * span;
    let me = thread::thread_idx_x() as usize;
    // Your code begins here.
    while start < n - span {
        let loaded: [f32; ITEMS] = core::array::from_fn(|j| x.load(start + j * threads + me));
        for j in 0..ITEMS {
            y.store(start + j * threads + me, s * loaded[j]);
        }
        start += stride;
    }
    // Your code ends here.
}
