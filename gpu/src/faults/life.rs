//! Conway's Life on a single board that the same launch reads and writes.
//!
//! From: a common first attempt by readers of B. Tuomanen, "Hands-On GPU Programming with Python and CUDA", ch. 5. The
//! book's `conway_ker` works in place and is correct in one block, with a barrier between its reads and its writes.
//!
//! Fault: without that barrier ([`life_in_place()`]), a cell may count neighbours of the next generation. With the
//! barrier ([`life_in_place_blocks()`]), the same happens in a grid of several blocks, because a barrier synchronises
//! only the threads of one block.
//!
//! The correct [`life_global()`](crate::life::life_global()) writes to a second board, which the next launch reads. The
//! correct [`life_block()`](crate::life::life_block()) has two boards and only one block.

use cuda_std::{GlobalMut, kernel, thread};

use crate::life::next_cell;

/// Advances one board of `height` rows of `width` bytes by a generation, with a race between threads. Launch any
/// two-dimensional grid.
#[kernel]
pub fn life_in_place(cells: GlobalMut<u8>, width: usize, height: usize) {
    for x in thread::grid_stride(width) {
        for y in thread::grid_stride_y(height) {
            let state = next_cell(x, y, width, height, |i| cells.load(i)); // fault: read
            cells.store(y * width + x, state); // fault: write
        }
    }
}

/// Advances one board of `height` rows of `width` bytes by several generations, with a race between blocks. Launch one
/// thread per cell: the board has the size of the grid.
#[kernel]
pub fn life_in_place_blocks(cells: GlobalMut<u8>, width: usize, height: usize, generations: u32) {
    let thread::Index2d { x, y } = thread::index_2d();
    for _ in 0..generations {
        let state = next_cell(x, y, width, height, |i| cells.load(i)); // fault: read of blocks
        thread::sync_threads();
        cells.store(y * width + x, state); // fault: write of blocks
        thread::sync_threads();
    }
}
