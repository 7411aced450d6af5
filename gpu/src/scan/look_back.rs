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
#![allow(clippy::needless_range_loop, reason = "an iterator over an array puts it into local memory")]

use cuda_std::{Element, Global, GlobalMut, kernel, shared_array, thread, warp};

use super::tile_states::{AGGREGATE, PREFIX, TileStates};
use crate::operator::{Affine, Compose, Max, Min, Operator, Product, Sum};

/// Threads of a block.
pub const THREADS: u32 = 256;

/// Warps of a block.
pub const WARPS: usize = 8;

/// Vectors that a thread reads.
const CHUNKS: usize = 8;

const LANES: usize = warp::SIZE as usize;

/// Elements of a tile, of which `vector` are 16 bytes.
#[inline(always)]
pub const fn tile_elements(vector: usize) -> usize {
    THREADS as usize * CHUNKS * vector
}

/// The elements of a thread: its vector of each chunk.
type Items<T, const V: usize> = [[T; V]; CHUNKS];

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
    let mut items = load::<T, O, V>(x, first, is_whole);
    let total = scan_warp::<T, O, V>(&mut items);
    if lane == 0 {
        totals.store(warp, total);
    }
    if exclusive != 0 {
        move_up::<T, O, V>(&mut items);
    }
    thread::sync_threads();

    let (mut before_warp, mut aggregate) = (O::IDENTITY, O::IDENTITY);
    for other in 0..WARPS {
        if other == warp {
            before_warp = aggregate;
        }
        aggregate = O::combine(aggregate, totals.load(other));
    }
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

    store::<T, O, V>(y, first, is_whole, items, O::combine(before_tile.load(0), before_warp));
}

// The loops over the chunks below have small bodies: LLVM then unrolls them, and the elements stay in registers.

/// A thread's elements of the tile, from the vector `first` on; the identity past the array's end.
#[inline(always)]
fn load<T: Element, O: Operator<T>, const V: usize>(x: Global<T>, first: usize, is_whole: bool) -> Items<T, V> {
    let mut items = [[O::IDENTITY; V]; CHUNKS];
    if is_whole {
        for chunk in 0..CHUNKS {
            // SAFETY: the tile lies inside of `x`, which starts at a multiple of 16 bytes.
            items[chunk] = unsafe { x.load_vec_unchecked(first + chunk * LANES) };
        }
    } else {
        let left = left(x.len(), first * V);
        for chunk in 0..CHUNKS {
            for j in 0..V {
                let i = chunk * LANES * V + j;
                if (i as u32) < left {
                    // SAFETY: so many elements are left in `x`.
                    items[chunk][j] = unsafe { x.load_unchecked(first * V + i) };
                }
            }
        }
    }
    items
}

/// How many of `len` elements are left from `start` on, as far as a tile can tell.
#[inline(always)]
fn left(len: usize, start: usize) -> u32 {
    len.saturating_sub(start).min(u32::MAX as usize) as u32
}

/// Scans a warp's elements; gives all of them combined.
#[inline(always)]
fn scan_warp<T: Element, O: Operator<T>, const V: usize>(items: &mut Items<T, V>) -> T {
    let lane = warp::lane_id();
    for j in 1..V {
        for chunk in 0..CHUNKS {
            items[chunk][j] = O::combine(items[chunk][j - 1], items[chunk][j]);
        }
    }
    // The last element of each vector takes in the lanes before.
    let mut distance = 1;
    while distance < warp::SIZE {
        for chunk in 0..CHUNKS {
            let last = items[chunk][V - 1];
            let earlier = warp::shuffle_up(warp::FULL_MASK, last, distance);
            if lane >= distance {
                items[chunk][V - 1] = O::combine(earlier, last);
            }
        }
        distance *= 2;
    }
    // Then all elements take in the chunks before, and the others of each vector the lanes before.
    let mut carry = O::IDENTITY;
    for chunk in 0..CHUNKS {
        let last = items[chunk][V - 1];
        let earlier = warp::shuffle_up(warp::FULL_MASK, last, 1);
        let total = warp::shuffle_idx(warp::FULL_MASK, last, warp::SIZE - 1);
        let before = if lane == 0 { carry } else { O::combine(carry, earlier) };
        for j in 0..V - 1 {
            items[chunk][j] = O::combine(before, items[chunk][j]);
        }
        items[chunk][V - 1] = O::combine(carry, last);
        carry = O::combine(carry, total);
    }
    carry
}

/// Moves a warp's elements up by one, the identity before the first.
#[inline(always)]
fn move_up<T: Element, O: Operator<T>, const V: usize>(items: &mut Items<T, V>) {
    let lane = warp::lane_id();
    // What stands before the vector of the chunk's lane 0.
    let mut last = O::IDENTITY;
    for chunk in 0..CHUNKS {
        let end = items[chunk][V - 1];
        let before = warp::shuffle_up(warp::FULL_MASK, end, 1);
        let mut j = V - 1;
        while j > 0 {
            items[chunk][j] = items[chunk][j - 1];
            j -= 1;
        }
        items[chunk][0] = if lane == 0 { last } else { before };
        last = warp::shuffle_idx(warp::FULL_MASK, end, warp::SIZE - 1);
    }
}

/// Writes a thread's elements from the vector `first` on, `before` before each, as far as the array goes.
#[inline(always)]
fn store<T: Element, O: Operator<T>, const V: usize>(
    y: GlobalMut<T>,
    first: usize,
    is_whole: bool,
    mut items: Items<T, V>,
    before: T,
) {
    for j in 0..V {
        for chunk in 0..CHUNKS {
            items[chunk][j] = O::combine(before, items[chunk][j]);
        }
    }
    if is_whole {
        for chunk in 0..CHUNKS {
            // SAFETY: the tile lies inside of `y`, which starts at a multiple of 16 bytes.
            unsafe { y.store_vec_unchecked(first + chunk * LANES, items[chunk]) };
        }
    } else {
        let left = left(y.len(), first * V);
        for chunk in 0..CHUNKS {
            for j in 0..V {
                let i = chunk * LANES * V + j;
                if (i as u32) < left {
                    // SAFETY: so many elements are left in `y`.
                    unsafe { y.store_unchecked(first * V + i, items[chunk][j]) };
                }
            }
        }
    }
}
