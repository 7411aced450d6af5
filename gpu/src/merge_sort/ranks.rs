//! Ranks: one launch merges all pairs of runs. Each element finds its place by a binary search.
//!
//! The place of an element in the merged run is its place in its own run plus the number of elements of the other run
//! that come before it. An element of the first run comes before equal elements of the second run, so the sort is
//! stable.
//!
//! The speed is limited by the latency of memory: the loads of a search depend on each other. The stores of neighbours
//! are near each other, but not together.
//!
//! Source: N. Satish, M. Harris, M. Garland, "Designing Efficient Sorting Algorithms for Manycore GPUs", IPDPS 2009.

use cuda_std::{Element, Global, GlobalMut, kernel, thread};

use super::compare::{Compare, Less};

/// Merges each pair of neighbouring runs of `x` and writes the merged runs to `y`, which must be as long.
///
/// Run *i* has the elements from `width` · *i* on. It has `width` elements, or fewer at the end of `x`. Launch a
/// one-dimensional grid with up to 256 threads per block.
#[kernel(max_threads = 256, instances(T = [u32], C = [Less]))]
pub fn merge_sort_ranks<T: Element, C: Compare<T>>(x: Global<T>, width: usize, compare: C, y: GlobalMut<T>) {
    let n = x.len();
    for i in thread::grid_stride(n) {
        let element = x.load(i);
        let (run, place) = (i / width, i % width);
        let is_first = run.is_multiple_of(2);
        let start = if is_first { (i - place).saturating_add(width).min(n) } else { i - place - width };
        let (mut low, mut high) = (start, start.saturating_add(width).min(n));
        while low < high {
            let middle = low + (high - low) / 2;
            let other = x.load(middle);
            let is_before = if is_first { compare.is_less(other, element) } else { !compare.is_less(element, other) };
            if is_before {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        // The elements before the pair, those before this one in its own run, and those in the other run.
        let pair = if is_first { i - place } else { start };
        y.store(pair + place + (low - start), element);
    }
}
