//! Run-length encoding in one pass: the first element and the length of each run of equal elements.
//!
//! The kernel is [`select_look_back()`](super::select_look_back()) with two changes. It stores an element at the end of
//! its run instead of the beginning, because only there the length is known. The state of a tile is the pair of the
//! number of its ends and the start of its last run ([`RunEnds`]), so that the first end of a tile finds the start of
//! its run in an earlier tile.
//!
//! The votes of a warp on where runs begin give each lane the start of its run, so that no lane exchanges a position
//! with another. Source: CUB's `DeviceRunLengthEncode`; this project.

use cuda_std::{DeviceCopy, Element, Global, GlobalMut, kernel, shared_array, thread, unroll, warp};

use super::predicate::{Predicate, RunStart};
use super::rows::{ends, load, padded_starts};
use super::tuning::{THREADS, WARPS, tile_elements};
use crate::collective::LANES;
use crate::collective::block::warp_prefix;
use crate::collective::compaction::{rank_in_row, store_gathered};
use crate::collective::warp::warp_reduce;
use crate::operator::Operator;
use crate::scan::one_pass::{draw_tile, look_back, publish};

/// What is known of the runs in a part of the vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, DeviceCopy)]
#[repr(C)]
pub struct RunEnds {
    /// The number of elements at which a run ends.
    ends: u32,
    /// The index of the last element that begins a run, plus 1, or 0 if there is none.
    start: u32,
}

// SAFETY: the fields are two `u32`, and all-zero bits are a valid `u32`.
unsafe impl cuda_std::Zeroable for RunEnds {}
// SAFETY: the fields are two `u32` without padding, and any bits are a valid `u32`.
unsafe impl cuda_std::Pod for RunEnds {}

/// Joins what is known of two parts. The later start is the greater one, so the order of the parts does not matter.
#[derive(Clone, Copy)]
pub struct Join;

impl Operator<RunEnds> for Join {
    const IDENTITY: RunEnds = RunEnds { ends: 0, start: 0 };
    const COMMUTATIVE: bool = true;
    const IS_SHORT: bool = true;

    #[inline(always)]
    fn combine(a: RunEnds, b: RunEnds) -> RunEnds {
        RunEnds { ends: a.ends.wrapping_add(b.ends), start: a.start.max(b.start) }
    }
}

/// Writes the elements of the runs of equal elements of `x` to `y`, their lengths to `lengths`, and the number of runs
/// to `count`, in one pass.
///
/// `x` must have fewer than 2³² elements. The other arguments, the grid and the states are those of
/// [`select_look_back()`](super::select_look_back()), but the states are of [`RunEnds`].
#[kernel(
    max_threads = 256,
    min_blocks = 4,
    instances(T = [u8, u16, u32], P = [RunStart], R = [16]),
    instances(T = [u64], P = [RunStart], R = [8])
)]
pub fn select_run_lengths<T: Element, P: Predicate<T>, const R: usize>(
    x: Global<T>,
    runs: P,
    rows: u32,
    y: GlobalMut<T>,
    lengths: GlobalMut<u32>,
    count: GlobalMut<u64>,
    states: GlobalMut<u64>,
) {
    assert!(thread::block_dim_x() == THREADS && (1..=R as u32).contains(&rows) && x.len() <= u32::MAX as usize);
    let drawn = shared_array![u32; 2];
    let totals = shared_array![RunEnds; WARPS];
    let before_tile = shared_array![RunEnds; 1];
    let gathered = shared_array![T; THREADS as usize * R];
    let gathered_lengths = shared_array![u32; THREADS as usize * R];
    let elements = tile_elements(rows as usize);
    let (tile, states) = draw_tile(x, elements, states, drawn);
    let (lane, warp) = (warp::lane_id(), warp::warp_id() as usize);

    let first = tile as usize * elements + warp * rows as usize * LANES;
    let (items, valid) = load::<T, R>(x, first, rows);
    let starts = padded_starts::<T, P, R>(x, runs, first, &items, valid, rows);
    // The start of the warp's last run, plus 1. The lane that begins it has it, and the others have less.
    let last = u32::BITS - (starts & valid).leading_zeros();
    let start = if last == 0 { 0 } else { first as u32 + (last - 1) * warp::SIZE + lane + 1 };
    let ends = ends(starts) & valid;
    let total = warp_reduce::<RunEnds, Join>(warp::SIZE, RunEnds { ends: ends.count_ones(), start });
    if lane == 0 {
        totals.store(warp, total);
    }
    thread::sync_threads();

    let (before_warp, aggregate) = warp_prefix::<RunEnds, Join, WARPS>(totals, warp);
    publish(states, tile, aggregate);
    // The start of the run that continues from the row above, plus 1, or 0 if it is in an earlier tile.
    let (mut above, through) = (before_warp.start, u32::MAX >> (warp::SIZE - 1 - lane));
    let mut before_row = before_warp.ends;
    unroll!(ROW in R => {
        let votes = warp::ballot(warp::FULL_MASK, starts >> ROW & 1 != 0);
        let row = first as u32 + ROW as u32 * warp::SIZE;
        let start_at = |votes: u32| if votes == 0 { above } else { row + warp::SIZE - votes.leading_zeros() };
        let is_end = ends >> ROW & 1 != 0;
        let (rank, count) = rank_in_row(is_end);
        if is_end {
            let (at, length) = ((before_row + rank) as usize, (row + lane + 2).wrapping_sub(start_at(votes & through)));
            // SAFETY: the rank of an end is below the number of the tile's elements, for which both arrays have room.
            unsafe {
                gathered.store_unchecked(at, items[ROW]);
                gathered_lengths.store_unchecked(at, length);
            }
        }
        before_row += count;
        above = start_at(votes);
    });
    let before = look_back::<RunEnds, Join>(states, tile, aggregate, before_tile);
    if thread::thread_idx_x() == 0 && tile + 1 == thread::grid_dim_x() {
        count.store(0, u64::from(before.ends + aggregate.ends));
    }
    let (first, ends) = (before.ends as usize, aggregate.ends as usize);
    // The tile's first run may have begun in an earlier tile. The thread that changes its length also stores it.
    if thread::thread_idx_x() == 0 && starts & 1 == 0 && ends > 0 {
        gathered_lengths.store(0, gathered_lengths.load(0).wrapping_sub(before.start));
    }
    store_gathered(y, first, gathered.part(0, ends));
    store_gathered(lengths, first, gathered_lengths.part(0, ends));
}
