//! One pass with decoupled look-back: the kernel reads every element once and writes every selected element once.
//!
//! The tiles, their tickets, their states and the forward progress are those of
//! [`scan_look_back()`](crate::scan::look_back), but a state is a count of 64 bits.
//!
//! A warp has a contiguous part of the tile in *rows* of 32 elements. Neighbouring lanes have neighbouring elements, so
//! that loads cover whole cache lines for views that begin at any element. The votes on a row give each selected
//! element its position. The block gathers the selected elements in shared memory before it looks back, and stores
//! them afterwards ([`compaction`](crate::collective::compaction)). While it looks back, it therefore needs few
//! registers, and more blocks fit on a multiprocessor. Elements of 1 and 2 bytes take as many instructions as those of
//! 4 bytes.
//!
//! The kernel is limited by the latency of memory, as `scan_look_back` is. Source: D. Merrill, M. Garland, "Single-pass
//! Parallel Prefix Scan with Decoupled Look-back", NVIDIA, 2016; CUB's `DeviceSelect`.

use cuda_std::{Element, Global, GlobalMut, kernel, shared_array, thread, warp};

use super::predicate::{ByFlag, InRange, Predicate, Quad, Reads, RunStart};
use super::rows::{load, selected};
use super::tuning::{THREADS, WARPS, tile_elements};
use crate::collective::LANES;
use crate::collective::block::warp_prefix;
use crate::collective::compaction::{gather, store_gathered};
use crate::collective::warp::warp_reduce;
use crate::operator::Sum;
use crate::scan::one_pass::{draw_tile, look_back, publish};

/// Moves the selected elements of `x` to `y` and the others to `rejected`, both in order, and the number of selected
/// elements to `count`, in one pass.
///
/// Elements that do not fit into `y` or `rejected` are not stored; an empty `rejected` costs nothing. `flags` must be
/// as long as `x` if the predicate reads flags. `count` must have one element. Launch one block of [`THREADS`]
/// threads per tile of [`tile_elements`], or one block if `x` is empty. Each thread loads `rows` elements, 1 to `R`.
/// `states` must have [`state_words`](crate::scan::state_words) elements for `u64`, zero before the first launch.
/// Between launches the host must not change them. Launches with the same `states` must have the same number of tiles
/// and run one after the other.
#[kernel(
    max_threads = 256,
    instances(T = [u8, u16, u32], P = [InRange, ByFlag, RunStart], R = [16]),
    instances(T = [u64], P = [InRange, ByFlag, RunStart], R = [8]),
    instances(T = [Quad], P = [ByFlag], R = [4]),
    exported = "select"
)]
pub fn select_look_back<T: Element, P: Predicate<T>, const R: usize>(
    x: Global<T>,
    flags: Global<u8>,
    predicate: P,
    rows: u32,
    y: GlobalMut<T>,
    rejected: GlobalMut<T>,
    count: GlobalMut<u64>,
    states: GlobalMut<u64>,
) {
    assert!(thread::block_dim_x() == THREADS && (1..=R as u32).contains(&rows));
    assert!(<P as Predicate<T>>::READS != Reads::Flag || flags.len() == x.len());
    let drawn = shared_array![u32; 2];
    let totals = shared_array![u32; WARPS];
    let before_tile = shared_array![u64; 1];
    let gathered = shared_array![T; THREADS as usize * R];
    let elements = tile_elements(rows as usize);
    let (tile, states) = draw_tile(x, elements, states, drawn);
    let (lane, warp) = (warp::lane_id(), warp::warp_id() as usize);

    let first = tile as usize * elements + warp * rows as usize * LANES;
    let (items, valid) = load::<T, R>(x, first, rows);
    let selected = selected::<T, P, R>(x, flags, predicate, first, &items, valid);
    let total = warp_reduce::<u32, Sum>(warp::SIZE, selected.count_ones());
    if lane == 0 {
        totals.store(warp, total);
    }
    thread::sync_threads();

    let (before_warp, aggregate) = warp_prefix::<u32, Sum, WARPS>(totals, warp);
    publish(states, tile, u64::from(aggregate));
    // SAFETY: the ranks of the selected elements are below their number in the tile, and the ranks of the others are
    // between this number and that of the tile's elements, for which `gathered` has room.
    unsafe {
        gather::<T, R>(gathered, before_warp, &items, selected);
        if !rejected.is_empty() {
            let before = (warp * rows as usize * LANES) as u32 - before_warp;
            gather::<T, R>(gathered, aggregate + before, &items, valid & !selected);
        }
    }
    let before = look_back::<u64, Sum>(states, tile, u64::from(aggregate), before_tile);
    if thread::thread_idx_x() == 0 && tile + 1 == thread::grid_dim_x() {
        count.store(0, before + u64::from(aggregate));
    }
    store_gathered(y, before as usize, gathered.part(0, aggregate as usize));
    if !rejected.is_empty() {
        let first = (tile as usize * elements).min(x.len());
        let others = (x.len() - first).min(elements) - aggregate as usize;
        store_gathered(rejected, first - before as usize, gathered.part(aggregate as usize, others));
    }
}
