//! Scan and reduction by key in one pass with decoupled look-back: the kernel reads every key and value once.
//!
//! The tiles, their tickets, their states and the forward progress are those of
//! [`scan_look_back()`](crate::scan::look_back). The state of a tile is a [`Carry`]: the number of runs that end in it
//! and the combination of the values of its last run. A tile in which a run begins needs no earlier tile for its last
//! run. A scan therefore publishes such a tile's value as a prefix at once, and does not look back if a run begins at
//! the tile's first element.
//!
//! The tile stays in shared memory while the block looks back (`tile.rs`), so that the block needs few registers.
//!
//! The kernel is limited by the latency of memory, as `scan_look_back` is. Source: D. Merrill, M. Garland, "Single-pass
//! Parallel Prefix Scan with Decoupled Look-back", NVIDIA, 2016; CUB's `DeviceReduce::ReduceByKey`.

use cuda_std::{Element, Global, GlobalMut, kernel, shared_array, thread, unroll, warp};

use super::before::carry_before;
use super::carry::{Carry, Part};
use super::tile::{Runs, edge_key, join_lanes, load_values, starts, store_rows, store_scan};
use super::tuning::{THREADS, WARPS, rows_of, tile_elements};
use crate::collective::LANES;
use crate::collective::tile::left;
use crate::operator::{Operator, Sum};
use crate::scan::one_pass::{draw_tile_while, drawn_tile, prefetch_tile};
use crate::scan::{AGGREGATE, PREFIX};
use crate::select::predicate::{Predicate, RunStart};
use crate::select::rows::load;

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
/// thread loads `rows` keys and values, one of [`rows_of`]`(R)`.
/// `states` must have [`state_words`](crate::scan::state_words) elements for [`Carry`], zero before the first launch.
/// Between launches the host must not change them. Launches with the same `states` must have the same number of tiles
/// and run one after the other.
#[kernel(
    max_threads = 256,
    min_blocks = 4,
    instances(K = [u32], P = [RunStart], T = [u32, f32], O = [Sum], R = [15]),
    instances(K = [u32], P = [RunStart], T = [u64], O = [Sum], R = [7]),
    instances(K = [u64], P = [RunStart], T = [u32, f32, u64], O = [Sum], R = [7]),
    instances(K = [u32, u64], P = [RunStart], T = [f64], O = [Sum], R = [7], min_blocks = 3),
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
    assert!(thread::block_dim_x() == THREADS && rows_of(R).contains(&(rows as usize)) && work <= REDUCE);
    assert!(values.len() == keys.len() && (work == REDUCE || y.len() == keys.len()));
    let drawn = shared_array![u32; 2];
    let parts = shared_array![Part<T>; WARPS];
    let before_tile = shared_array![Carry<T>; 1];
    let tile_keys = shared_array![K; THREADS as usize * R];
    let tile_values = shared_array![T; THREADS as usize * R];
    let run_ends = shared_array![u16; THREADS as usize * R];
    let elements = tile_elements(rows as usize);
    let (tile, _) = draw_tile_while::<Carry<T>>(states, drawn, || {
        prefetch_tile(keys, elements);
        prefetch_tile(values, elements);
    });
    let (thread, lane, warp) = (thread::thread_idx_x(), warp::lane_id(), warp::warp_id());

    let (tile_first, warp_len) = (tile as usize * elements, rows * warp::SIZE);
    let warp_first = (warp * warp_len) as usize;
    let (key_rows, _) = load::<K, R>(keys, tile_first + warp_first, rows);
    let (value_rows, _) = load::<T, R>(values, tile_first + warp_first, rows);
    let edge = edge_key(keys, tile_first + warp_first, warp_len as usize);
    // SAFETY: the arrays have room for all elements of the tile.
    unsafe {
        store_rows::<K, R>(tile_keys, warp_first, rows, &key_rows);
        store_rows::<T, R>(tile_values, warp_first, rows, &value_rows);
    }
    warp::sync_warp(warp::FULL_MASK);

    let own = (thread * rows) as usize;
    // SAFETY: the warp has stored its elements, and the thread's are those from `own` on.
    let mut starts = unsafe { starts::<K, P, R>(tile_keys, runs, edge, own, rows) };
    let remaining = left(keys.len(), tile_first + own);
    if remaining <= rows {
        starts |= u32::MAX << remaining;
    }
    if tile_first + own == 0 {
        starts |= 1;
    }
    // A run ends where the next element begins one.
    let ends = starts >> 1 & ((1 << remaining.min(rows)) - 1);
    // SAFETY: the warp has stored its elements.
    let (items, last) = unsafe { load_values::<T, O, R>(tile_values, own, rows, starts) };
    let (below, of_warp) = join_lanes::<T, O>(rows, starts, ends, last);
    if lane == warp::SIZE - 1 {
        parts.store(warp as usize, of_warp);
    }
    thread::sync_threads();

    let (tile, states) = drawn_tile::<Carry<T>>(states, drawn);
    let tile_first = tile as usize * elements;
    let mut all = parts.load(0);
    let mut before_warp = Part { ends: 0, ..all };
    for other in 1..WARPS {
        if other == warp as usize {
            before_warp = all;
        }
        all = all.followed_by::<O>(other as u32 * warp_len, parts.load(other), warp_len);
    }
    let aggregate = Carry::new(u64::from(all.ends), all.open < warp_len * WARPS as u32, all.value);
    let is_prefix = tile == 0 || work != REDUCE && aggregate.starts();
    if thread == 0 {
        states.publish(tile as usize, if is_prefix { PREFIX } else { AGGREGATE }, aggregate);
    }
    // The combination of the values before the thread's first element, as far as they are of its run and in the tile.
    let mut through = below.value;
    if lane == 0 {
        through = before_warp.value;
    } else if below.is_open && warp > 0 {
        through = O::combine(before_warp.value, through);
    }
    let found = Runs { starts, ends, rank: before_warp.ends + below.ends };
    // SAFETY: the elements are the thread's own. The arrays have room for all elements of the tile.
    unsafe { store_scan::<T, O, R>((tile_values, run_ends), own, (rows, work), &items, found, through) };

    if warp == 0 && tile > 0 && (work == REDUCE || all.open > 0) {
        // SAFETY: `draw_tile_while` has checked that this tile and all earlier tiles have words.
        let before = unsafe { carry_before::<T, O>(states, tile) };
        if lane == 0 {
            before_tile.store(0, before);
            if !is_prefix {
                let value = if aggregate.starts() { all.value } else { O::combine(before.value(), all.value) };
                states.publish(tile as usize, PREFIX, Carry::new(before.ends() + aggregate.ends(), true, value));
            }
        }
    } else if thread == 0 {
        before_tile.store(0, Carry::new(0, true, O::IDENTITY));
    }
    thread::sync_threads();

    let before = before_tile.load(0);
    if work == REDUCE {
        if thread == 0 && tile + 1 == thread::grid_dim_x() {
            count.store(0, before.ends() + aggregate.ends());
        }
        let first = before.ends() as usize;
        let (room_of_keys, room) = (left(y_keys.len(), first), left(y.len(), first));
        let mut run = thread;
        while run < all.ends {
            // SAFETY: the run ends in the tile, at an element of the tile. The tests limit the index to the outputs.
            unsafe {
                let at = run_ends.load_unchecked(run as usize);
                let mut value = tile_values.load_unchecked(at as usize);
                if u32::from(at) < all.open {
                    value = O::combine(before.value(), value);
                }
                if run < room_of_keys {
                    y_keys.store_unchecked(first + run as usize, tile_keys.load_unchecked(at as usize));
                }
                if run < room {
                    y.store_unchecked(first + run as usize, value);
                }
            }
            run += THREADS;
        }
        return;
    }
    let first = warp_first + lane as usize;
    // The elements whose run begins in an earlier tile.
    let open = (all.open as usize).min(warp_first + warp_len as usize);
    let mut at = first;
    while at < open {
        // SAFETY: the element is in the warp's part of the tile.
        unsafe {
            let own = tile_values.load_unchecked(at);
            let is_first = work == EXCLUSIVE && at == 0;
            let value = if is_first { before.value() } else { O::combine(before.value(), own) };
            tile_values.store_unchecked(at, value);
        }
        at += LANES;
    }
    // Computed again, because the result of `load` would take a register until here.
    let remaining = left(keys.len(), tile_first + first).min(warp_len);
    unroll!(ROW in R => {
        if ((ROW * LANES) as u32) < remaining {
            let at = first + ROW * LANES;
            // SAFETY: the element is in the tile and exists in `keys`, and the assertion has checked that `y` is as
            // long.
            unsafe { y.store_unchecked(tile_first + at, tile_values.load_unchecked(at)) };
        }
    });
}
