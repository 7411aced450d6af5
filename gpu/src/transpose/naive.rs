//! Naive: each thread reads along a row of *x* and writes down a column of *y*.
//!
//! A warp reads 32 neighbouring elements, and writes 32 that are `height` elements apart, each in a line of its own.
//! Limited by those writes: each moves a sector of 32 bytes for one element.
//! Source: `transposeNaive` of Harris 2013.

use cuda_std::{Element, Global, GlobalMut, kernel, thread};

use super::{BLOCK_ROWS, PER_THREAD, TILE, assert_block, assert_size, tile_of_block};

/// `y` = the transpose of `x`, read along rows and written down columns. `x` has `height` rows of `width` elements. A
/// block of 32 × 8 for each 32 × 32.
#[kernel(max_threads = 256, instances(T = [u8, u16, u32, u64]))]
pub fn transpose_naive<T: Element>(x: Global<T>, y: GlobalMut<T>, width: usize, height: usize) {
    assert_size(&x, &y, width, height);
    assert_block();
    let (tile_column, tile_row) = tile_of_block();
    let column = tile_column * TILE + thread::thread_idx_x() as usize;
    for i in 0..PER_THREAD {
        let row = tile_row * TILE + thread::thread_idx_y() as usize + i * BLOCK_ROWS;
        if column < width && row < height {
            // SAFETY: a row and a column of the matrix, whose size was checked.
            unsafe { y.store_unchecked(column * height + row, x.load_unchecked(row * width + column)) };
        }
    }
}
