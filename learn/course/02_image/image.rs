//! Image: two dimensions, and which of them runs along a row.
//!
//! Blocks and grids may have two dimensions. A thread has an index along x and one along y, and so has its block:
//! `thread::thread_idx_x()`, `thread::block_idx_x()` and `thread::block_dim_x()` are as in one dimension, and there are
//! the same functions with `y` in the place of `x`.
//!
//! An image lies in memory row by row. This one has 5 columns and 3 rows, and its cells show the indices of its pixels:
//!
//! ```text
//!             column 0   1   2   3   4
//! row 0              0   1   2   3   4
//! row 1              5   6   7   8   9
//! row 2             10  11  12  13  14
//! ```
//!
//! The 32 threads of a warp have neighbouring x indices. Memory moves whole sectors of 32 bytes, so these threads
//! should access neighbouring pixels.
//!
//! The host launches blocks of 32 × 8 threads: enough of them along x for all columns, and along y for all rows. Blocks
//! at the right and at the lower edge reach beyond the image, and there a thread must access nothing: its index could
//! be that of a pixel of the next row, which has a thread of its own.
//! Budget: at most 1.1 × the bytes that must move.

use cuda_std::prelude::*;

/// `y = 255 − x` for every pixel of an image of `height` rows of `width` pixels. One thread per pixel; the grid may
/// have more columns and rows of threads than the image has of pixels.
#[kernel]
pub fn invert(width: usize, height: usize, x: Global<u32>, y: GlobalMut<u32>) {
    // Your code begins here.
    todo!("compute the column and the row of this thread, and invert its pixel");
    // Your code ends here.
}
