//! Life: the board is a torus.
//!
//! Conway's Life has cells that are dead (0) or alive (1). In the next generation a cell is alive if it has three live
//! neighbours now, or if it is alive now and has two. A cell has eight neighbours. The board has no edge: its left and
//! right columns are neighbours, and so are its first and last rows.
//!
//! ```text
//! the neighbours N of a cell c at the left edge:      column   0 1 2 … 7
//!                                                     row 2    N N       N
//!                                                     row 3    c N       N
//!                                                     row 4    N N       N
//! ```
//!
//! One block computes one generation, with a thread per cell. The cell in column x of row y is element `y * width + x`.
//! Each thread loads its neighbours; it writes to another board, so that no thread reads a cell of the next generation.
//!
//! `usize` has no negative numbers, so that `x - 1` fails in column 0. The operator `%` takes an index that is too
//! large back onto the board: `(x + 1) % width`.

use cuda_std::prelude::*;

/// Writes the next generation of `cells` to `next`. Launch one block of as many threads along x and y as the board has
/// columns and rows, at least three of each.
#[kernel]
pub fn life(cells: Global<u32>, next: GlobalMut<u32>) {
    let (width, height) = (thread::block_dim_x() as usize, thread::block_dim_y() as usize);
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let me = y * width + x;
    let mut neighbours = 0;
    // Your code begins here.
    for i in [me - width, me - 1, me + 1, me + width] {
        neighbours += cells.load(i);
    }
    // Your code ends here.
    let is_alive = neighbours == 3 || (neighbours == 2 && cells.load(me) == 1);
    next.store(me, u32::from(is_alive));
}
