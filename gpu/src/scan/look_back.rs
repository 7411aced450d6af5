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
//! Within a tile: a warp reads 8 chunks of 32 vectors of 16 bytes, all before the first is used. Each lane scans its
//! vectors, a scan by shuffles links the lanes, and a carry links the chunks; the warps exchange one value each through
//! shared memory. The last tile, and arrays that do not start at a multiple of 16 bytes, take a path that checks each
//! element.
//!
//! Which predecessors a tile takes in as aggregates and which as a prefix depends on when it looks. The operands' order
//! does not, but their grouping does: with floats, results of two runs may differ by rounding.
//!
//! Limited by memory. Source: D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back",
//! NVIDIA, 2016.

use cuda_std::{Element, Global, GlobalMut, kernel, shared_array, thread, warp};

use super::items::{CHUNKS, LANES, THREADS, WARPS, combine_warps, load, move_up, scan_warp, store, tile_elements};
use super::tile_states::{AGGREGATE, PREFIX, TileStates};
use crate::operator::{Affine, Compose, Max, Min, Operator, Product, Sum};

/// `y` = the scan of `x` in one pass, by decoupled look-back over tiles.
///
/// `V` elements are 16 bytes. `exclusive` is 0 for the inclusive scan and 1 for the exclusive one. `y` must be as long as
/// `x`, and `states` must be zeros, as many as [`state_words`](super::state_words) says. Launch a block of [`THREADS`]
/// threads for each tile of [`tile_elements`].
#[kernel(
    max_threads = 256,
    instances(T = [f32, i32, u32], O = [Sum, Product, Min, Max], V = [4]),
    instances(T = [f64, i64, u64], O = [Sum, Product, Min, Max], V = [2]),
    instances(T = [Affine], O = [Compose], V = [2])
)]
pub fn scan_look_back<T: Element, O: Operator<T>, const V: usize>(
    x: Global<T>,
    y: GlobalMut<T>,
    exclusive: u32,
    states: GlobalMut<u64>,
) {
    assert!(x.len() == y.len() && thread::block_dim_x() == THREADS);
    let drawn = shared_array![u64; 1];
    let totals = shared_array![T; WARPS];
    let before_tile = shared_array![T; 1];
    let states = TileStates::<T>::new(states);
    if thread::thread_idx_x() == 0 {
        drawn.store(0, states.draw());
    }
    thread::sync_threads();
    let tile = drawn.load(0) as usize;
    let (lane, warp) = (warp::lane_id(), warp::warp_id() as usize);

    // The thread's first vector; its others follow a chunk apart.
    let first = tile * (tile_elements(V) / V) + (warp * CHUNKS * LANES + lane as usize);
    let is_aligned = (x.as_ptr() as usize | y.as_ptr() as usize).is_multiple_of(16);
    // Not `(tile + 1) · elements ≤ n`, which overflows for the tile that a ticket left over from another launch names.
    let is_whole = is_aligned && tile < x.len() / tile_elements(V);
    let mut items = load::<T, O, V, CHUNKS>(x, first, is_whole);
    let total = scan_warp::<T, O, V, CHUNKS>(&mut items);
    if lane == 0 {
        totals.store(warp, total);
    }
    if exclusive != 0 {
        move_up::<T, O, V, CHUNKS>(&mut items);
    }
    thread::sync_threads();

    let (before_warp, aggregate) = combine_warps::<T, O, WARPS>(totals, warp);
    if warp == 0 {
        let mut before = O::IDENTITY;
        if tile > 0 {
            if lane == 0 {
                states.publish(tile, AGGREGATE, aggregate);
            }
            before = states.look_back::<O>(tile);
        }
        if lane == 0 {
            states.publish(tile, PREFIX, O::combine(before, aggregate));
            before_tile.store(0, before);
        }
    }
    thread::sync_threads();

    store::<T, O, V, CHUNKS>(y, first, is_whole, items, O::combine(before_tile.load(0), before_warp));
}
