//! A pipeline: blocks that stay, each with a tile on its way, a tile that it sums, and a tile that it scans.
//!
//! What it changes: with look-back a block lives for one tile, and while it waits, for its elements and then for the tiles
//! before it, it does nothing else. Here a grid that fills the device once takes tile after tile, and a round of a block
//! works on three: it sums tile *i*, which asynchronous copies have brought to shared memory, and publishes the sum; it
//! scans tile *i* − 1, which still lies there, and stores it; and it has the copies of tile *i* + 2 begin in its place. A
//! round lies between the publication of a sum and its use, so that the other blocks' sums are there when they are looked
//! for, and their words are read at the start of a round and used in the middle of it. So nothing waits but for memory.
//!
//! No tile publishes a prefix: a block knows the prefix up to its last tile, and takes in the sums of the tiles that others
//! have had since, about as many as there are blocks. No chain of tiles is left that wait for each other.
//!
//! Forward progress: a block draws the numbers of its tiles from a counter, some rounds ahead, and so in rising order. In
//! the round in which it publishes the sum of its tile *t* it afterwards waits for the sums of all tiles before the one
//! that it drew before *t*, and for nothing else. Suppose that there are tiles that were drawn and whose sums are never
//! published, and let *u* be the first, drawn by the block B. Before B publishes *u* it only waits for sums of tiles
//! before *u*. Those were drawn earlier, as numbers are handed out in order, by blocks that have started and stay on
//! their multiprocessors until they end; and they are published, as *u* is the first that is not. So B's waits end and it
//! publishes *u*, a contradiction. It does not matter which blocks start when, nor whether all are on the device at once:
//! two such scans may run beside each other.
//!
//! The order of the operands does not depend on who takes which tile, but their grouping does: with floats, results of two
//! runs may differ by rounding.
//!
//! Limited by memory. Measured with tiles of 32 KB, three a block and two blocks a multiprocessor, which was the best of
//! those tried: on an H200, 2²⁸ `f32`, a sketch of this kernel in CUDA C++ reaches 3840 GB/s and one with this structure that
//! waits for no sums 3850; CUB 3095, and the look-back before this 2947. Blocks that stay and wait for the sums in the
//! round in which they publish their own reach 2490, and a look-back by the whole block is no better than one by a warp.
//! Source: own; the tiles' states and their order after D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with
//! Decoupled Look-back", NVIDIA, 2016.

use cuda_std::{Element, Global, GlobalMut, kernel, shared_array, thread, warp};

use super::items::{CHUNKS, LANES, THREADS, WARPS, combine_warps, move_up, scan_warp, store, tile_elements};
use super::tile_states::{AGGREGATE, TileStates};
use crate::operator::{Affine, Compose, Max, Min, Operator, Product, Sum};

mod between;
mod ring;

use between::Between;
use ring::Ring;

/// Tiles that the ring in shared memory holds: one that is scanned, and two that are brought.
pub const STAGES: usize = 3;

/// Blocks that a multiprocessor is to hold.
pub const BLOCKS: u32 = 2;

/// Dynamic shared memory of a block, in bytes.
pub const RING_BYTES: u32 = (STAGES * 16 * tile_elements(1)) as u32;

/// No tile.
const NONE: usize = usize::MAX;

