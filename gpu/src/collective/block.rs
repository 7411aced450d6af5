//! Reduction, scans and broadcast across the threads of a block, and the combination of warp aggregates in a scan. The
//! warps exchange one value each through shared memory.

use cuda_std::{Element, Shared, thread, warp};

use super::warp::{warp_exclusive_scan, warp_inclusive_scan, warp_reduce};
use crate::operator::Operator;

/// The largest number of warps in a block.
pub const MAX_WARPS: usize = 32;

/// Combines one value per thread in thread order and returns the result in thread 0. Other threads get an unspecified
/// value.
///
/// The number of threads in the block must be a power of two. `aggregates` must have room for one value per warp. The
/// caller must execute a block barrier before it uses `aggregates` again.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn block_reduce<T: Element, O: Operator<T>>(aggregates: Shared<T>, value: T) -> T {
    let (thread, block) = (thread::thread_idx_x(), thread::block_dim_x());
    let value = warp_reduce::<T, O>(block.min(warp::SIZE), value);
    if block <= warp::SIZE {
        return value;
    }
    if thread.is_multiple_of(warp::SIZE) {
        aggregates.store((thread / warp::SIZE) as usize, value);
    }
    thread::sync_threads();
    if thread >= warp::SIZE {
        return value;
    }
    let warps = block / warp::SIZE;
    let of_warp = if thread < warps { aggregates.load(thread as usize) } else { O::IDENTITY };
    warp_reduce::<T, O>(warps, of_warp)
}

/// Does the same as [`block_reduce`] for a block of exactly `WARPS` full warps. It does not test the block's size.
/// `WARPS` must be a power of two and a multiple of `V`.
///
/// One thread combines the aggregates of the warps. The thread combines them in the same pairs as the shuffles of
/// [`block_reduce`] do, so the result is equal. It loads `V` aggregates per access. These loads are independent of each
/// other, whereas each step of a shuffle reduction waits for the previous step.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn block_reduce_full<T: Element, O: Operator<T>, const V: usize, const WARPS: usize>(
    aggregates: Shared<[T; V]>,
    value: T,
) -> T {
    let thread = thread::thread_idx_x();
    let value = warp_reduce::<T, O>(warp::SIZE, value);
    if thread.is_multiple_of(warp::SIZE) {
        // The remainder `% WARPS` never changes the value. It lets the compiler see that the index is in bounds.
        aggregates.cast::<T>().store((thread / warp::SIZE) as usize % WARPS, value);
    }
    thread::sync_threads();
    if thread > 0 {
        return value;
    }
    let mut of_warps = [O::IDENTITY; WARPS];
    for i in 0..WARPS / V {
        let values = aggregates.load(i);
        for v in 0..V {
            of_warps[i * V + v] = values[v];
        }
    }
    let mut distance = 1;
    while distance < WARPS {
        let mut warp = 0;
        while warp < WARPS {
            of_warps[warp] = O::combine(of_warps[warp], of_warps[warp + distance]);
            warp += 2 * distance;
        }
        distance *= 2;
    }
    of_warps[0]
}

/// Returns the prefix of `warp` and the block's aggregate, computed from the aggregates of the block's `WARPS` warps.
/// The prefix combines the aggregates of all earlier warps. Any thread may call this function. The block must execute a
/// barrier after it has stored the aggregates and before this call.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn warp_prefix<T: Element, O: Operator<T>, const WARPS: usize>(aggregates: Shared<T>, warp: usize) -> (T, T) {
    let (mut prefix, mut aggregate) = (O::IDENTITY, O::IDENTITY);
    for other in 0..WARPS {
        if other == warp {
            prefix = aggregate;
        }
        aggregate = O::combine(aggregate, aggregates.load(other));
    }
    (prefix, aggregate)
}

/// Returns the combination of the values of the threads up to the caller's own, in thread order, and the block's
/// aggregate.
///
/// The block may have any number of threads. `aggregates` must have room for one value per warp. The caller must
/// execute a block barrier before it uses `aggregates` again.
#[inline(always)]
#[track_caller]
pub fn block_inclusive_scan<T: Element, O: Operator<T>>(aggregates: Shared<T>, value: T) -> (T, T) {
    let scanned = warp_inclusive_scan::<T, O>(value);
    let (prefix, aggregate) = exchange_aggregates::<T, O>(aggregates, scanned);
    (O::combine(prefix, scanned), aggregate)
}

/// Returns the combination of the values of the threads before the caller's own, in thread order, which is the identity
/// in thread 0, and the block's aggregate.
///
/// The block may have any number of threads. `aggregates` must have room for one value per warp. The caller must
/// execute a block barrier before it uses `aggregates` again.
#[inline(always)]
#[track_caller]
pub fn block_exclusive_scan<T: Element, O: Operator<T>>(aggregates: Shared<T>, value: T) -> (T, T) {
    let before = warp_exclusive_scan::<T, O>(value);
    let (prefix, aggregate) = exchange_aggregates::<T, O>(aggregates, O::combine(before, value));
    (O::combine(prefix, before), aggregate)
}

/// Returns the prefix of the caller's warp and the block's aggregate. `scanned` is the caller's value in the inclusive
/// scan of its warp.
#[inline(always)]
#[track_caller]
fn exchange_aggregates<T: Element, O: Operator<T>>(aggregates: Shared<T>, scanned: T) -> (T, T) {
    let (thread, threads) = (thread::index_in_block(), thread::block_size());
    let warp = thread / warp::SIZE;
    if thread % warp::SIZE == warp::SIZE - 1 || thread + 1 == threads {
        aggregates.store(warp as usize, scanned);
    }
    thread::sync_threads();
    let (mut prefix, mut aggregate) = (O::IDENTITY, O::IDENTITY);
    for other in 0..threads.div_ceil(warp::SIZE) {
        if other == warp {
            prefix = aggregate;
        }
        aggregate = O::combine(aggregate, aggregates.load(other as usize));
    }
    (prefix, aggregate)
}

/// Returns the value of thread `from` in all threads of the block. `place` must have one element. The caller must
/// execute a block barrier before it uses `place` again.
#[inline(always)]
#[track_caller]
pub fn block_broadcast<T: Element>(place: Shared<T>, value: T, from: u32) -> T {
    if thread::index_in_block() == from {
        place.store(0, value);
    }
    thread::sync_threads();
    place.load(0)
}

/// Sets all elements of `words` to 0, in 16-byte stores. The view must start at a multiple of 16 bytes and have a
/// multiple of 4 elements.
#[inline(always)]
pub fn clear(words: Shared<u32>) {
    let vectors = words.cast::<[u32; 4]>();
    for i in thread::block_stride(vectors.len()) {
        vectors.store(i, [0; 4]);
    }
}
