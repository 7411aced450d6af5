//! A pipeline: blocks that stay, each with tiles on their way, a tile that it sums, and a tile that it scans. (To *sum* a
//! tile is to compute its aggregate, and the *sums* are the aggregates, whatever the operator.)
//!
//! What it changes: with look-back a block lives for one tile, and while it waits, for its elements and then for the tiles
//! before it, it does nothing else. Here a grid that fills the device once takes tile after tile. In a round a block sums
//! tile *i*, which asynchronous copies have brought to shared memory, and publishes the sum; it scans tile *i* − 2, which
//! still lies there, and stores it; and it has the copies of tile *i* + 2 begin in its place. Meanwhile a warp of its own,
//! the scout, takes in the other blocks' sums. Two rounds lie between the publication of a sum and its use, so that it is
//! there when it is looked for.
//!
//! No tile publishes a prefix. A block knows the prefix up to the end of its last tile, and takes in the sums of the tiles
//! between that one and its next, which the other blocks have: one fewer than there are blocks. So there is no chain of tiles
//! that wait for one another.
//!
//! Forward progress: the [`team`] of the blocks that have started deals the tiles out in turn. In the round in which a block
//! has published the sum of its tile *t*, it waits for the sums of the tiles before the tile that it had two rounds earlier,
//! and for nothing else. Suppose that there are tiles whose sums are never published, and let *u* be the first. Before its block
//! publishes *u*, it only waits for sums of tiles before *u*, which are published; so it publishes *u*, a contradiction.
//! It does not matter how many of the grid's blocks find room on the device: two such scans may run beside each other.
//!
//! The order of the operands does not depend on who takes which tile, but their grouping does: with floats, results of two
//! runs may differ by rounding.
//!
//! Limited by memory. A grid that stays does not quite reach the speed of the device's copy, not even for a bare copy through
//! the same ring; the waits for other blocks cost nothing beyond that. What made the difference, with figures in
//! `docs/notes/scan.md`:
//!
//! - Tiles are dealt out by a team. A block that draws them one by one, a few rounds ahead, draws several in a row when it
//!   catches up, and all others then wait for it.
//! - Nobody but the scout waits for its loads. It reads neither words again that it has, nor words beyond its gap, which other
//!   blocks are just writing.
//! - Copies begin as soon as the tile that they replace is in registers, before other blocks are waited for.
//! - A tile is scanned two rounds after it was summed, not one.
//!
//! Source: own; the tiles' states and their order after D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with
//! Decoupled Look-back", NVIDIA, 2016.

use cuda_std::{Element, Global, GlobalMut, kernel, opaque, shared_array, thread, warp};

use super::head::scan_head;
use super::tile_states::{AGGREGATE, Ticket, TileStates, state_words};
use super::tuning::{
    PIPELINED_CHUNKS as CHUNKS, PIPELINED_THREADS, PIPELINED_WARPS as WARPS, STAGES, pipelined_tile_elements,
};
use crate::collective::LANES;
use crate::collective::block::warp_prefix;
use crate::collective::tile::{scan_vectors, store, warp_scan};
use crate::operator::{Affine, Compose, Max, Min, Operator, Product, Sum};

mod gap;
mod ring;
mod team;

use gap::Gap;
use ring::Ring;
pub use team::TEAM;

/// More tiles than any memory holds. Three times this number still has 32 bits.
const MOST_TILES: usize = 1 << 30;

/// The number of no tile.
const NO_TILE: u32 = u32::MAX;

