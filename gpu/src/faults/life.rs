//! Life on one board, which is read and written in the same launch.
//!
//! From: the first attempt at it by anyone who reads B. Tuomanen, "Hands-On GPU Programming with Python and CUDA", ch. 5,
//! whose `conway_ker` works in place: in one block, with a barrier between its reads and its writes, it is right.
//!
//! What is wrong: without that barrier ([`life_in_place()`]) a cell counts neighbours that have gone on to the next
//! generation already. With it ([`life_in_place_blocks()`]) that is still so in a grid of several blocks, because a barrier
//! waits for one block alone.
//!
//! [`life_global()`](crate::life::life_global()) writes another board and leaves it to the next launch to read that;
//! [`life_block()`](crate::life::life_block()) has two boards, and one block.

use cuda_std::{GlobalMut, kernel, thread};

use crate::life::next_cell;

/// A generation on one board of `height` rows of `width` bytes, with a race between the threads. Any two-dimensional grid.
#[kernel]
pub fn life_in_place(cells: GlobalMut<u8>, width: usize, height: usize) {
    for x in thread::grid_stride(width) {
        for y in thread::grid_stride_y(height) {
            let state = next_cell(x, y, width, height, |i| cells.load(i)); // fault: read
            cells.store(y * width + x, state); // fault: write
        }
    }
}

/// Generations on one board of `height` rows of `width` bytes, with a race between the blocks of a grid. One thread per cell:
/// the board is as large as the grid.
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
