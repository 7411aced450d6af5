//! Reduce across the threads of a block, and the warps' part of a scan: warps hand one another a value each through shared
//! memory.

use cuda_std::{Element, Shared, thread, warp};

use super::warp::warp_reduce;
use crate::operator::Operator;

/// The most warps a block may have.
pub const MOST_WARPS: usize = 32;

/// The values of the block's threads combined in the order of the threads: in thread 0.
///
/// Blocks of a power of two of threads. `aggregates` has room for one value per warp; before they are used again, a barrier
/// must stand.
#[inline(always)]
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

/// As [`block_reduce`], in a block of `WARPS` full warps, a power of two and a multiple of `V`: no test of its size is left.
///
/// One thread combines the aggregates of the warps, in pairs as the lanes of a warp would. It reads them `V` at a time, and
/// none of its loads waits for another, while each step across the lanes waits for the one before.
#[inline(always)]
pub fn block_reduce_full<T: Element, O: Operator<T>, const V: usize, const WARPS: usize>(
    aggregates: Shared<[T; V]>,
    value: T,
) -> T {
    let thread = thread::thread_idx_x();
    let value = warp_reduce::<T, O>(warp::SIZE, value);
    if thread.is_multiple_of(warp::SIZE) {
        // The remainder changes nothing: it tells the compiler that the index is in the array.
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

/// From the aggregates of the block's `WARPS` warps: the prefix of `warp`, which is what the warps before it have, and the
/// block's aggregate. For any thread; between the stores of the aggregates and this stands a barrier.
#[inline(always)]
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