/// `y` = the scan of `x` in one pass, by blocks that each scan tile after tile.
///
/// `V` elements are 16 bytes. `exclusive` is 0 for the inclusive scan and 1 for the exclusive one. `y` must be as long as
/// `x`, and `states` must be zeros, as many as [`state_words`](super::state_words) says. Any number of blocks of
/// [`THREADS`] threads, with [`RING_BYTES`] of dynamic shared memory.
#[kernel(
    max_threads = 256,
    min_blocks = 2,
    instances(T = [f32, i32, u32], O = [Sum, Product, Min, Max], V = [4]),
    instances(T = [f64, i64, u64], O = [Sum, Product, Min, Max], V = [2]),
    instances(T = [Affine], O = [Compose], V = [2])
)]
pub fn scan_pipelined<T: Element, O: Operator<T>, const V: usize>(
    x: Global<T>,
    y: GlobalMut<T>,
    exclusive: u32,
    states: GlobalMut<u64>,
) {
    assert!(x.len() == y.len() && thread::block_dim_x() == THREADS);
    let tickets = shared_array![u64; 2];
    let totals = shared_array![T; WARPS];
    let parts = shared_array![T; WARPS];
    let states = TileStates::<T>::new(states);
    let (lane, warp) = (warp::lane_id(), warp::warp_id() as usize);
    let is_first = thread::thread_idx_x() == 0;

    let tiles = x.len().div_ceil(tile_elements(V));
    let is_aligned = (x.as_ptr() as usize | y.as_ptr() as usize).is_multiple_of(16);
    let whole = if is_aligned { x.len() / tile_elements(V) } else { 0 };
    let first = warp * CHUNKS * LANES + lane as usize;
    let mut ring = Ring::<T, V>::new(x, first, whole, tiles);

    // The first thread draws a round ahead of the copies, so that nobody waits for a number.
    let mut drawn = 0;
    if is_first {
        tickets.store(0, states.draw());
        tickets.store(1, states.draw());
        drawn = states.draw();
    }
    thread::sync_threads();
    // The tile to sum, at `stage` of the ring, and the one that follows.
    let (mut tile, mut next) = (tickets.load(0) as usize, tickets.load(1) as usize);
    let mut stage = 0;
    ring.fetch::<O>(tile, 0);
    ring.fetch::<O>(next, 1);

    // The tile to scan, its aggregate, and what its warps before this one have.
    let (mut summed, mut its_aggregate, mut its_before_warp) = (NONE, O::IDENTITY, O::IDENTITY);
    // Tiles `..end` combined: those up to the last that this block has scanned.
    let (mut end, mut prefix) = (0, O::IDENTITY);
    loop {
        let has_summed = summed != NONE;
        let between = Between::new(states, end, if has_summed { summed } else { end }, warp);

        ring.wait();
        let exists = tile < tiles;
        if exists {
            let total = ring.reduce_warp::<O>(stage);
            if lane == 0 {
                totals.store(warp, total);
            }
        }
        thread::sync_threads();
        let (mut before_warp, mut aggregate) = (O::IDENTITY, O::IDENTITY);
        if exists {
            (before_warp, aggregate) = combine_warps::<T, O>(totals, warp);
        }
        if is_first {
            // Before anything is waited for.
            if exists {
                states.publish(tile, AGGREGATE, aggregate);
            }
            tickets.store(0, drawn);
            drawn = states.draw();
        }

        let free = if stage == 0 { STAGES - 1 } else { stage - 1 };
        let mut items = [[O::IDENTITY; V]; CHUNKS];
        if has_summed {
            items = ring.items::<O>(free);
            scan_warp::<T, O, V>(&mut items);
            if exclusive != 0 {
                move_up::<T, O, V>(&mut items);
            }
        }
        let part = between.combine::<O>();
        if lane == 0 {
            parts.store(warp, part);
        }
        thread::sync_threads();
        if has_summed {
            let (_, others) = combine_warps::<T, O>(parts, warp);
            let before = O::combine(prefix, others);
            let before_items = O::combine(before, its_before_warp);
            store::<T, O, V>(y, summed * (tile_elements(V) / V) + first, summed < whole, items, before_items);
            (end, prefix) = (summed + 1, O::combine(before, its_aggregate));
        }
        if !exists {
            break;
        }
        let following = tickets.load(0) as usize;
        ring.fetch::<O>(following, free);
        (summed, its_aggregate, its_before_warp) = (tile, aggregate, before_warp);
        (tile, next) = (next, following);
        stage = if stage == STAGES - 1 { 0 } else { stage + 1 };
    }
}
