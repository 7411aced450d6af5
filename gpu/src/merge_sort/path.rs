//! Merge path: the steps that the kernels of a block share.
//!
//! The merged run of *a* and *b* corresponds to a path: each element of the output is the next element of *a* or of
//! *b*. The first *d* elements of the output consist of the first *i* elements of *a* and the first *d* − *i* of *b*. A
//! binary search finds *i* without merging. Threads and blocks therefore merge different parts of the output
//! independently.

use cuda_std::{Element, Global, GlobalMut, Shared, thread, unroll, warp};

use super::compare::Compare;
use super::tuning::THREADS;
use crate::collective::LANES;

/// Returns the number of elements of `a` among the first `d` elements of the merged run of `a` and `b`.
///
/// The lanes of the calling warp search together: they compare at 32 places at a time. All lanes of a full warp must
/// call this function with the same arguments. `d` must be at most the number of elements of both runs.
#[inline(always)]
#[track_caller]
pub fn split<T: Element, C: Compare<T>>(a: Global<T>, b: Global<T>, d: usize, compare: C) -> usize {
    let (mut low, mut high) = (d.saturating_sub(b.len()), d.min(a.len()));
    while low < high {
        let step = (high - low).div_ceil(LANES);
        let place = low + (warp::lane_id() as usize + 1) * step - 1;
        // SAFETY: the place is below `high`, so `a` has it. `b` has the other one: `d` − 1 − `place` is at least
        // `d` − `high`, which is not negative, and below `d` − `low`, which is at most the length of `b`.
        let is_after = place >= high
            || compare.is_less(unsafe { b.load_unchecked(d - 1 - place) }, unsafe { a.load_unchecked(place) });
        let votes = warp::ballot(warp::FULL_MASK, is_after);
        low += votes.trailing_zeros() as usize * step;
        high = high.min(low + step - 1);
    }
    low
}

/// Returns the number of elements of `a` among the first `d` elements of the merged run of `a` and `b`, as [`split`],
/// but for one thread and runs in shared memory: `a` are the first `len_a` elements of `runs`, and `b` the others.
#[inline(always)]
#[track_caller]
fn split_shared<T: Element, C: Compare<T>>(runs: Shared<T>, len_a: u32, d: u32, compare: C) -> u32 {
    let (mut low, mut high) = (d.saturating_sub(runs.len() as u32 - len_a), d.min(len_a));
    while low < high {
        let middle = low.midpoint(high);
        // SAFETY: as in `split`, both runs have these elements.
        let (a, b) =
            unsafe { (runs.load_unchecked(middle as usize), runs.load_unchecked((len_a + d - 1 - middle) as usize)) };
        if compare.is_less(b, a) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// Merges the two runs in `runs`, the first of which has `len_a` elements. Writes `items` elements of the merged run,
/// from element `d` on, or as many as there are, to the same places of `merged`, which must be as long as `runs`.
#[inline(always)]
#[track_caller]
pub fn merge_items<T: Element, C: Compare<T>>(
    runs: Shared<T>,
    len_a: u32,
    d: u32,
    items: u32,
    compare: C,
    merged: Shared<T>,
) {
    let n = runs.len() as u32;
    if d >= n {
        return;
    }
    let mut i = split_shared(runs, len_a, d, compare);
    let mut j = len_a + d - i;
    // An element beyond the end of its run is not used. Another element takes its place, which exists.
    // SAFETY: `i` and `j` are below `n` or become `n` − 1.
    let load = |index: u32| unsafe { runs.load_unchecked(index.min(n - 1) as usize) };
    let (mut a, mut b) = (load(i), load(j));
    let end = n.min(d + items);
    let mut at = d;
    while at < end {
        let takes_a = j >= n || i < len_a && !compare.is_less(b, a);
        // SAFETY: `at` is below `n`, the length of both arrays.
        unsafe { merged.store_unchecked(at as usize, if takes_a { a } else { b }) };
        let next = load(if takes_a { i + 1 } else { j + 1 });
        if takes_a {
            (i, a) = (i + 1, next);
        } else {
            (j, b) = (j + 1, next);
        }
        at += 1;
    }
}

/// Sorts the calling thread's `I` elements of `tile`, or as many as there are, in registers: neighbours that are in the
/// wrong order change places, in as many rounds as there are elements.
#[inline(always)]
#[track_caller]
pub fn sort_items<T: Element, C: Compare<T>, const I: usize>(tile: Shared<T>, compare: C) {
    let own = thread::thread_idx_x() as usize * I;
    let (count, mut items) = (tile.len().saturating_sub(own).min(I) as u32, [T::zeroed(); I]);
    unroll!(ITEM in I => {
        if (ITEM as u32) < count {
            // SAFETY: the tile has `count` elements from `own` on.
            items[ITEM] = unsafe { tile.load_unchecked(own + ITEM) };
        }
    });
    let mut round = 0;
    while round < I {
        unroll!(FIRST in I / 2 => {
            exchange::<T, C, I>(&mut items, 2 * FIRST, count, compare);
        });
        unroll!(FIRST in (I - 1) / 2 => {
            exchange::<T, C, I>(&mut items, 2 * FIRST + 1, count, compare);
        });
        round += 2;
    }
    unroll!(ITEM in I => {
        if (ITEM as u32) < count {
            // SAFETY: the tile has `count` elements from `own` on.
            unsafe { tile.store_unchecked(own + ITEM, items[ITEM]) };
        }
    });
}

/// Exchanges the items `first` and `first + 1` if they are in the wrong order and both are below `count`.
#[inline(always)]
fn exchange<T: Element, C: Compare<T>, const I: usize>(items: &mut [T; I], first: usize, count: u32, compare: C) {
    let (a, b) = (items[first], items[first + 1]);
    if first as u32 + 1 < count && compare.is_less(b, a) {
        items[first] = b;
        items[first + 1] = a;
    }
}

/// Stores the elements that `load` returns for the indices of `place` there, up to `I` of them per thread of the block.
/// A barrier must follow.
#[inline(always)]
#[track_caller]
pub fn load_tile<T: Element, const I: usize>(place: Shared<T>, load: impl Fn(usize) -> T) {
    let (first, mut items) = (thread::thread_idx_x() as usize, [T::zeroed(); I]);
    // All loads are issued before the first store waits for its element.
    unroll!(ITEM in I => {
        let index = first + ITEM * THREADS as usize;
        if index < place.len() {
            items[ITEM] = load(index);
        }
    });
    unroll!(ITEM in I => {
        let index = first + ITEM * THREADS as usize;
        if index < place.len() {
            // SAFETY: the index was compared.
            unsafe { place.store_unchecked(index, items[ITEM]) };
        }
    });
}

/// Stores the elements of `place` in `y`, which must be as long. A barrier must precede.
#[inline(always)]
#[track_caller]
pub fn store_tile<T: Element>(y: GlobalMut<T>, place: Shared<T>) {
    let mut index = thread::thread_idx_x();
    while index < place.len() as u32 {
        // SAFETY: the index is below the length of `place`, and the callers pass a view of this length.
        unsafe { y.store_unchecked(index as usize, place.load_unchecked(index as usize)) };
        index += THREADS;
    }
}
