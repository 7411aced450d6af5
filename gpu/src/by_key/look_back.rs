//! Scan and reduction by key in one pass with decoupled look-back: the kernel reads every key and value once.
//!
//! The tiles, their tickets, their states and the forward progress are those of
//! [`scan_look_back()`](crate::scan::look_back). The state of a tile is a [`Carry`]: the number of runs that end in it
//! and the combination of the values of its last run. The votes of a warp on where runs begin tell each lane how far
//! its run reaches back, so that a row of 32 values is scanned by five shuffles of the values alone.
//!
//! The kernel is limited by the latency of memory, as `scan_look_back` is. Source: D. Merrill, M. Garland, "Single-pass
//! Parallel Prefix Scan with Decoupled Look-back", NVIDIA, 2016; CUB's `DeviceReduce::ReduceByKey`.

use cuda_std::{Element, Global, GlobalMut, kernel, shared_array, thread, unroll, warp};

use super::carry::{Carry, Segmented};
use super::tuning::{THREADS, WARPS, tile_elements};
use crate::collective::LANES;
use crate::collective::block::warp_prefix;
use crate::collective::compaction::{gather, store_gathered};
use crate::collective::warp::warp_reduce;
use crate::collective::words::{shuffle_idx, shuffle_up};
use crate::operator::{Operator, Sum};
use crate::scan::one_pass::{draw_tile, look_back, publish};
use crate::select::predicate::{Predicate, RunStart};
use crate::select::rows::{ends, load, padded_starts};

/// The value of `work` for an inclusive scan of each run.
pub const INCLUSIVE: u32 = 0;

/// The value of `work` for an exclusive scan of each run.
pub const EXCLUSIVE: u32 = 1;

/// The value of `work` for a reduction of each run.
pub const REDUCE: u32 = 2;

/// Scans or reduces the values of each run of equal keys, in one pass.
///
/// If `work` is [`INCLUSIVE`] or [`EXCLUSIVE`], the scans are written to `y`. If it is [`REDUCE`], the keys of the runs
/// are written to `y_keys`, their combined values to `y`, and their number to `count`; runs that do not fit are not
/// stored. `values` must be as long as `keys`, and for a scan `y` too. `count` must have one element. `runs` decides
/// where runs begin. The operator is only called with values.
///
/// Launch one block of [`THREADS`] threads per tile of [`tile_elements`], or one block if there are no keys. Each
/// thread loads `rows` keys and values, 1 to `R`. `states` must have [`state_words`](crate::scan::state_words) elements
/// for [`Carry`], zero before the first launch. Between launches the host must not change them. Launches with the same
/// `states` must have the same number of tiles and run one after the other.
#[kernel(
    max_threads = 256,
    min_blocks = 3,
    instances(K = [u32], P = [RunStart], T = [u32, f32], O = [Sum], R = [8]),
    instances(K = [u32], P = [RunStart], T = [u64, f64], O = [Sum], R = [5]),
    instances(K = [u64], P = [RunStart], T = [u32, f32], O = [Sum], R = [5]),
    instances(K = [u64], P = [RunStart], T = [u64, f64], O = [Sum], R = [4]),
    exported = "by_key"
)]
pub fn by_key_look_back<K: Element, P: Predicate<K>, T: Element, O: Operator<T>, const R: usize>(
    keys: Global<K>,
    values: Global<T>,
    runs: P,
    work: u32,
    rows: u32,
    y_keys: GlobalMut<K>,
    y: GlobalMut<T>,
    count: GlobalMut<u64>,
    states: GlobalMut<u64>,
) {
    assert!(thread::block_dim_x() == THREADS && (1..=R as u32).contains(&rows) && work <= REDUCE);
    assert!(values.len() == keys.len() && (work == REDUCE || y.len() == keys.len()));
    let drawn = shared_array![u32; 2];
    let totals = shared_array![Carry<T>; WARPS];
    let before_tile = shared_array![Carry<T>; 1];
    let gathered_keys = shared_array![K; THREADS as usize * R];
    let gathered = shared_array![T; THREADS as usize * R];
    let elements = tile_elements(rows as usize);
    let (tile, states) = draw_tile(keys, elements, states, drawn);
    let (lane, warp) = (warp::lane_id(), warp::warp_id() as usize);

    let first = tile as usize * elements + warp * rows as usize * LANES;
    let (items, valid) = load::<K, R>(keys, first, rows);
    let (mut scanned, _) = load::<T, R>(values, first, rows);
    let starts = padded_starts::<K, P, R>(keys, runs, first, &items, valid, rows);
    let (open, total) = scan_rows::<T, O, R>(&mut scanned, starts, rows);
    let ends = ends(starts) & valid;
    let count_of_warp = warp_reduce::<u32, Sum>(warp::SIZE, ends.count_ones());
    if lane == 0 {
        totals.store(warp, Carry::new(count_of_warp, valid != 0, open.is_closed, total));
    }
    thread::sync_threads();

    let (before_warp, aggregate) = warp_prefix::<Carry<T>, Segmented<O>, WARPS>(totals, warp);
    publish(states, tile, aggregate);
    if let Some(value) = before_warp.value() {
        unroll!(ROW in R => {
            if open.rows >> ROW & 1 != 0 {
                scanned[ROW] = O::combine(value, scanned[ROW]);
            }
        });
    }
    let first_in_tile = warp * rows as usize * LANES + lane as usize;
    // SAFETY: the arrays have room for all elements of the tile, and there are not more ends than elements.
    unsafe {
        if work == REDUCE {
            gather::<K, R>(gathered_keys, before_warp.ends() as u32, &items, ends);
            gather::<T, R>(gathered, before_warp.ends() as u32, &scanned, ends);
        } else {
            unroll!(ROW in R => {
                if (ROW as u32) < rows {
                    gathered.store_unchecked(first_in_tile + ROW * LANES, scanned[ROW]);
                }
            });
        }
    }
    // The rows whose elements belong to a run that begins in an earlier tile.
    let open = if before_warp.starts() { 0 } else { open.rows };
    let before = look_back::<Carry<T>, Segmented<O>>(states, tile, aggregate, before_tile);

    if work == REDUCE {
        let (ends, is_first) = (aggregate.ends() as usize, thread::thread_idx_x() == 0);
        if is_first && tile + 1 == thread::grid_dim_x() {
            count.store(0, before.ends() + aggregate.ends());
        }
        // The tile's first run may have begun in an earlier tile. The thread that changes its value also stores it.
        if is_first
            && starts & 1 == 0
            && ends > 0
            && let Some(value) = before.value()
        {
            gathered.store(0, O::combine(value, gathered.load(0)));
        }
        store_gathered(y_keys, before.ends() as usize, gathered_keys.part(0, ends));
        store_gathered(y, before.ends() as usize, gathered.part(0, ends));
        return;
    }
    let mut row = 0;
    while row < rows {
        let in_tile = first_in_tile + row as usize * LANES;
        if valid >> row & 1 != 0 {
            // An element that begins no run has the same run as the element before it.
            let begins = starts >> row & 1 != 0;
            let from = if work == EXCLUSIVE { in_tile.wrapping_sub(1) } else { in_tile };
            let result = if work == EXCLUSIVE && begins {
                O::IDENTITY
            } else {
                // SAFETY: the element is in the tile.
                let own = if from < elements { Some(unsafe { gathered.load_unchecked(from) }) } else { None };
                match (own, before.value()) {
                    (Some(own), Some(value)) if open >> row & 1 != 0 => O::combine(value, own),
                    (Some(own), _) => own,
                    (None, value) => value.unwrap_or(O::IDENTITY),
                }
            };
            // SAFETY: the element exists in `keys`, and the assertion has checked that `y` is as long.
            unsafe { y.store_unchecked(tile as usize * elements + in_tile, result) };
        }
        row += 1;
    }
}

