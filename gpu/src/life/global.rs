//! Global memory: one thread per cell, one generation per launch.
//!
//! Limited by its loads: each cell is read nine times, mostly from the L1 cache, and a byte moves for a bit of state.
//! Source: Hands-On GPU Programming, ch. 4, which takes an `int` per cell and one block's width of board.

use cuda_std::{Global, GlobalMut, kernel, thread};

use super::next_cell;

/// One generation in global memory, one thread per cell.
///
/// `next` = the generation after `cells`, both `height` rows of `width` bytes. Any two-dimensional grid of blocks of up to
/// 256 threads; with one thread per cell, each loop runs once.
#[kernel(max_threads = 256)]
pub fn life_global(cells: Global<u8>, next: GlobalMut<u8>, width: usize, height: usize) {
    assert!(width.checked_mul(height) == Some(cells.len()) && next.len() == cells.len());
    for x in thread::grid_stride(width) {
        for y in thread::grid_stride_y(height) {
            // SAFETY: `next_cell` asks for cells of the board, whose size was checked above.
            let state = next_cell(x, y, width, height, |i| unsafe { cells.load_unchecked(i) });
            // SAFETY: `(x, y)` is a cell of the board.
            unsafe { next.store_unchecked(y * width + x, state) };
        }
    }
}
