//! The rows of a warp: 32 consecutive elements each, one per lane. The functions return one bit per row of the lane.

use cuda_std::{Element, Global, unroll, warp};

use super::predicate::{Predicate, Reads};
use crate::collective::LANES;
use crate::collective::tile::left;
use crate::collective::words::shuffle_idx;

/// Loads the lane's elements of the first `rows` rows of `x` from element `first` on. Bit `r` of the second result says
/// whether the row `r` has an element for the lane; the other elements are zeros.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn load<T: Element, const R: usize>(x: Global<T>, first: usize, rows: u32) -> ([T; R], u32) {
    let first = first + warp::lane_id() as usize;
    let left = left(x.len(), first).min(rows * warp::SIZE);
    let mut items = [T::zeroed(); R];
    unroll!(ROW in R => {
        if ((ROW * LANES) as u32) < left {
            // SAFETY: `left` limits the index to the elements that remain in `x`.
            items[ROW] = unsafe { x.load_unchecked(first + ROW * LANES) };
        }
    });
    (items, (1 << left.div_ceil(warp::SIZE)) - 1)
}

/// Returns which of the lane's elements are selected: bit `r` for the element of row `r`.
#[inline(always)]
pub fn selected<T: Element, P: Predicate<T>, const R: usize>(
    x: Global<T>,
    flags: Global<u8>,
    predicate: P,
    first: usize,
    items: &[T; R],
    valid: u32,
) -> u32 {
    let mut selected = 0;
    match P::READS {
        Reads::Element => {
            unroll!(ROW in R => { selected |= u32::from(predicate.selects(items[ROW])) << ROW; });
        }
        Reads::Flag => {
            let rows = warp::SIZE - valid.leading_zeros();
            let (found, _) = load::<u8, R>(flags, first, rows);
            unroll!(ROW in R => { selected |= u32::from(found[ROW] != 0) << ROW; });
        }
        Reads::Neighbours => selected = starts::<T, P, R>(x, predicate, first, items, valid),
    }
    selected & valid
}

/// Returns which of the lane's elements are selected by a predicate on neighbours: bit `r` for the element of row `r`.
/// The bits of elements that are not valid are unspecified.
#[inline(always)]
pub fn starts<T: Element, P: Predicate<T>, const R: usize>(
    x: Global<T>,
    predicate: P,
    first: usize,
    items: &[T; R],
    valid: u32,
) -> u32 {
    let (lane, mut starts) = (warp::lane_id(), 0);
    // The last element of the row above, for lane 0; for other lanes the element before is in their own row.
    let mut above = if lane == 0 && first > 0 && valid != 0 { x.load(first - 1) } else { T::zeroed() };
    unroll!(ROW in R => {
        let rotated = shuffle_idx(items[ROW], (lane + warp::SIZE - 1) % warp::SIZE);
        let before = if lane == 0 { above } else { rotated };
        above = rotated;
        starts |= u32::from(predicate.selects_after(before, items[ROW])) << ROW;
    });
    if first == 0 && lane == 0 { starts | 1 } else { starts }
}

/// Returns which elements begin a run: bit `r` for the lane's element of row `r`, and bit `rows` for the element of
/// lane 0 after the warp's last row. A position beyond the end of `x` counts as the beginning of a run.
#[inline(always)]
pub fn padded_starts<T: Element, P: Predicate<T>, const R: usize>(
    x: Global<T>,
    runs: P,
    first: usize,
    items: &[T; R],
    valid: u32,
    rows: u32,
) -> u32 {
    let end = first + (rows * warp::SIZE) as usize;
    let ends_here = warp::lane_id() > 0 || end >= x.len() || runs.selects_after(x.load(end - 1), x.load(end));
    let starts = starts::<T, P, R>(x, runs, first, items, valid) | !valid;
    starts & ((1 << rows) - 1) | u32::from(ends_here) << rows
}

/// Returns at which elements a run ends, from the result of [`padded_starts`]: where the next element begins a run.
#[inline(always)]
pub fn ends(starts: u32) -> u32 {
    let lane = warp::lane_id();
    // The element after that of lane 31 is in the next row of lane 0.
    let next = shuffle_idx(starts, (lane + 1) % warp::SIZE);
    if lane == warp::SIZE - 1 { next >> 1 } else { next }
}
