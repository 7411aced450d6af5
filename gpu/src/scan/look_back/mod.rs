//! One pass with decoupled look-back: every element is read once and written once.
//!
//! What it changes: a block scans a tile in registers and publishes the tile's aggregate at once; one of its warps then
//! looks back over the tiles before it, taking in aggregates until it meets a tile whose prefix is known, and publishes
//! its own prefix. So no tile waits for the one before it to be done, but at most for it to be read, and y is written
//! in the same pass.
//!
//! Forward progress: a tile's number is drawn from a counter when its block starts, so that a tile waits only for tiles
//! whose blocks have started before. A block that has started stays on its multiprocessor until it ends, and publishes
//! its aggregate without waiting for anyone; so whoever waits, the lowest tile that has not published its prefix finds
//! all that it needs. The order in which the grid's blocks start does not matter.
//!
//! Within a tile ([`collective::tile`](crate::collective::tile)) a thread loads all of its items before it uses the first.
//! Each lane scans its vectors; their last elements combined are the aggregate, which is published before anything else is
//! scanned. The warps exchange one value each through shared memory.
//!
//! A small scan is limited by the latency of memory. While a block waits for its ticket, it prefetches the tile of its own
//! number into the L2 cache. It may draw another tile's number, but together the blocks prefetch the tiles of the whole grid.
//! Nothing is zeroed before the launch, since the flags tell of which launch they are (`tile_states.rs`).
//!
//! Which of the tiles before it a tile takes in by their aggregates, and which by a prefix, depends on when it looks. The order
//! of the operands does not depend on that, but their grouping does: with floats, the results of two runs may differ by
//! rounding.
//!
//! Limited by memory. Source: D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back",
//! NVIDIA, 2016.

use cuda_std::{Element, Global, GlobalMut, kernel, opaque, shared_array, thread, warp};

use super::tile_states::{AGGREGATE, PREFIX, Ticket, TileStates};
use super::tuning::{CHUNKS, THREADS, WARPS, tile_elements};
use crate::collective::LANES;
use crate::collective::block::warp_prefix;
use crate::collective::tile::{load, scan_vectors, store, warp_aggregate, warp_scan};
use crate::operator::{Affine, Compose, Max, Min, Operator, Product, Sum};

mod before;

use before::Before;

/// Bytes that one prefetch brings to the L2 cache.
const LINE: usize = 128;

/// `y` = the scan of `x` in one pass, by decoupled look-back over tiles.
///
/// `V` elements are 16 bytes. `exclusive` is 0 for the inclusive scan and 1 for the exclusive one. `y` must be as long as
/// `x`. Launch a block of [`THREADS`] threads for each tile of [`tile_elements`], of which a thread reads `chunks` vectors,
/// 1 to [`CHUNKS`]. `states` are as many words as [`state_words`](super::state_words) says: zeros before the first launch,
/// and left alone between launches, which must be for as many tiles, one after the other.
#[kernel(
    max_threads = 256,
    instances(T = [f32, i32, u32], O = [Sum, Product, Min, Max], V = [4]),
    instances(T = [f64, i64, u64], O = [Sum, Product, Min, Max], V = [2]),
    instances(T = [Affine], O = [Compose], V = [2]),
    wide(loads, stores)
)]
pub fn scan_look_back<T: Element, O: Operator<T>, const V: usize>(
    x: Global<T>,
    y: GlobalMut<T>,
    exclusive: u32,
    chunks: u32,
    states: GlobalMut<u64>,
) {
    assert!(x.len() == y.len() && thread::block_dim_x() == THREADS && (1..=CHUNKS as u32).contains(&chunks));
    let drawn = shared_array![u32; 2];
    let totals = shared_array![T; WARPS];
    let before_tile = shared_array![T; 1];
    let thread = thread::thread_idx_x();
    let ticket = if thread == 0 { Ticket::draw(states) } else { Ticket::default() };
    let elements = tile_elements(chunks as usize, V);
    let line = thread as usize * (LINE / size_of::<T>());
    if line < elements {
        x.prefetch(thread::block_idx_x() as usize * elements + line);
    }
    if thread == 0 {
        drawn.store(0, ticket.tile());
        drawn.store(1, ticket.epoch());
        ticket.begin_next(states, thread::grid_dim_x());
    }
    thread::sync_threads();
    let (tile, states) = (drawn.load(0), TileStates::<T>::new(states, drawn.load(1)));
    assert!(states.has(tile as usize + 1));
    let (lane, warp) = (warp::lane_id(), warp::warp_id() as usize);

    // The thread's first vector; its others follow a chunk apart.
    let first = tile as usize * (elements / V) + (warp * chunks as usize * LANES + lane as usize);
    let is_aligned = (x.as_ptr() as usize | y.as_ptr() as usize).is_multiple_of(16);
    let is_whole = is_aligned && (tile as usize + 1) * elements <= x.len();
    // SAFETY: a whole tile lies in `x`, which then starts at a multiple of 16 bytes.
    let mut items = unsafe { load::<T, V, CHUNKS>(x, first, chunks, is_whole, O::IDENTITY) };
    scan_vectors::<T, O, V, CHUNKS>(&mut items);
    let total = warp_aggregate::<T, O, V, CHUNKS>(&items);
    if lane == 0 {
        totals.store(warp, total);
    }
    thread::sync_threads();

    let (before_warp, aggregate) = warp_prefix::<T, O, WARPS>(totals, warp);
    if thread == 0 {
        states.publish(tile as usize, if tile == 0 { PREFIX } else { AGGREGATE }, aggregate);
    }
    // There are few chunks, of which neither compiler knows.
    warp_scan::<T, O, V, CHUNKS>(&mut items, exclusive != 0, Some(opaque(chunks) >> 31));
    if warp == 0 {
        let mut before = O::IDENTITY;
        if tile > 0 {
            // SAFETY: there are words for this tile and those before.
            before = unsafe { Before::combine::<O>(states, tile) };
            if lane == 0 {
                states.publish(tile as usize, PREFIX, O::combine(before, aggregate));
            }
        }
        if lane == 0 {
            before_tile.store(0, before);
        }
    }
    thread::sync_threads();

    let before = O::combine(before_tile.load(0), before_warp);
    // SAFETY: a whole tile lies in `y`, which is as long as `x`, and then starts at a multiple of 16 bytes.
    unsafe { store::<T, O, V, CHUNKS>(y, first, chunks, is_whole, items, before) };
}
