//! Counts live cells. Each thread adds in a grid-stride loop, each warp adds across its lanes, and one atomic addition
//! per warp follows.

use cuda_std::{Global, GlobalMut, kernel, thread, warp};

use super::compare::add_to_total;

/// Adds the number of live cells of a board of bytes to `total[0]`. Launch a one-dimensional grid with up to 8 whole
/// warps per block.
#[kernel(max_threads = 256)]
pub fn life_population_cells(cells: Global<u8>, total: GlobalMut<u64>) {
    assert!(thread::block_size().is_multiple_of(warp::SIZE));
    let mut count = 0;
    for i in thread::grid_stride(cells.len()) {
        count += u64::from(cells.load(i));
    }
    add_to_total(count, total, 0);
}

/// Adds the number of live cells of a packed board to `total[0]`. Launch a one-dimensional grid with up to 8 whole
/// warps per block.
#[kernel(max_threads = 256)]
pub fn life_population_words(words: Global<u32>, total: GlobalMut<u64>) {
    assert!(thread::block_size().is_multiple_of(warp::SIZE));
    let mut count = 0;
    for i in thread::grid_stride(words.len()) {
        count += u64::from(words.load(i).count_ones());
    }
    add_to_total(count, total, 0);
}
