//! Merge path: each block merges one tile of two sorted runs.
//!
//! Two warps find where the tile begins and ends in both runs, by a search with 32 comparisons at a time. Tiles
//! therefore need no order, and no launch before this one. The block loads its parts of both runs into shared memory.
//! Each thread then finds and merges its items there, and the block stores the tile in whole lines.
//!
//! The kernel is limited by memory, and for few elements by the latency of the search: log₃₂ of the run's length times
//! two dependent loads.
//!
//! Sources: O. Green, R. McColl, D. A. Bader, "GPU Merge Path: A GPU Merging Algorithm", ICS 2012; CUB's
//! `DeviceMergeSort`, which searches in a launch of its own.

use cuda_std::{Element, Global, GlobalMut, kernel, shared_array, thread, warp};

use super::compare::{Compare, Less};
use super::path::{load_tile, merge_items, split, store_tile};
use super::tuning::THREADS;

/// Merges each pair of neighbouring runs of `x` and writes the merged runs to `y`. If `run_tiles` is 0, merges `x` and
/// `other` instead. Of equal elements, those of the first run come first.
///
/// A run consists of `run_tiles` tiles, or fewer elements at the end of `x`. A tile has `I` elements per thread.
/// `run_tiles` must be a power of two or 0. `y` must be as long as `x` and `other` together; `other` must be empty
/// unless `run_tiles` is 0. Launch one block of [`THREADS`] threads per tile of `y`.
#[kernel(max_threads = 256, instances(T = [u32], C = [Less], I = [15]), exported = "merge_sort")]
pub fn merge_sort_merge_path<T: Element, C: Compare<T>, const I: usize>(
    x: Global<T>,
    other: Global<T>,
    run_tiles: usize,
    compare: C,
    y: GlobalMut<T>,
) {
    let (block, tile) = (thread::block_idx_x() as usize, THREADS as usize * I);
    let first = block * tile;
    assert!(thread::block_dim_x() == THREADS && first < y.len() && y.len() == x.len() + other.len());
    let splits = shared_array![u64; 2];
    let runs = shared_array![T; THREADS as usize * I];
    let merged = shared_array![T; THREADS as usize * I];
    let (start, a, b) = if run_tiles == 0 {
        (0, x, other)
    } else {
        let start = (block & !(2 * run_tiles - 1)) * tile;
        let len_a = (run_tiles * tile).min(x.len() - start);
        let len_b = (run_tiles * tile).min(x.len() - start - len_a);
        (start, x.part(start, len_a), x.part(start + len_a, len_b))
    };
    let begin = first - start;
    let end = (begin + tile).min(a.len() + b.len());
    if thread::thread_idx_x() < 2 * warp::SIZE {
        let warp = warp::warp_id() as usize;
        let split = split(a, b, if warp == 0 { begin } else { end }, compare);
        if warp::lane_id() == 0 {
            splits.store(warp, split as u64);
        }
    }
    thread::sync_threads();

    let n = end - begin;
    let a_begin = splits.load(0) as usize;
    // The bounds hold for every strict weak order. With another comparison, they keep the parts within the runs.
    let a_end = (splits.load(1) as usize).clamp(a_begin, a_begin + n);
    let a = a.part(a_begin, a_end - a_begin);
    let b = b.part(begin - a_begin, n - a.len());
    let (runs, merged) = (runs.part(0, n), merged.part(0, n));
    // SAFETY: `load_tile` only passes indices below `n`, the number of elements of both parts.
    load_tile::<T, I>(runs, |index| unsafe {
        if index < a.len() { a.load_unchecked(index) } else { b.load_unchecked(index - a.len()) }
    });
    thread::sync_threads();
    merge_items(runs, a.len() as u32, thread::thread_idx_x() * I as u32, I as u32, compare, merged);
    thread::sync_threads();
    store_tile(y.part(first, n), merged);
}
