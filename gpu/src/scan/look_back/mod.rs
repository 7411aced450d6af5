//! Scan in one pass with decoupled look-back: the kernel reads and writes every element once.
//!
//! A block scans its tile in registers and publishes the tile's aggregate at once. One of its warps then looks back
//! over the earlier tiles. The warp combines their aggregates until it finds a tile with a published prefix, and then
//! publishes the prefix of the block's tile. A block therefore waits at most until earlier blocks have loaded their
//! tiles, and never until they have finished. Finally, the block writes its part of `y`.
//!
//! Forward progress: a block draws its tile's number from a counter when it starts. A block therefore waits only for
//! blocks that started earlier. A started block stays on its multiprocessor until it ends, and publishes its aggregate
//! without waiting. The lowest tile without a published prefix therefore always finds all values that it needs. The
//! order in which the hardware starts the blocks does not matter.
//!
//! Within a tile ([`collective::tile`](crate::collective::tile)), a thread loads all its items before it uses the
//! first. Each lane scans its vectors. The last elements of all vectors, combined, are the aggregate of the tile. The
//! block publishes the aggregate before it continues the scan. Each warp passes one value to the others through shared
//! memory.
//!
//! A small scan is limited by the latency of memory. While block *b* waits for its ticket, it prefetches tile *b* into
//! the L2 cache. It may then draw another tile, but together the blocks prefetch all tiles. The host zeroes no memory
//! before the launch, because the flags contain the number of the launch (`tile_states.rs`).
//!
//! Timing determines at which tile a warp finds a prefix. The order of the operands does not depend on timing, but
//! their grouping does. The results of two runs with floats may therefore differ by rounding.
//!
//! The kernel is limited by memory. Source: D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled
//! Look-back", NVIDIA, 2016.

use cuda_std::{Element, Global, GlobalMut, kernel, opaque, shared_array, thread, warp};

use super::tile_states::{AGGREGATE, PREFIX, Ticket, TileStates};
use super::tuning::{CHUNKS, THREADS, WARPS, tile_elements};
use crate::collective::LANES;
use crate::collective::block::warp_prefix;
use crate::collective::tile::{load, scan_vectors, store, warp_aggregate, warp_scan};
use crate::collective::vectors::is_aligned;
use crate::operator::{Affine, Compose, Max, Min, Operator, Product, Sum};

mod before;

pub use before::Before;

/// The number of bytes that one prefetch brings to the L2 cache.
pub const LINE: usize = 128;

/// Writes the scan of `x` to `y` in one pass with decoupled look-back.
///
/// `V` must be the number of elements in a vector ([`vector_len`](crate::collective::vectors::vector_len)). `exclusive`
/// must be 0 for the inclusive scan and 1 for the exclusive scan. `y` must be as long as `x`. Launch one block of
/// [`THREADS`] threads per tile of [`tile_elements`]. Each thread loads `chunks` vectors, 1 to [`CHUNKS`]. `states`
/// must have [`state_words`](super::state_words) elements, zero before the first launch. Between launches the host must
/// not change them. Launches with the same `states` must have the same number of tiles and run one after the other.
#[kernel(
    max_threads = 256,
    instances(T = [f32, i32, u32], O = [Sum, Product, Min, Max], V = [4]),
    instances(T = [f64, i64, u64], O = [Sum, Product, Min, Max], V = [2]),
    instances(T = [Affine], O = [Compose], V = [2]),
    wide(loads, stores),
    exported = "scan"
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

    // The index of the thread's first vector. The thread's vectors are one chunk apart.
    let first = tile as usize * (elements / V) + (warp * chunks as usize * LANES + lane as usize);
    let is_aligned = is_aligned::<T, V>(x.as_ptr() as usize | y.as_ptr() as usize);
    let is_whole = is_aligned && (tile as usize + 1) * elements <= x.len();
    // SAFETY: if `is_whole` is true, the whole tile lies in `x`, which is aligned for vectors.
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
    // The last argument is 0, because `chunks` is below 2³¹, but the compilers cannot see this.
    warp_scan::<T, O, V, CHUNKS>(&mut items, exclusive != 0, Some(opaque(chunks) >> 31));
    if warp == 0 {
        let mut before = O::IDENTITY;
        if tile > 0 {
            // SAFETY: the assertion above has checked that this tile and all earlier tiles have words.
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
    // SAFETY: if `is_whole` is true, the whole tile lies in `y`, which is as long as `x` and aligned for vectors.
    unsafe { store::<T, O, V, CHUNKS>(y, first, chunks, is_whole, items, before) };
}
