//! The tile of a block in shared memory, and the consecutive elements of each thread.
//!
//! A warp loads its part of the tile in rows of 32 elements, so that views may begin at any element, and stores them in
//! shared memory. Each thread then has consecutive elements: it combines them one after the other, and the lanes of a
//! warp shuffle once per tile, not once per row. The number of elements per thread is odd, so that the lanes' accesses
//! to shared memory have no bank conflicts.

use cuda_std::{Element, Global, Shared, unroll, warp};

use super::carry::Part;
use super::look_back::{EXCLUSIVE, REDUCE};
use super::tuning::rows_of;
use crate::collective::LANES;
use crate::collective::warp::warp_inclusive_scan;
use crate::collective::words::{shuffle_idx, shuffle_up};
use crate::operator::{Operator, Sum};
use crate::select::predicate::Predicate;

/// Repeats the body for each of the `$rows` rows, which is one of [`rows_of`]`($R)`. A test per row would take more
/// instructions and registers.
macro_rules! for_rows {
    ($i:ident in $rows:expr, $R:ident => $body:block) => {
        'rows: {
            unroll!($i in $R => {
                const { assert!($R % 2 == 1) };
                if (rows_of($R)[1] == $i || rows_of($R)[2] == $i) && $i as u32 >= $rows {
                    break 'rows;
                }
                $body
            });
        }
    };
}

/// Stores the lane's elements of the warp's first `rows` rows in `place`, whose element `first` is the warp's first.
///
/// # Safety
/// `place` must have the elements of these rows.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub unsafe fn store_rows<T: Element, const R: usize>(place: Shared<T>, first: usize, rows: u32, items: &[T; R]) {
    let first = first + warp::lane_id() as usize;
    for_rows!(ROW in rows, R => {
        // SAFETY: by this function's contract, `place` has this element.
        unsafe { place.store_unchecked(first + ROW * LANES, items[ROW]) };
    });
}

/// Loads the key before the warp's part of the vector in lane 0 and the key after it in lane 31, if these exist. The
/// part begins at element `first` and has `len` elements.
#[inline(always)]
pub fn edge_key<K: Element>(keys: Global<K>, first: usize, len: usize) -> K {
    let (index, is_there) = match warp::lane_id() {
        0 => (first.wrapping_sub(1), first > 0 && first < keys.len()),
        31 => (first + len, first + len < keys.len()),
        _ => (0, false),
    };
    // SAFETY: `is_there` says that the vector has this key.
    if is_there { unsafe { keys.load_unchecked(index) } } else { K::zeroed() }
}

/// Returns which of the thread's `rows` elements from `own` on begin a run, and whether the element after them does:
/// bit `i` for element `own + i` of `place`. `edge` is the result of [`edge_key`].
///
/// # Safety
/// `place` must have the warp's elements, and the thread must be the one with the elements from `own` on.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub unsafe fn starts<K: Element, P: Predicate<K>, const R: usize>(
    place: Shared<K>,
    runs: P,
    edge: K,
    own: usize,
    rows: u32,
) -> u32 {
    let (lane, mut starts) = (warp::lane_id(), 0);
    // SAFETY: by this function's contract, `place` has the elements of the lane before and of the lane after, which are
    // in the warp's part.
    let (mut before, after) = unsafe {
        (
            if lane == 0 { edge } else { place.load_unchecked(own - 1) },
            if lane == warp::SIZE - 1 { edge } else { place.load_unchecked(own + rows as usize) },
        )
    };
    for_rows!(I in rows, R => {
        // SAFETY: by this function's contract, `place` has the thread's elements.
        let key = unsafe { place.load_unchecked(own + I) };
        if runs.selects_after(before, key) {
            starts |= 1 << I;
        }
        before = key;
    });
    starts | u32::from(runs.selects_after(before, after)) << rows
}

