//! Functions that load, scan and store a tile in the registers of a block.
//!
//! Each warp owns a contiguous part of the tile. The part is divided into chunks of 32 vectors of 16 bytes, and each
//! lane has one vector of every chunk. The accesses of a warp therefore cover whole cache lines, and the addresses of a
//! thread differ by constants. With vectors of `V` elements and `C` chunks, a thread has `V·C` items. CUB calls this
//! arrangement warp-striped.
//!
//! A warp scans its part in three steps. First, each lane scans each of its vectors separately ([`scan_vectors`]). Then
//! a scan across the lanes adds the earlier vectors of the same chunk. Finally, a carry adds the earlier chunks.
//! [`warp_scan`] does the last two steps. A partial tile, or an array that does not start at a multiple of 16 bytes, is
//! loaded and stored element by element.
#![allow(clippy::needless_range_loop, reason = "an iterator over an array puts it into local memory")]

use cuda_std::warp::Shuffle;
use cuda_std::{Element, Global, GlobalMut, opaque, unroll, warp};

use super::LANES;
use super::warp::RowReduce;
use super::words::{Words, shuffle_idx, shuffle_up};
use crate::operator::Operator;

/// The items of one thread: one vector of each chunk.
pub type Items<T, const V: usize, const C: usize> = [[T; V]; C];

// The items stay in registers only if LLVM unrolls the loops over the chunks. It does so if their bodies are small.

/// Repeats the body for each chunk: as a loop if LLVM unrolls it for the operator `$O`, otherwise as separate code.
macro_rules! for_chunks {
    ($O:ident; $chunk:ident in $count:expr => $body:block) => {
        if $O::IS_SHORT {
            for $chunk in 0..$count $body
        } else {
            unroll!(CHUNK in $count => {
                let $chunk = CHUNK;
                $body
            });
        }
    };
}

/// Loads the calling thread's items of a tile from `x` and returns them. Loads the first `chunks` chunks only. `first`
/// is the index of the thread's first vector in `x`. Items beyond the end of `x`, and items of later chunks, are set to
/// `identity`.
///
/// # Safety
/// If `is_whole` is true, `x` must start at a multiple of 16 bytes and contain the vectors `first + 32·chunk` of all
/// these chunks.
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
                // SAFETY: `is_whole` is true, so by this function's contract `x` is aligned and contains this vector.
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

/// Loads the thread's vector of chunk `chunk`, one element per access. The tile may be partial and unaligned.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn load_by_elements<T: Element, const V: usize>(x: Global<T>, first: usize, chunk: usize, identity: T) -> [T; V] {
    let left = left(x.len(), first * V);
    let mut vector = [identity; V];
    for j in 0..V {
        let i = chunk * LANES * V + j;
        if (i as u32) < left {
            // SAFETY: `left` limits `i` to the elements that remain in `x`.
            vector[j] = unsafe { x.load_unchecked(first * V + i) };
        }
    }
    vector
}

/// Returns `len - start`, the number of elements from `start` on, but at least 0 and at most 2³² − 1. A tile has fewer
/// than 2³² elements, so 32 bits are enough to compare positions in a tile.
#[inline(always)]
pub fn left(len: usize, start: usize) -> u32 {
    len.saturating_sub(start).min(u32::MAX as usize) as u32
}

/// Scans each of a thread's vectors separately.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn scan_vectors<T: Element, O: Operator<T>, const V: usize, const C: usize>(items: &mut Items<T, V, C>) {
    for j in 1..V {
        for chunk in 0..C {
            items[chunk][j] = O::combine(items[chunk][j - 1], items[chunk][j]);
        }
    }
}

/// Returns the aggregate of a warp's items in lane 0. The caller must have scanned the vectors with [`scan_vectors`].
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn warp_aggregate<T: Element, O: Operator<T>, const V: usize, const C: usize>(items: &Items<T, V, C>) -> T {
    let mut rows = RowReduce::<T, O>::new(warp::SIZE);
    for_chunks!(O; chunk in C => {
        rows.append(items[chunk][V - 1]);
    });
    rows.aggregate()
}

/// Scans a warp's items. The caller must have scanned the vectors with [`scan_vectors`]. If `exclusive` is true, the
/// result of an item does not include the item itself.
///
/// `zero` must be `None` or `Some(0)`. With `None`, the compilers may merge additions of integers, and some kernels
/// then need more registers. With `Some(0)`, the compilers keep the additions as written.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn warp_scan<T: Element, O: Operator<T>, const V: usize, const C: usize>(
    items: &mut Items<T, V, C>,
    exclusive: bool,
    zero: Option<u32>,
) {
    let lane = warp::lane_id();
    // For each chunk, computes the inclusive scan across the lanes of the last elements of their vectors. Each step
    // handles all chunks, so that their shuffles overlap.
    let mut distance = 1;
    while distance < warp::SIZE {
        for_chunks!(O; chunk in C => {
            let last = items[chunk][V - 1];
            let earlier = shuffle_up(last, distance);
            if lane >= distance {
                items[chunk][V - 1] = O::combine(earlier, last);
            }
        });
        distance *= 2;
    }
    // Combines all items with the carry, the aggregate of the earlier chunks. Also combines the elements of each vector
    // except the last with the aggregate of the earlier lanes.
    let mut carry = O::IDENTITY;
    for_chunks!(O; chunk in C => {
        let last = items[chunk][V - 1];
        let earlier = shuffle_up(last, 1);
        let total = shuffle_idx(last, warp::SIZE - 1);
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
    });
}

/// Returns `item` unchanged, in a form that ptxas does not merge with later additions. `zero` must be 0, in a way that
/// ptxas cannot see. Without this function, ptxas merges two additions into one instruction with three operands. Two
/// operands then occupy registers until the third is available.
#[inline(always)]
fn settled<T: Element, O: Operator<T>>(item: T, zero: u32) -> T {
    let item = opaque(item);
    if O::IS_TERNARY && T::COUNT == 1 {
        let mut words = item.to_words();
        words[0] ^= zero;
        return T::from_words(words);
    }
    item
}

/// Stores a thread's items in `y`, each combined with `prefix` as the left operand. Stores the items of the first
/// `chunks` chunks only. `first` is the index of the thread's first vector in `y`. Items beyond the end of `y` are not
/// stored.
///
/// # Safety
/// If `is_whole` is true, `y` must start at a multiple of 16 bytes and contain the vectors `first + 32·chunk` of all
/// these chunks.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
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
    // SAFETY: the contract of `store_items` is this function's own, with the same arguments.
    unsafe { store_items(y, first, chunks, is_whole, items) };
}

/// Stores a thread's items like [`store`], but without a prefix.
///
/// # Safety
/// If `is_whole` is true, `y` must start at a multiple of 16 bytes and contain the vectors `first + 32·chunk` of all
/// these chunks.
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
                // SAFETY: `is_whole` is true, so by this function's contract `y` is aligned and contains this vector.
                unsafe { y.store_vec_unchecked(first + chunk * LANES, items[chunk]) };
            }
        }
    } else {
        let left = left(y.len(), first * V);
        for chunk in 0..C {
            for j in 0..V {
                let i = chunk * LANES * V + j;
                if (chunk as u32) < chunks && (i as u32) < left {
                    // SAFETY: `left` limits `i` to the elements that remain in `y`.
                    unsafe { y.store_unchecked(first * V + i, items[chunk][j]) };
                }
            }
        }
    }
}
