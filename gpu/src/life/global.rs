//! Global memory: one thread per cell, one generation per launch.
//!
//! The kernel is limited by its loads. It loads each cell nine times, mostly from the L1 cache, and transfers a byte
//! for each bit of state. Source: Hands-On GPU Programming, ch. 4, where a cell is an `int` and the board is as wide as
//! one block.

use cuda_std::{Global, GlobalMut, kernel, thread};

use super::next_cell;

/// Writes the next generation of `cells` to `next` in global memory, one thread per cell.
///
/// Both boards must have `height` rows of `width` bytes. Launch a two-dimensional grid of any size, with blocks of up
/// to 256 threads. With one thread per cell, each loop runs once.
#[kernel(max_threads = 256)]
pub fn life_global(cells: Global<u8>, next: GlobalMut<u8>, width: usize, height: usize) {
    assert!(width.checked_mul(height) == Some(cells.len()) && next.len() == cells.len());
    for x in thread::grid_stride(width) {
        for y in thread::grid_stride_y(height) {
            // SAFETY: `next_cell` passes only indices of cells of the board, whose size was checked above.
            let state = next_cell(x, y, width, height, |i| unsafe { cells.load_unchecked(i) });
            // SAFETY: `(x, y)` is a cell of the board.
            unsafe { next.store_unchecked(y * width + x, state) };
        }
    }
}