/// Loads the thread's `rows` values from element `own` of `place` on. Also returns the combination of those from the
/// last that begins a run, or from the first, to the last: bit `i` of `starts` says that value `i` begins a run.
///
/// # Safety
/// `place` must have these elements.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub unsafe fn load_values<T: Element, O: Operator<T>, const R: usize>(
    place: Shared<T>,
    own: usize,
    rows: u32,
    starts: u32,
) -> ([T; R], T) {
    let (mut items, mut last) = ([T::zeroed(); R], O::IDENTITY);
    for_rows!(I in rows, R => {
        // SAFETY: by this function's contract, `place` has this element.
        items[I] = unsafe { place.load_unchecked(own + I) };
        last = if I == 0 || starts >> I & 1 != 0 { items[I] } else { O::combine(last, items[I]) };
    });
    (items, last)
}

/// What a thread knows of the earlier lanes of its warp.
#[derive(Clone, Copy)]
pub struct Below<T> {
    /// The number of runs that end in earlier lanes.
    pub ends: u32,
    /// True if no run begins in an earlier lane.
    pub is_open: bool,
    /// The combination of the values of the last run in the earlier lanes. Unspecified in lane 0.
    pub value: T,
}

/// Joins the elements of the lanes. `starts` and `ends` say which of the lane's `rows` elements begin and end a run,
/// and `last` is the combination of the values of the lane's last run. A lane without elements must begin a run.
/// Returns what is known of the lanes below, and in lane 31 the part of the warp.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn join_lanes<T: Element, O: Operator<T>>(rows: u32, starts: u32, ends: u32, last: T) -> (Below<T>, Part<T>) {
    let lane = warp::lane_id();
    let first = (starts & ((1 << rows) - 1)).trailing_zeros();
    let votes = warp::ballot(warp::FULL_MASK, first < u32::BITS);
    let through = votes & (u32::MAX >> (warp::SIZE - 1 - lane));
    // The number of lanes before this one whose last run is also that of this lane.
    let reach = if through == 0 { lane } else { lane + through.leading_zeros() + 1 - warp::SIZE };
    let (mut value, mut distance) = (last, 1);
    while distance < warp::SIZE {
        let before = shuffle_up(value, distance);
        if distance <= reach {
            value = O::combine(before, value);
        }
        distance *= 2;
    }
    let ends_through = warp_inclusive_scan::<u32, Sum>(ends.count_ones());
    let first_lane = votes.trailing_zeros();
    let first_in_lane = shuffle_idx(first, first_lane % warp::SIZE);
    let open = if votes == 0 { rows * warp::SIZE } else { first_lane * rows + first_in_lane };
    let below = Below {
        ends: ends_through - ends.count_ones(),
        is_open: votes & ((1 << lane) - 1) == 0,
        value: shuffle_up(value, 1),
    };
    (below, Part { ends: ends_through, open, value })
}

/// The runs of a thread's elements: bit `i` is for element `i`.
#[derive(Clone, Copy)]
pub struct Runs {
    /// Which elements begin a run. An element that does not exist does.
    pub starts: u32,
    /// Which elements end a run.
    pub ends: u32,
    /// The number of runs that end in the tile before the thread's elements.
    pub rank: u32,
}

/// Scans the thread's `rows` items, which follow elements of the tile that combine to `through`, and stores the results
/// in `place` from element `own` on. For a reduction, stores the positions of the ends in `run_ends`.
///
/// # Safety
/// `place` must have these elements, and `run_ends` as many elements as runs end in the tile.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub unsafe fn store_scan<T: Element, O: Operator<T>, const R: usize>(
    (place, run_ends): (Shared<T>, Shared<u16>),
    own: usize,
    (rows, work): (u32, u32),
    items: &[T; R],
    runs: Runs,
    mut through: T,
) {
    let ends = if work == REDUCE { runs.ends } else { 0 };
    let mut rank = runs.rank as usize;
    for_rows!(I in rows, R => {
        let before = through;
        let begins = runs.starts >> I & 1 != 0;
        // The tile's first element has no element before it in the tile.
        through = if begins || I == 0 && own == 0 { items[I] } else { O::combine(before, items[I]) };
        let result = match work {
            EXCLUSIVE if begins => O::IDENTITY,
            EXCLUSIVE => before,
            _ => through,
        };
        // SAFETY: by this function's contract, the arrays have these elements.
        unsafe {
            place.store_unchecked(own + I, result);
            if ends >> I & 1 != 0 {
                run_ends.store_unchecked(rank, (own + I) as u16);
                rank += 1;
            }
        }
    });
}
