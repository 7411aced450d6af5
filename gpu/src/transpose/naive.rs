//! Naive: each thread reads along a row of *x* and writes along a column of *y*.
//!
//! A warp reads 32 neighbouring elements, and writes 32 elements that are `height` elements apart, each in another
//! cache line. The kernel is limited by those writes: each moves a 32-byte sector for one element. Source:
//! `transposeNaive` of Harris 2013.

use cuda_std::{Element, Global, GlobalMut, kernel, thread};

use super::{BLOCK_ROWS, PER_THREAD, TILE, assert_block, assert_size, tile_of_block};

/// Writes the transpose of `x` to `y`; it reads along rows and writes along columns. `x` has `height` rows of `width`
/// elements. Launch one block of 32 × 8 threads per tile of 32 × 32 elements.
#[kernel(max_threads = 256, instances(T = [u8, u16, u32, u64]))]
pub fn transpose_naive<T: Element>(x: Global<T>, y: GlobalMut<T>, width: usize, height: usize) {
    assert_size(&x, &y, width, height);
    assert_block();
    let (tile_column, tile_row) = tile_of_block();
    let column = tile_column * TILE + thread::thread_idx_x() as usize;
    for i in 0..PER_THREAD {
        let row = tile_row * TILE + thread::thread_idx_y() as usize + i * BLOCK_ROWS;
        if column < width && row < height {
            // SAFETY: the row and the column are in the matrix, whose size `assert_size` has checked.
            unsafe { y.store_unchecked(column * height + row, x.load_unchecked(row * width + column)) };
        }
    }
}
