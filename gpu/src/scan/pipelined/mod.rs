//! Scan by a pipeline of persistent blocks: each block copies one tile, sums another and scans a third at the same
//! time. To *sum* a tile means to compute its aggregate with any operator. The *sum* of a tile is its aggregate.
//!
//! In the look-back scan, a block processes a single tile, and is idle while it waits for memory and for earlier tiles.
//! Here the grid has only as many blocks as fit on the device, and each block processes many tiles. In the round that
//! sums its tile number *i*, a block does this:
//!
//! - It sums tile *i*, which asynchronous copies have already stored in shared memory, and publishes the sum.
//! - It scans tile *i* − 2, which is still in shared memory, and stores the result.
//! - It starts the copies of tile *i* + 2 to the shared memory of tile *i* − 2.
//! - A separate warp of the block, the scout, combines the sums that other blocks have published.
//!
//! A block needs the sums of other blocks two rounds after their publication, so it seldom has to wait for them.
//!
//! No block publishes a prefix. A block knows the prefix up to the end of its previous tile. Between this tile and the
//! block's next tile, every other block has one tile. The block combines the prefix with the sums of these tiles. A
//! tile therefore never waits for the prefix of another tile.
//!
//! Forward progress: only blocks that have started get tiles; they form the [`team`]. In each round, a block publishes
//! the sum of one tile and scans the tile that it summed two rounds earlier. It waits only for the sums of tiles before
//! the tile that it scans. Suppose that the sums of some tiles are never published, and let *u* be the first such tile.
//! Before its block publishes the sum of *u*, the block waits only for sums of tiles before *u*, which are published.
//! The block therefore publishes the sum of *u*, which is a contradiction. The argument does not depend on how many
//! blocks of the grid fit on the device. Two such scans may therefore run at the same time.
//!
//! The order of the operands does not depend on which block processes which tile, but their grouping does. The results
//! of two runs with floats may therefore differ by rounding.
//!
//! The kernel is limited by memory. Persistent blocks do not quite reach the device's copy bandwidth, even in a plain
//! copy through the same ring of tiles. The waits for other blocks do not make the scan slower than that copy. The
//! following choices made this possible; `docs/notes/scan.md` has the measurements:
//!
//! - The blocks of the team take the tiles in a fixed order. If they drew tiles from a counter, a late block would draw
//!   several consecutive tiles when it catches up. All other blocks would then wait for this block.
//! - Only the scout waits for the sums of other blocks. It does not reload words that it already has. It does not load
//!   words beyond its gap (the tiles between two tiles of its block), because other blocks are writing them.
//! - The copies of a new tile start as soon as the tile that they replace is in registers, before the block waits for
//!   other blocks.
//! - A block scans a tile two rounds after it has summed the tile, instead of one round after.
//!
//! Source: this project. The states of the tiles and their order follow D. Merrill, M. Garland, "Single-pass Parallel
//! Prefix Scan with Decoupled Look-back", NVIDIA, 2016.

use cuda_std::{Element, Global, GlobalMut, kernel, shared_array, thread, warp};

use super::head::scan_head;
use super::tile_states::{AGGREGATE, TileStates, state_words};
use super::tuning::{
    PIPELINED_CHUNKS as CHUNKS, PIPELINED_THREADS, PIPELINED_WARPS as WARPS, STAGES, pipelined_tile_elements,
};
use crate::collective::LANES;
use crate::collective::block::warp_prefix;
use crate::collective::tile::{scan_vectors, store, warp_scan};
use crate::operator::{Affine, Compose, Max, Min, Operator, Product, Sum};

mod gap;
mod ring;
pub mod team;

pub use gap::Gap;
pub use ring::Ring;
pub use team::TEAM;

/// An upper limit for the number of tiles, more than any memory holds. Three times this number still fits into 32 bits.
pub const MAX_TILES: usize = 1 << 30;

/// The tile number that means "no tile".
pub const NO_TILE: u32 = u32::MAX;

