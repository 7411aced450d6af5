//! Matrix product: each element is used more than once.
//!
//! An element of C = A·B is the sum of n products of a row of A and a column of B. All n threads of a row of C read the
//! same row of A. As it stands, the kernel moves it from global memory again for each of them.
//!
//! A block computes a tile of 8 × 8 elements of C. Its rows of A and its columns of B are cut into tiles, too:
//!
//! ```text
//!                       columns of the block
//!                          B 0
//!                          B 1
//! rows of the block  A 0 A 1 …    C = A 0 · B 0 + A 1 · B 1 + …
//! ```
//!
//! In the steps k = 0, 8, 16, … the block copies two tiles to shared memory, the one of A that begins in column k and
//! the one of B that begins in row k, each thread one element of each. Then each thread adds 8 products to its sum.
//! Each element that is moved is used 8 times.
//!
//! `tile.store(y * TILE + x, value)` and `tile.load(y * TILE + x)` access an element of a tile.
//! `thread::sync_threads()` waits for all threads of the block. `(0..n).step_by(TILE)` goes through the steps.
//!
//! Budget: at most 3 × the bytes that must move at n = 32, and no bank conflict.

use cuda_std::prelude::*;

/// The number of rows and of columns of a tile.
pub const TILE: usize = 8;

/// `c = a·b`, of matrices of `n` rows and columns, a multiple of `TILE`. Launch `TILE` × `TILE` threads per block, and
/// one thread per element of `c`.
#[kernel]
pub fn product(a: Global<f32>, b: Global<f32>, c: GlobalMut<f32>, n: usize) {
    let (a_tile, b_tile) = (shared_array![f32; TILE * TILE], shared_array![f32; TILE * TILE]);
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let thread::Index2d { x: column, y: row } = thread::index_2d();
    let mut sum = 0.0;
    // Your code begins here.
    for i in 0..n {
        sum += a.load(row * n + i) * b.load(i * n + column);
    }
    // Your code ends here.
    c.store(row * n + column, sum);
}
