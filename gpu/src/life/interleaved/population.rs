//! Counting the living of an interleaved board, whose margins are copies.

use cuda_std::{Global, GlobalMut, kernel, thread, warp};

use super::super::population::add_to_total;
use super::Interleaved;

/// Adds the number of living cells of an interleaved board to `total[0]`. A one-dimensional grid of blocks of up to 8 whole
/// warps.
#[kernel(max_threads = 256)]
pub fn life_population_interleaved(cells: Global<u32>, total: GlobalMut<u64>, board: Interleaved) {
    assert!(thread::block_size().is_multiple_of(warp::SIZE) && cells.len() == board.words());
    let mut count = 0;
    for i in thread::grid_stride(cells.len()) {
        let (tile, row, word) = board.place_of(i);
        count += u64::from((cells.load(i) & board.own_cells(tile, row, word)).count_ones());
    }
    add_to_total(count, total);
}