/// Which of the lane's elements have a run that begins before the warp's first row.
#[derive(Clone, Copy)]
pub struct Open {
    /// Bit `r` is set for the element of row `r`.
    pub rows: u32,
    /// True if a run begins in the warp's rows.
    pub is_closed: bool,
}

/// Scans the values of each run in the warp's rows. `starts` says which of the lane's elements begin a run. Returns
/// which of them belong to a run that begins earlier, and the combination of the last run's values.
#[inline(always)]
pub fn scan_rows<T: Element, O: Operator<T>, const R: usize>(values: &mut [T; R], starts: u32, rows: u32) -> (Open, T) {
    let lane = warp::lane_id();
    let through = u32::MAX >> (warp::SIZE - 1 - lane);
    let (mut open, mut carry) = (Open { rows: 0, is_closed: false }, O::IDENTITY);
    unroll!(ROW in R => {
        if (ROW as u32) < rows {
            let votes = warp::ballot(warp::FULL_MASK, starts >> ROW & 1 != 0);
            let earlier = votes & through;
            // The number of lanes before this one whose elements belong to the same run.
            let reach = if earlier == 0 { lane } else { lane + earlier.leading_zeros() + 1 - warp::SIZE };
            let mut value = values[ROW];
            let mut distance = 1;
            while distance < warp::SIZE {
                let before = shuffle_up(value, distance);
                if distance <= reach {
                    value = O::combine(before, value);
                }
                distance *= 2;
            }
            if earlier == 0 {
                if ROW > 0 {
                    value = O::combine(carry, value);
                }
                if !open.is_closed {
                    open.rows |= 1 << ROW;
                }
            }
            values[ROW] = value;
            carry = shuffle_idx(value, warp::SIZE - 1);
            open.is_closed |= votes != 0;
        }
    });
    (open, carry)
}
