//! Padding: a tile without bank conflicts.
//!
//! Shared memory has 32 banks. Word `w` (4 bytes) lies in bank `w % 32`, and each bank serves one word at a time. If
//! the 32 threads of a warp access words in 32 different banks, one pass serves them all. If their words lie in one
//! bank, it takes 32 passes: a 32-way bank conflict.
//!
//! This kernel transposes through a tile of 32 × 32 words. A warp writes a row of the tile, and reads a column. With
//! rows of 32 words, each cell shows its bank:
//!
//! ```text
//!            column 0   1   2  …  31
//! row 0             0   1   2  …  31
//! row 1             0   1   2  …  31        a column: one bank, 32 passes
//! row 2             0   1   2  …  31
//! ```
//!
//! The tile is an array of `LEN` words, and `at` says which word is in row `row` and column `column` of the tile.
//! Change both, so that the words of a row lie in 32 different banks, and the words of a column too. Each word needs a
//! place of its own below `LEN`.
//!
//! Budgets: no bank conflicts, and at most 1.1 × the bytes that must move.

use cuda_std::prelude::*;

/// The width and the height of a tile.
pub const TILE: usize = 32;

// Your code begins here.
/// The number of words of the array.
const LEN: usize = TILE * TILE;

/// Returns the word that is in row `row` and column `column` of the tile.
fn at(row: usize, column: usize) -> usize {
    row * TILE + column
}
// Your code ends here.

/// Stores the transpose of `x` to `y`: `x` has `height` rows of `width` elements, both multiples of `TILE`. One block
/// of `TILE × TILE` threads per tile of `x`.
#[kernel]
pub fn transpose(width: usize, height: usize, x: Global<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; LEN];
    let (tx, ty) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let (across, down) = (thread::block_idx_x() as usize * TILE, thread::block_idx_y() as usize * TILE);
    tile.store(at(ty, tx), x.load((down + ty) * width + across + tx));
    thread::sync_threads();
    y.store((across + ty) * height + down + tx, tile.load(at(tx, ty)));
}