/// `head_y` and then `y` = the scan of `head_x` and then `x` in one pass, by blocks that each scan tile after tile.
///
/// `V` elements are 16 bytes. The heads are of at most 32 elements, or none ([`head_of`](super::head_of)): all blocks read them.
/// `exclusive` is 0 for the inclusive scan and 1 for the exclusive one. `y` must be as long as `x`, and `head_y` as `head_x`.
/// `states` are as many words as [`state_words`](super::state_words) says: zeros before the first launch, and left alone between
/// launches, which must be for the same `head_y` and `y` together, one after the other. Any number of blocks of
/// [`PIPELINED_THREADS`], with [`RING_BYTES`](super::RING_BYTES) of dynamic shared memory.
#[kernel(
    max_threads = 288,
    min_blocks = 2,
    instances(T = [f32, i32, u32], O = [Sum, Product, Min, Max], V = [4]),
    instances(T = [f64, i64, u64], O = [Sum, Product, Min, Max], V = [2]),
    instances(T = [Affine], O = [Compose], V = [2]),
    wide(copies, stores)
)]
pub fn scan_pipelined<T: Element, O: Operator<T>, const V: usize>(
    head_x: Global<T>,
    head_y: GlobalMut<T>,
    x: Global<T>,
    y: GlobalMut<T>,
    exclusive: u32,
    states: GlobalMut<u64>,
) {
    assert!(
        x.len() == y.len()
            && head_x.len() == head_y.len()
            && head_x.len() <= LANES
            && thread::block_dim_x() == PIPELINED_THREADS
    );
    let deal = shared_array![u32; 3];
    let totals = shared_array![T; WARPS];
    let before_tile = shared_array![T; 1];
    let (lane, warp) = (warp::lane_id(), warp::warp_id() as usize);
    let is_first = thread::thread_idx_x() == 0;
    let is_scout = warp == WARPS;

    let tiles = x.len().div_ceil(pipelined_tile_elements(V));
    // Tiles' numbers of 32 bits save registers.
    assert!(states.len() >= state_words::<T>(tiles) && tiles < MOST_TILES);
    let tiles = tiles as u32;
    let is_aligned = (x.as_ptr() as usize | y.as_ptr() as usize).is_multiple_of(16);
    let whole = if is_aligned { (x.len() / pipelined_tile_elements(V)) as u32 } else { 0 };
    // The thread's first vector in a tile. The scout has none.
    let first = warp.min(WARPS - 1) * CHUNKS * LANES + lane as usize;
    let mut ring = Ring::<T, V>::new(x, first, whole, tiles);

    let ticket = if is_first { Ticket::draw(states) } else { Ticket::default() };
    if is_first {
        deal.store(0, ticket.tile());
        deal.store(1, ticket.epoch());
        ticket.begin_next(states, thread::grid_dim_x());
    }
    thread::sync_threads();
    let (number, words, states) = (deal.load(0), states, TileStates::<T>::new(states, deal.load(1)));
    // There are more blocks than tiles.
    if number >= tiles {
        return;
    }
    // The tile to sum, at `stage` of the ring. Two tiles are on their way before the first round; neither compiler knows how many, so
    // that `fetch` has one place here.
    let (mut tile, mut team, mut stage) = (number, 0, 0);
    while stage < opaque(2_u32) as usize {
        if !is_scout {
            ring.fetch(tile + stage as u32 * team, stage);
        }
        if stage == 0 {
            if is_first {
                deal.store(2, team::size(words, ticket, thread::grid_dim_x()));
            }
            thread::sync_threads();
            team = deal.load(2).min(tiles);
            if number >= team {
                // The block has come late: it ends after a round without a tile.
                tile = tiles;
            }
        }
        stage += 1;
    }
    stage = 0;

    // The tiles that were summed two rounds ago and in the last round: the former is scanned in this round.
    let (mut before_last, mut last) = (Summed::none::<O>(), Summed::none::<O>());
    // The prefix up to the end of the last tile that this block has scanned. For the scout's first lane.
    let mut prefix = O::IDENTITY;
    if is_scout {
        prefix = scan_head::<T, O>(head_x, head_y, exclusive != 0, number == 0);
    }
    loop {
        let exists = tile < tiles;
        if !is_scout {
            ring.wait();
            if exists {
                let total = ring.warp_aggregate::<O>(stage);
                if lane == 0 {
                    totals.store(warp, total);
                }
            }
        }
        thread::sync_threads();
        let mut this = Summed::none::<O>();
        if exists {
            let (before_warp, aggregate) = warp_prefix::<T, O, WARPS>(totals, warp);
            this = Summed { tile, aggregate, before_warp };
        }
        let mut items = [[O::IDENTITY; V]; CHUNKS];
        if is_scout {
            if before_last.exists() {
                // A block's tiles are as far apart as the team is large.
                let first = (before_last.tile + 1).saturating_sub(team);
                // SAFETY: there are words for all tiles, of which the gap ends with one.
                let gap = unsafe { Gap::look(states, first, before_last.tile) };
                prefix = O::combine(prefix, gap.combine::<O>());
                if lane == 0 {
                    before_tile.store(0, prefix);
                }
                prefix = O::combine(prefix, before_last.aggregate);
            }
        } else {
            if is_first && exists {
                states.publish(tile as usize, AGGREGATE, this.aggregate);
            }
            let oldest = (stage + 2) % STAGES;
            if before_last.exists() {
                items = ring.items::<O>(oldest);
                scan_vectors::<T, O, V, CHUNKS>(&mut items);
                warp_scan::<T, O, V, CHUNKS>(&mut items, exclusive != 0, None);
            }
            // What lay there is in registers: the copies are under way while the scout waits for others.
            ring.fetch(tile + 2 * team, oldest);
        }
        thread::sync_threads();
        if !is_scout && before_last.exists() {
            let first = before_last.tile as usize * (pipelined_tile_elements(V) / V) + first;
            let before = O::combine(before_tile.load(0), before_last.before_warp);
            // SAFETY: a whole tile lies in `y`, which then starts at a multiple of 16 bytes.
            unsafe { store::<T, O, V, CHUNKS>(y, first, CHUNKS as u32, before_last.tile < whole, items, before) };
        }
        if !exists && !last.exists() {
            break;
        }
        (before_last, last) = (last, this);
        tile += team;
        stage = (stage + 1) % STAGES;
    }
}

/// What a thread knows of a tile of its block that has been summed.
#[derive(Clone, Copy)]
struct Summed<T> {
    /// Its number, or [`NO_TILE`].
    tile: u32,
    /// Its aggregate.
    aggregate: T,
    /// What the warps before the thread's have of it.
    before_warp: T,
}

impl<T: Element> Summed<T> {
    #[inline(always)]
    fn none<O: Operator<T>>() -> Self {
        Self { tile: NO_TILE, aggregate: O::IDENTITY, before_warp: O::IDENTITY }
    }

    #[inline(always)]
    fn exists(&self) -> bool {
        self.tile != NO_TILE
    }
}
