//! Transpose: through a tile, with both sides coalesced.
//!
//! The transpose of a matrix has its rows as columns. Element `row, column` goes to `column, row`, so a warp that reads
//! along a row of `x` would write along a column of `y`: 32 elements in 32 sectors. A tile in shared memory turns the
//! elements around on the way. A block loads 32 × 32 elements row by row, and stores them row by row to the place of
//! the tile in `y`. Only the accesses to the tile change direction.
//!
//! ```text
//! x: width columns         tile, 32 × 32         y: height columns
//! . . . . . .                                    . . . . .
//! . . . . A B               A B                  . . . . .
//! . . . . C D               C D                  . . . . .
//! . . . . . .                                    . . . . .
//! . . . . . .                                    . A C . .
//!                                                . B D . .
//! ```
//!
//! Blocks have 32 × 32 threads, and a warp has the 32 threads of one `ty`. The loads below are right: element `r * TILE
//! + c` of the tile is that of its row `r` and its column `c`. After the barrier, the thread `tx, ty` stores the
//! element in row `ty` and column `tx` of the tile's place in `y`. `y` has `width` rows of `height` elements. Blocks at
//! the edges reach beyond the matrix.
//!
//! Budget: at most 1.1 × the bytes that must move.

use cuda_std::prelude::*;

/// The width and the height of a tile.
pub const TILE: usize = 32;

/// Stores the transpose of `x` to `y`: `x` has `height` rows of `width` elements. One block of `TILE × TILE` threads
/// per tile of `x`.
#[kernel]
pub fn transpose(width: usize, height: usize, x: Global<u32>, y: GlobalMut<u32>) {
    let tile = shared_array![u32; TILE * TILE];
    let (tx, ty) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let (across, down) = (thread::block_idx_x() as usize * TILE, thread::block_idx_y() as usize * TILE); // tile in x
    let (column, row) = (across + tx, down + ty);
    if column < width && row < height {
        tile.store(ty * TILE + tx, x.load(row * width + column));
    }
    thread::sync_threads();
    // Your code begins here.
    todo!("store an element of the tile to y");
    // Your code ends here.
}
