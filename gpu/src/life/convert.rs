//! Conversion between one byte per cell and 32 cells per word, with one thread per word.

use cuda_std::{Global, GlobalMut, kernel, thread};

use super::CELLS_PER_WORD;

/// Packs the board `cells`, `height` rows of `width` bytes, into `words`. Launch a one-dimensional grid with up to 256
/// threads per block.
#[kernel(max_threads = 256)]
pub fn life_pack(cells: Global<u8>, words: GlobalMut<u32>, width: usize, height: usize) {
    let words_per_row = width.div_ceil(CELLS_PER_WORD);
    for i in thread::grid_stride(words_per_row * height) {
        let (y, first) = (i / words_per_row, i % words_per_row * CELLS_PER_WORD);
        let mut word = 0;
        for x in first..width.min(first + CELLS_PER_WORD) {
            word |= u32::from(cells.load(y * width + x)) << (x - first);
        }
        words.store(i, word);
    }
}

/// Unpacks the board `words` into `cells`, one byte per cell. Launch a one-dimensional grid with up to 256 threads per
/// block.
#[kernel(max_threads = 256)]
pub fn life_unpack(words: Global<u32>, cells: GlobalMut<u8>, width: usize, height: usize) {
    let words_per_row = width.div_ceil(CELLS_PER_WORD);
    for i in thread::grid_stride(words_per_row * height) {
        let (y, first) = (i / words_per_row, i % words_per_row * CELLS_PER_WORD);
        let word = words.load(i);
        for x in first..width.min(first + CELLS_PER_WORD) {
            cells.store(y * width + x, (word >> (x - first) & 1) as u8);
        }
    }
}
