//! Coalescing: neighbours read neighbours.
//!
//! The 32 threads of a warp execute a load together, as one request. Global memory moves whole sectors of 32 bytes, so
//! a request of 32 `f32` needs 4 sectors if the elements are neighbours, and 32 sectors if they are far apart. Then 7
//! of 8 bytes are moved in vain.
//!
//! This kernel scales a vector in blocks of 256 threads, 8 elements per thread. On a CPU, a thread would get a piece of
//! 8 neighbours. On a GPU what counts is which elements the 32 threads of a warp access at the same time:
//!
//! ```text
//! one piece per thread:   step 0 reads 0, 8, 16, 24, …    step 1 reads 1, 9, 17, 25, …
//! by strides of the block: step 0 reads 0, 1, 2, 3, …     step 1 reads 256, 257, 258, …
//! ```
//!
//! Budget: at most 1.1 × the bytes that must move.

use cuda_std::prelude::*;

/// The number of elements per thread.
pub const ITEMS: usize = 8;

/// `y[i] = s·x[i]` for every `i`. Each block scales `ITEMS` elements per thread; the grid covers all elements.
#[kernel]
pub fn scale(s: f32, x: Global<f32>, y: GlobalMut<f32>) {
    let threads = thread::block_dim_x() as usize;
    let first = thread::block_idx_x() as usize * threads * ITEMS; // the first element of this block
    let me = thread::thread_idx_x() as usize;
    for step in 0..ITEMS {
        // Your code begins here.
        let i = first + me * ITEMS + step;
        if i < y.len() {
            y.store(i, s * x.load(i));
        }
        // Your code ends here.
    }
}
