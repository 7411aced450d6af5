//! Grid stride: any grid covers any length.
//!
//! One thread per element ties the grid to the length. A loop unties them: each thread starts at its own index in the
//! grid and then advances by the number of threads of the whole grid, until it is beyond the end. With 2 blocks of 4
//! threads and 19 elements:
//!
//! ```text
//! element     0  1  2  3  4  5  6  7 | 8  9 10 11 12 13 14 15 |16 17 18
//! block       0  0  0  0  1  1  1  1 | 0  0  0  0  1  1  1  1 | 0  0  0
//! thread      0  1  2  3  0  1  2  3 | 0  1  2  3  0  1  2  3 | 0  1  2
//! ```
//!
//! In each pass the grid covers a run of neighbouring elements, so the accesses of a warp stay coalesced. The program
//! may choose the grid by the device, a few blocks per multiprocessor. It may also launch `<<<1, 1>>>`: one thread does
//! everything, in the order of a CPU, which is good for debugging.
//!
//! `thread::index_1d()` returns the index of this thread in the grid, `thread::grid_dim_x()` the number of blocks, and
//! `thread::block_dim_x()` the number of threads per block. The last two are `u32`.
//!
//! The check launches three grids: `<<<1, 1>>>`, `<<<2, 32>>>`, and one with more threads than elements.
//!
//! Budget: at most 1.1 × the bytes that must move, measured with a grid of 16 blocks of 64 threads.

use cuda_std::prelude::*;

/// `y[i] = s·x[i]` for every `i`; any grid of one dimension.
#[kernel]
pub fn scale(s: f32, x: Global<f32>, y: GlobalMut<f32>) {
    // Your code begins here.
    todo!("loop over the elements of this thread");
    // Your code ends here.
}