/// Writes the scan of `head_x` followed by `x` to `head_y` and `y` in one pass, by persistent blocks.
///
/// `V` must be the number of elements in 16 bytes. The heads are the elements before the first cache line of `y`, at
/// most 32 and possibly none ([`head_of`](super::head_of)). All blocks read `head_x`. `exclusive` must be 0 for the
/// inclusive scan and 1 for the exclusive scan. `y` must be as long as `x`, and `head_y` as long as `head_x`. `states`
/// must have [`state_words`](super::state_words) elements, zero before the first launch. Between launches the host must
/// not change them. Launches with the same `states` must have the same total length of `head_y` and `y`, and run one
/// after the other. Launch any number of blocks of [`PIPELINED_THREADS`] threads, with
/// [`RING_BYTES`](super::RING_BYTES) of dynamic shared memory.
#[kernel(
    max_threads = 288,
    min_blocks = 2,
    instances(T = [f32, i32, u32], O = [Sum, Product, Min, Max], V = [4]),
    instances(T = [f64, i64, u64], O = [Sum, Product, Min, Max], V = [2]),
    instances(T = [Affine], O = [Compose], V = [2]),
    wide(copies, stores),
    exported = "scan"
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
    // Tile numbers have 32 bits, which saves registers.
    assert!(states.len() >= state_words::<T>(tiles) && tiles < MAX_TILES);
    let tiles = tiles as u32;
    let is_aligned = (x.as_ptr() as usize | y.as_ptr() as usize).is_multiple_of(16);
    let whole = if is_aligned { (x.len() / pipelined_tile_elements(V)) as u32 } else { 0 };
    // The index of the thread's first vector in a tile. The scout has no vectors.
    let first = warp.min(WARPS - 1) * CHUNKS * LANES + lane as usize;
    let mut ring = Ring::<T, V, CHUNKS, STAGES>::new(x, first, whole, tiles);

    // Before the first round, the block starts the copies of two tiles.
    let joined = team::join(states, deal, tiles, 2, |tile, stage| {
        if !is_scout {
            ring.fetch(tile, stage);
        }
    });
    let Some(team::Member { epoch, number, mut tile, team }) = joined else { return };
    let states = TileStates::<T>::new(states, epoch);
    // The tile to sum is in slot `stage` of the ring.
    let mut stage = 0;

    // The tile that the block summed two rounds ago, which this round scans, and the tile that it summed in the last
    // round.
    let (mut before_last, mut last) = (Summed::none::<O>(), Summed::none::<O>());
    // The prefix up to the end of the last tile that this block has scanned, in the scout's lane 0.
    let mut prefix = O::IDENTITY;
    if is_scout {
        prefix = scan_head::<T, O>(head_x, head_y, exclusive != 0, number == 0);
    }
    loop {
        let exists = tile < tiles;
        if !is_scout {
            ring.wait::<1>();
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
                // The distance between two tiles of a block is the size of the team.
                let first = (before_last.tile + 1).saturating_sub(team);
                // SAFETY: the assertion above has checked that all tiles have words, and the gap ends at an existing
                // tile.
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
            // The tile to scan is now in registers, so its slot in the ring is free. The new copies run while the scout
            // waits for other blocks.
            ring.fetch(tile + 2 * team, oldest);
        }
        thread::sync_threads();
        if !is_scout && before_last.exists() {
            let first = before_last.tile as usize * (pipelined_tile_elements(V) / V) + first;
            let before = O::combine(before_tile.load(0), before_last.before_warp);
            // SAFETY: if `before_last.tile < whole`, the whole tile is in `y`, which starts at a multiple of 16 bytes.
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

/// A tile that the block has summed, with the values that one thread needs to scan it.
#[derive(Clone, Copy)]
pub struct Summed<T> {
    /// The number of the tile, or `NO_TILE`.
    pub tile: u32,
    /// The aggregate of the tile.
    pub aggregate: T,
    /// The combination of the tile's items in the warps before the thread's own.
    pub before_warp: T,
}

impl<T: Element> Summed<T> {
    /// Returns the value that stands for no tile.
    #[inline(always)]
    pub fn none<O: Operator<T>>() -> Self {
        Self { tile: NO_TILE, aggregate: O::IDENTITY, before_warp: O::IDENTITY }
    }

    /// Returns true unless the value stands for no tile.
    #[inline(always)]
    pub fn exists(&self) -> bool {
        self.tile != NO_TILE
    }
}
