//! A tile in a block's registers: what the single-pass scans load, scan and store.
//!
//! A warp has 8 chunks of 32 vectors of 16 bytes, a vector of each chunk a lane. Each lane scans its vectors, a scan by
//! shuffles links the lanes, and a carry links the chunks. Tiles that are not whole, and arrays that do not start at a
//! multiple of 16 bytes, take a path that checks each element.
#![allow(clippy::needless_range_loop, reason = "an iterator over an array puts it into local memory")]

use cuda_std::{Element, Global, GlobalMut, Shared, opaque, warp};

use crate::operator::Operator;

/// Threads of a block.
pub const THREADS: u32 = 256;

/// Warps of a block.
pub const WARPS: usize = 8;

/// The most vectors that a thread reads.
pub const CHUNKS: usize = 8;

pub(super) const LANES: usize = warp::SIZE as usize;

/// Elements of a tile of which each thread reads `chunks` vectors, of `vector` elements.
#[inline(always)]
pub const fn tile_elements(chunks: usize, vector: usize) -> usize {
    THREADS as usize * chunks * vector
}

/// The elements of a thread: its vector of each chunk.
pub(super) type Items<T, const V: usize, const C: usize> = [[T; V]; C];

// The loops over the chunks below have small bodies: LLVM then unrolls them, and the elements stay in registers.

/// A thread's elements of the first `chunks` chunks of the tile, from the vector `first` on; the identity past the array's
/// end and in other chunks.
#[inline(always)]
pub(super) fn load<T: Element, O: Operator<T>, const V: usize, const C: usize>(
    x: Global<T>,
    first: usize,
    chunks: u32,
    is_whole: bool,
) -> Items<T, V, C> {
    let mut items = [[O::IDENTITY; V]; C];
    if is_whole {
        for chunk in 0..C {
            if (chunk as u32) < chunks {
                // SAFETY: the tile lies inside of `x`, which starts at a multiple of 16 bytes.
                items[chunk] = unsafe { x.load_vec_unchecked(first + chunk * LANES) };
            }
        }
    } else {
        for chunk in 0..C {
            if (chunk as u32) < chunks {
                items[chunk] = load_vector_checked::<T, O, V>(x, first, chunk);
            }
        }
    }
    items
}

/// The vector of `chunk`, element by element, of a tile that need not be whole nor aligned.
#[inline(always)]
pub(super) fn load_vector_checked<T: Element, O: Operator<T>, const V: usize>(
    x: Global<T>,
    first: usize,
    chunk: usize,
) -> [T; V] {
    let left = left(x.len(), first * V);
    let mut vector = [O::IDENTITY; V];
    for j in 0..V {
        let i = chunk * LANES * V + j;
        if (i as u32) < left {
            // SAFETY: so many elements are left in `x`.
            vector[j] = unsafe { x.load_unchecked(first * V + i) };
        }
    }
    vector
}

/// How many of `len` elements are left from `start` on, as far as a tile can tell.
#[inline(always)]
fn left(len: usize, start: usize) -> u32 {
    len.saturating_sub(start).min(u32::MAX as usize) as u32
}

/// The lanes' values combined in order, in lane 0.
#[inline(always)]
pub(super) fn reduce_lanes<T: Element, O: Operator<T>>(mut value: T) -> T {
    let mut distance = 1;
    while distance < warp::SIZE {
        // In the lanes without one so far above, what is not used for lane 0.
        value = O::combine(value, warp::shuffle_down(warp::FULL_MASK, value, distance));
        distance *= 2;
    }
    value
}

/// Scans each of a thread's vectors by itself.
#[inline(always)]
pub(super) fn scan_vectors<T: Element, O: Operator<T>, const V: usize, const C: usize>(items: &mut Items<T, V, C>) {
    for j in 1..V {
        for chunk in 0..C {
            items[chunk][j] = O::combine(items[chunk][j - 1], items[chunk][j]);
        }
    }
}

/// A warp's elements, whose vectors have been scanned, combined in order: in lane 0.
#[inline(always)]
pub(super) fn reduce_warp<T: Element, O: Operator<T>, const V: usize, const C: usize>(items: &Items<T, V, C>) -> T {
    let mut all = O::IDENTITY;
    for chunk in 0..C {
        let vector = items[chunk][V - 1];
        all = O::combine(all, if O::COMMUTATIVE { vector } else { reduce_lanes::<T, O>(vector) });
    }
    if O::COMMUTATIVE { reduce_lanes::<T, O>(all) } else { all }
}

/// What the warps before `warp`, and all `W` warps, have in `totals`.
#[inline(always)]
pub(super) fn combine_warps<T: Element, O: Operator<T>, const W: usize>(totals: Shared<T>, warp: usize) -> (T, T) {
    let (mut before_warp, mut all) = (O::IDENTITY, O::IDENTITY);
    for other in 0..W {
        if other == warp {
            before_warp = all;
        }
        all = O::combine(all, totals.load(other));
    }
    (before_warp, all)
}

/// Scans a warp's elements, whose vectors have been scanned; where `exclusive` each without itself.
///
/// If `SETTLE`, the elements are computed here: sums of integers would else be grouped otherwise, across what follows, and
/// some kernels take more registers for that.
#[inline(always)]
pub(super) fn scan_warp<T: Element, O: Operator<T>, const V: usize, const C: usize, const SETTLE: bool>(
    items: &mut Items<T, V, C>,
    exclusive: bool,
) {
    let lane = warp::lane_id();
    // The last element of each vector takes in the lanes before.
    let mut distance = 1;
    while distance < warp::SIZE {
        for chunk in 0..C {
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
    for chunk in 0..C {
        let last = items[chunk][V - 1];
        let earlier = warp::shuffle_up(warp::FULL_MASK, last, 1);
        let total = warp::shuffle_idx(warp::FULL_MASK, last, warp::SIZE - 1);
        let before = if lane == 0 { carry } else { O::combine(carry, earlier) };
        if exclusive {
            for j in (1..V).rev() {
                items[chunk][j] = O::combine(before, items[chunk][j - 1]);
            }
            items[chunk][0] = before;
        } else {
            for j in 0..V - 1 {
                items[chunk][j] = O::combine(before, items[chunk][j]);
            }
            items[chunk][V - 1] = O::combine(carry, last);
        }
        if SETTLE && O::COMMUTATIVE {
            items[chunk] = items[chunk].map(opaque);
        }
        carry = O::combine(carry, total);
    }
}

/// Writes a thread's elements of the first `chunks` chunks from the vector `first` on, `before` before each, as far as the
/// array goes.
#[inline(always)]
pub(super) fn store<T: Element, O: Operator<T>, const V: usize, const C: usize>(
    y: GlobalMut<T>,
    first: usize,
    chunks: u32,
    is_whole: bool,
    mut items: Items<T, V, C>,
    before: T,
) {
    for j in 0..V {
        for chunk in 0..C {
            items[chunk][j] = O::combine(before, items[chunk][j]);
        }
    }
    if is_whole {
        for chunk in 0..C {
            if (chunk as u32) < chunks {
                // SAFETY: the tile lies inside of `y`, which starts at a multiple of 16 bytes.
                unsafe { y.store_vec_unchecked(first + chunk * LANES, items[chunk]) };
            }
        }
    } else {
        let left = left(y.len(), first * V);
        for chunk in 0..C {
            for j in 0..V {
                let i = chunk * LANES * V + j;
                if (chunk as u32) < chunks && (i as u32) < left {
                    // SAFETY: so many elements are left in `y`.
                    unsafe { y.store_unchecked(first * V + i, items[chunk][j]) };
                }
            }
        }
    }
}
