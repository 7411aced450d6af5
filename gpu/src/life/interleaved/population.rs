//! Counts the live cells of an interleaved board without its margins, and the births and deaths between two such
//! boards.

use cuda_std::{Global, GlobalMut, kernel, thread, warp};

use super::super::compare::add_to_total;
use super::Interleaved;

/// Adds the number of live cells of an interleaved board to `total[0]`. Launch a one-dimensional grid with up to 8
/// whole warps per block.
#[kernel(max_threads = 256)]
pub fn life_population_interleaved(cells: Global<u32>, total: GlobalMut<u64>, board: Interleaved) {
    assert!(thread::block_size().is_multiple_of(warp::SIZE) && cells.len() == board.words());
    let mut count = 0;
    for i in thread::grid_stride(cells.len()) {
        let (tile, row, word) = board.place_of(i);
        count += u64::from((cells.load(i) & board.own_cells(tile, row, word)).count_ones());
    }
    add_to_total(count, total, 0);
}

/// Counts births and deaths like [`life_changes_words()`](crate::life::life_changes_words()), for two interleaved
/// boards of the same layout.
#[kernel(max_threads = 256)]
pub fn life_changes_interleaved(before: Global<u32>, now: Global<u32>, total: GlobalMut<u64>, board: Interleaved) {
    assert!(thread::block_size().is_multiple_of(warp::SIZE));
    assert!(before.len() == board.words() && now.len() == board.words());
    let (mut born, mut dead) = (0, 0);
    for i in thread::grid_stride(now.len()) {
        let (tile, row, word) = board.place_of(i);
        let (before, now, own) = (before.load(i), now.load(i), board.own_cells(tile, row, word));
        born += u64::from((now & !before & own).count_ones());
        dead += u64::from((before & !now & own).count_ones());
    }
    add_to_total(born, total, 0);
    add_to_total(dead, total, 1);
}
