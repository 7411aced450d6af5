//! A tile in a block's registers: load, scan, store.
//!
//! Each warp has a part of the tile to itself, in chunks of 32 vectors of 16 bytes, and each lane has one vector of every
//! chunk: so the accesses of a warp are whole lines, and a thread's addresses differ by constants. With vectors of `V`
//! elements and `C` chunks there are `V·C` items per thread. (CUB calls this arrangement warp-striped.)
//!
//! A warp scans its part in steps: each lane scans each of its vectors by itself ([`scan_vectors`]), a scan across the lanes
//! links the vectors of a chunk, and a carry links the chunks (both in [`warp_scan`]). A tile that is not whole, and an array
//! that does not start at a multiple of 16 bytes, are loaded and stored element by element.
#![allow(clippy::needless_range_loop, reason = "an iterator over an array puts it into local memory")]

use cuda_std::warp::Shuffle;
use cuda_std::{Element, Global, GlobalMut, opaque, warp};

use super::LANES;
use super::warp::RowReduce;
use crate::operator::Operator;

/// The items of a thread: its vector of each chunk.
pub type Items<T, const V: usize, const C: usize> = [[T; V]; C];

// The loops over the chunks below have small bodies: LLVM then unrolls them, and the items stay in registers.

/// A thread's items of the first `chunks` chunks of a tile, the first of which is vector `first` of `x`. Past the array's end,
/// and in other chunks, they are the identity.
///
/// # Safety
/// If `is_whole`, `x` must start at a multiple of 16 bytes and have the vectors `first + 32·chunk` of all these chunks.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub unsafe fn load<T: Element, const V: usize, const C: usize>(
    x: Global<T>,
    first: usize,
    chunks: u32,
    is_whole: bool,
    identity: T,
) -> Items<T, V, C> {
    let mut items = [[identity; V]; C];
    if is_whole {
        for chunk in 0..C {
            if (chunk as u32) < chunks {
                // SAFETY: the caller's.
                items[chunk] = unsafe { x.load_vec_unchecked(first + chunk * LANES) };
            }
        }
    } else {
        for chunk in 0..C {
            if (chunk as u32) < chunks {
                items[chunk] = load_by_elements(x, first, chunk, identity);
            }
        }
    }
    items
}

/// The thread's vector of `chunk`, element by element, of a tile that need be neither whole nor aligned.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn load_by_elements<T: Element, const V: usize>(x: Global<T>, first: usize, chunk: usize, identity: T) -> [T; V] {
    let left = left(x.len(), first * V);
    let mut vector = [identity; V];
    for j in 0..V {
        let i = chunk * LANES * V + j;
        if (i as u32) < left {
            // SAFETY: so many elements are left in `x`.
            vector[j] = unsafe { x.load_unchecked(first * V + i) };
        }
    }
    vector
}

/// How many of `len` elements there are from `start` on, as a number of 32 bits: a tile has fewer elements than that.
#[inline(always)]
fn left(len: usize, start: usize) -> u32 {
    len.saturating_sub(start).min(u32::MAX as usize) as u32
}

/// Scans each of a thread's vectors by itself.
#[inline(always)]
pub fn scan_vectors<T: Element, O: Operator<T>, const V: usize, const C: usize>(items: &mut Items<T, V, C>) {
    for j in 1..V {
        for chunk in 0..C {
            items[chunk][j] = O::combine(items[chunk][j - 1], items[chunk][j]);
        }
    }
}

/// The aggregate of a warp's items, whose vectors have been scanned: in lane 0.
#[inline(always)]
pub fn warp_aggregate<T: Element, O: Operator<T>, const V: usize, const C: usize>(items: &Items<T, V, C>) -> T {
    let mut rows = RowReduce::<T, O>::new(warp::SIZE);
    for chunk in 0..C {
        rows.append(items[chunk][V - 1]);
    }
    rows.aggregate()
}

/// Scans a warp's items, whose vectors have been scanned; where `exclusive`, each item's own value is left out.
///
/// If there is a `zero`, which must be 0, each item is computed here and nowhere else: the compilers would otherwise regroup
/// sums of integers with what is combined with them later, for which some kernels take more registers.
#[inline(always)]
pub fn warp_scan<T: Element, O: Operator<T>, const V: usize, const C: usize>(
    items: &mut Items<T, V, C>,
    exclusive: bool,
    zero: Option<u32>,
) {
    let lane = warp::lane_id();
    // The warp's inclusive scan of the last elements of each chunk's vectors. The chunks take each step together, so that their
    // shuffles do not wait for one another.
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
    // Then all items take in the chunks before theirs, and the others of each vector the lanes before.
    let mut carry = O::IDENTITY;
    for chunk in 0..C {
        let last = items[chunk][V - 1];
        let earlier = warp::shuffle_up(warp::FULL_MASK, last, 1);
        let total = warp::shuffle_idx(warp::FULL_MASK, last, warp::SIZE - 1);
        let prefix = if lane == 0 { carry } else { O::combine(carry, earlier) };
        if exclusive {
            for j in (1..V).rev() {
                items[chunk][j] = O::combine(prefix, items[chunk][j - 1]);
            }
            items[chunk][0] = prefix;
        } else {
            for j in 0..V - 1 {
                items[chunk][j] = O::combine(prefix, items[chunk][j]);
            }
            items[chunk][V - 1] = O::combine(carry, last);
        }
        if let Some(zero) = zero
            && O::COMMUTATIVE
        {
            items[chunk] = items[chunk].map(|item| settled::<T, O>(item, zero));
        }
        carry = O::combine(carry, total);
    }
}

/// `item`. For `zero`, which is 0, the assembler must not know that: else it combines three operands in one instruction, and
/// keeps two of them for that until the third is there.
#[inline(always)]
fn settled<T: Element, O: Operator<T>>(item: T, zero: u32) -> T {
    let item = opaque(item);
    if O::IS_TERNARY && T::WORDS == 1 {
        let [word, ..] = item.to_words();
        return T::from_words([word ^ zero, 0, 0, 0]);
    }
    item
}

/// Writes a thread's items of the first `chunks` chunks from vector `first` of `y` on, each combined with the `prefix` before
/// it, as far as the array goes.
///
/// # Safety
/// If `is_whole`, `y` must start at a multiple of 16 bytes and have the vectors `first + 32·chunk` of all these chunks.
#[inline(always)]
pub unsafe fn store<T: Element, O: Operator<T>, const V: usize, const C: usize>(
    y: GlobalMut<T>,
    first: usize,
    chunks: u32,
    is_whole: bool,
    mut items: Items<T, V, C>,
    prefix: T,
) {
    for j in 0..V {
        for chunk in 0..C {
            items[chunk][j] = O::combine(prefix, items[chunk][j]);
        }
    }
    // SAFETY: the caller's.
    unsafe { store_items(y, first, chunks, is_whole, items) };
}

/// Writes a thread's items as they are, as [`store`] does.
///
/// # Safety
/// As for [`store`].
#[cfg_attr(target_arch = "nvptx64", inline(always))]
unsafe fn store_items<T: Element, const V: usize, const C: usize>(
    y: GlobalMut<T>,
    first: usize,
    chunks: u32,
    is_whole: bool,
    items: Items<T, V, C>,
) {
    if is_whole {
        for chunk in 0..C {
            if (chunk as u32) < chunks {
                // SAFETY: the caller's.
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
