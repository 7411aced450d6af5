//! Select by a pipeline of persistent blocks: each block copies one tile, gathers the selected elements of another, and
//! stores those of a third at the same time.
//!
//! In [`select_look_back()`](super::select_look_back()) a block processes a single tile, and is idle while it waits for
//! memory and for earlier tiles. Here the blocks, their team, the ring of tiles and the scout are those of
//! [`scan_pipelined()`](crate::scan::pipelined), whose header also argues that the kernel makes progress. In the round
//! of its tile number *i*, a block does this:
//!
//! - It finds the selected elements of tile *i*, which asynchronous copies have already stored in shared memory.
//! - After a barrier, it publishes their number and starts the copies of a later tile.
//! - It gathers the selected elements in the place of tile *i* itself: all threads have their elements in registers.
//! - It stores the gathered elements of tile *i* − [`LAG`]. The scout has meanwhile found how many elements earlier
//!   tiles select, and now computes this number for the next round.
//!
//! A round has one barrier, because the threads read what other warps have written in shared memory only in the next
//! round, and these words exist twice.
//!
//! Asynchronous copies fill the tile in whole lines. Each thread then reads consecutive elements, after its warp has
//! waited for the copies: a single scan across the lanes ranks all elements of the warp. The number of vectors per
//! thread is odd, so the reads have no bank conflicts. What a predicate reads beside the elements of the thread is
//! loaded one round earlier ([`Beside`]).
//!
//! The kernel is limited by memory. Source: this project.

use cuda_std::{Element, Global, GlobalMut, kernel, shared_array, thread, warp};

use super::predicate::{ByFlag, InRange, Predicate, Reads, RunStart};
use super::tuning::{AHEAD, LAG, PIPELINED_CHUNKS as CHUNKS, PIPELINED_THREADS, STAGES, pipelined_tile_elements};
use crate::collective::LANES;
use crate::collective::block::warp_prefix;
use crate::collective::compaction::store_lines;
use crate::collective::tile::left;
use crate::collective::warp::warp_inclusive_scan;
use crate::operator::Sum;
use crate::scan::tuning::PIPELINED_WARPS as WARPS;
use crate::scan::{AGGREGATE, Gap, MAX_TILES, NO_TILE, Ring, TileStates, state_words, team};

mod items;

use items::{Beside, Items, Side, gather, gather_both};

/// The number of threads that have elements.
const WORKERS: u32 = WARPS as u32 * warp::SIZE;

