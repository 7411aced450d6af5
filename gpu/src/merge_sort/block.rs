//! The first launch of merge path: each block sorts one tile in shared memory.
//!
//! Each thread sorts its items in registers. Then the threads merge runs of 1, 2, 4, … threads' items, from one array
//! in shared memory to another. In each merge, a thread finds its part of the merged run by a binary search
//! ([`path`](super::path)).
//!
//! The kernel is limited by the latency of shared memory: each comparison waits for the element that the previous one
//! has taken.

use cuda_std::{Element, Global, GlobalMut, kernel, shared_array, thread};

use super::compare::{Compare, Less};
use super::path::{load_tile, merge_items, sort_items, store_tile};
use super::tuning::THREADS;

/// Sorts each tile of `x` and writes it to the same place of `y`, which must be as long. If `x` is empty, sorts the
/// tiles of `y` in place.
///
/// A tile has `I` elements per thread. Launch one block of [`THREADS`] threads per tile.
#[kernel(max_threads = 256, instances(T = [u32], C = [Less], I = [15]), exported = "merge_sort")]
pub fn merge_sort_block<T: Element, C: Compare<T>, const I: usize>(x: Global<T>, compare: C, y: GlobalMut<T>) {
    let (thread, in_place) = (thread::thread_idx_x() as usize, x.is_empty());
    let first = thread::block_idx_x() as usize * THREADS as usize * I;
    assert!(thread::block_dim_x() == THREADS && first < y.len() && (in_place || x.len() == y.len()));
    let n = (y.len() - first).min(THREADS as usize * I);
    let mut runs = shared_array![T; THREADS as usize * I].part(0, n);
    let mut merged = shared_array![T; THREADS as usize * I].part(0, n);
    // SAFETY: `load_tile` only passes indices below `n`, and `y` has as many elements from `first` on, as has `x`.
    load_tile::<T, I>(runs, |index| unsafe {
        if in_place { y.load_unchecked(first + index) } else { x.load_unchecked(first + index) }
    });
    thread::sync_threads();

    sort_items::<T, C, I>(runs, compare);
    thread::sync_threads();

    // The number of threads whose items form a run.
    let (own, mut threads) = (thread * I, 1);
    while threads * I < n {
        let start = ((thread & !(2 * threads - 1)) * I).min(n);
        let len = (2 * threads * I).min(n - start);
        // SAFETY: the part ends at most at `n`.
        let (pair, place) = unsafe { (runs.part_unchecked(start, len), merged.part_unchecked(start, len)) };
        let len_a = (threads * I).min(len) as u32;
        merge_items(pair, len_a, (own - start.min(own)) as u32, I as u32, compare, place);
        thread::sync_threads();
        (runs, merged) = (merged, runs);
        threads *= 2;
    }
    store_tile(y.part(first, n), runs);
}