/// Moves the selected elements of `x` to `y` and the others to `rejected`, both in order, and the number of selected
/// elements to `count`, in one pass by persistent blocks.
///
/// `V` must be the number of elements in 16 bytes. Elements that do not fit into `y` or `rejected` are not stored; an
/// empty `rejected` costs nothing. `flags` must be as long as `x` if the predicate reads flags. `count` must have one
/// element. The kernel is fast if `x` starts at a multiple of 16 bytes, and `flags` at a multiple of `V`. `states` must
/// have [`state_words`] elements for `u32`, zero before the first launch. Between launches the host must not change
/// them. Launches with the same `states` must have the same number of tiles and run one after the other. Launch any
/// number of blocks of [`PIPELINED_THREADS`] threads, with [`RING_BYTES`](super::tuning::RING_BYTES) of dynamic shared
/// memory.
#[kernel(
    max_threads = 288,
    min_blocks = 2,
    instances(T = [u32], P = [InRange, ByFlag, RunStart], V = [4]),
    instances(T = [u64], P = [InRange, ByFlag, RunStart], V = [2]),
    wide(copies)
)]
pub fn select_pipelined<T: Element, P: Predicate<T>, const V: usize>(
    x: Global<T>,
    flags: Global<u8>,
    predicate: P,
    y: GlobalMut<T>,
    rejected: GlobalMut<T>,
    count: GlobalMut<u64>,
    states: GlobalMut<u64>,
) {
    assert!(thread::block_dim_x() == PIPELINED_THREADS);
    assert!(<P as Predicate<T>>::READS != Reads::Flag || flags.len() == x.len());
    let elements = pipelined_tile_elements(V);
    // An empty input has one tile, whose block writes the count.
    let tiles = x.len().div_ceil(elements).max(1);
    // Tile numbers have 32 bits, which saves registers.
    assert!(states.len() >= state_words::<u32>(tiles) && tiles < MAX_TILES);
    let tiles = tiles as u32;
    let deal = shared_array![u32; 3];
    let totals = shared_array![u32; 2 * WARPS];
    let before = shared_array![u64; 2];
    let (thread, lane, warp) = (thread::thread_idx_x(), warp::lane_id(), warp::warp_id() as usize);
    let is_scout = warp == WARPS;
    let whole = if (x.as_ptr() as usize).is_multiple_of(16) { (x.len() / elements) as u32 } else { 0 };
    // The index of the warp's first vector in a tile. The scout has no vectors.
    let first = warp.min(WARPS - 1) * CHUNKS * LANES;
    let mut ring = Ring::<T, V, CHUNKS, STAGES>::new(x, first + lane as usize, whole, tiles);
    let side = Side::new(x, flags, (first + lane as usize * CHUNKS) * V);

    let joined = team::join(states, deal, tiles, AHEAD as u32, |tile, stage| {
        if !is_scout {
            ring.fetch(tile, stage);
        }
    });
    let Some(team::Member { epoch, mut tile, team, .. }) = joined else { return };
    let states = TileStates::<u32>::new(states, epoch);
    let mut beside = Beside::load::<P, V>(&side, tile);
    // The tiles of the last rounds, the last one first.
    let mut past = [Counted::NONE; LAG];
    // The number of selected elements up to the end of the last tile that the scout has processed, in its lane 0.
    let mut prefix = 0_u64;
    // The slot of the ring with this round's tile, and which half of the words in shared memory this round writes.
    let (mut stage, mut half) = (0, 0);
    loop {
        let exists = tile < tiles;
        let mut items = None;
        if !is_scout {
            ring.wait::<{ AHEAD - 1 }>();
            // The lanes read what other lanes of their warp have copied.
            warp::sync_warp(warp::FULL_MASK);
            if exists {
                // SAFETY: the slot has all vectors of the tile, and those of this thread are among them.
                let mut found = unsafe { Items::load(ring.slot(stage as usize), first + lane as usize * CHUNKS) };
                found.select(predicate, &side, &beside, (tile, tile < whole));
                let chosen = found.chosen.count_ones();
                let through = warp_inclusive_scan::<u32, Sum>(chosen);
                found.rank = through - chosen;
                if lane == warp::SIZE - 1 {
                    // SAFETY: there are two halves with one word per warp, and the scout is not here.
                    unsafe { totals.store_unchecked(half as usize * WARPS + warp, through) };
                }
                items = Some(found);
            }
        }
        thread::sync_threads();
        let (mut this, mut before_warp) = (Counted::NONE, 0);
        if exists {
            // SAFETY: there are two halves with one word per warp.
            let totals = unsafe { totals.part_unchecked(half as usize * WARPS, WARPS) };
            (before_warp, this.count) = warp_prefix::<u32, Sum, WARPS>(totals, warp);
            this.tile = tile;
        }
        if is_scout {
            let next = if LAG == 1 { this } else { past[LAG.saturating_sub(2)] };
            if next.exists() {
                // The distance between two tiles of a block is the size of the team.
                let first = (next.tile + 1).saturating_sub(team);
                // SAFETY: the assertion above has checked that all tiles have words, and the gap ends at an existing
                // tile.
                let gap = unsafe { Gap::look(states, first, next.tile) };
                prefix += u64::from(gap.combine::<Sum>());
                if lane == 0 {
                    // SAFETY: there are two words.
                    unsafe { before.store_unchecked(1 - half as usize, prefix) };
                }
                prefix += u64::from(next.count);
                if lane == 0 && next.tile + 1 == tiles {
                    count.store(0, prefix);
                }
            }
        } else {
            // The elements of the oldest tile were stored in the last round, so its slot is free.
            ring.fetch(tile + AHEAD as u32 * team, later(stage, AHEAD));
            beside = Beside::load::<P, V>(&side, tile + team);
            if let Some(items) = &mut items {
                if thread == 0 {
                    states.publish(tile as usize, AGGREGATE, this.count);
                }
                items.rank += before_warp;
                let slot = ring.slot(stage as usize).cast::<T>();
                // SAFETY: the slot has a place for each element of the tile, and all threads have read theirs.
                unsafe {
                    if rejected.is_empty() {
                        gather(slot, items);
                    } else {
                        gather_both(slot, items, this.count + side.first as u32);
                    }
                }
            }
            let oldest = past[LAG - 1];
            if oldest.exists() {
                // SAFETY: there are two words.
                let before = unsafe { before.load_unchecked(half as usize) } as usize;
                let slot = ring.slot(later(stage, STAGES - LAG)).cast();
                store_lines::<T, WORKERS>(y, before, slot, oldest.count, thread);
                if !rejected.is_empty() {
                    let start = oldest.tile as usize * elements;
                    let others = left(x.len(), start).min(elements as u32) - oldest.count;
                    // SAFETY: the selected elements and the others are together at most as many as a tile has.
                    let place = unsafe { slot.part_unchecked(oldest.count as usize, others as usize) };
                    store_lines::<T, WORKERS>(rejected, start - before, place, others, thread);
                }
            }
        }
        let mut is_done = !exists;
        for earlier in (1..LAG).rev() {
            past[earlier] = past[earlier - 1];
            is_done &= !past[earlier].exists();
        }
        past[0] = this;
        if is_done {
            break;
        }
        tile += team;
        stage = later(stage, 1) as u32;
        half = 1 - half;
    }
}

/// Returns the slot that is `distance` slots after the slot `stage` in the ring.
#[inline(always)]
fn later(stage: u32, distance: usize) -> usize {
    let stage = stage + distance as u32;
    (if stage < STAGES as u32 { stage } else { stage - STAGES as u32 }) as usize
}

/// A tile with the number of its selected elements, or no tile.
#[derive(Clone, Copy)]
struct Counted {
    /// The number of the tile, or [`NO_TILE`].
    tile: u32,
    count: u32,
}

impl Counted {
    const NONE: Self = Self { tile: NO_TILE, count: 0 };

    #[inline(always)]
    fn exists(self) -> bool {
        self.tile != NO_TILE
    }
}
