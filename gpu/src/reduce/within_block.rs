//! The values of a warp's lanes and of a block's threads combined by shuffles, in order.

use cuda_std::{Element, Shared, thread, warp};

use crate::operator::Operator;

/// The most warps a block may have.
pub(super) const MOST_WARPS: usize = 32;

/// The values of the first `lanes` lanes of a warp, a power of two, combined in the order of the lanes: in lane 0.
///
/// After the step of `delta`, a lane holds the values of the `2·delta` lanes from its own on. A step with halves, 16 lanes
/// apart first, would cost the same and not keep the order.
///
/// The mask is that of a full warp in a smaller block too: lanes that do not exist are not waited for. A mask that is no
/// constant costs a dozen instructions at every shuffle.
#[inline(always)]
pub(super) fn combine_warp<T: Element, O: Operator<T>>(lanes: u32, mut value: T) -> T {
    let mut delta = 1;
    // Constant bounds, so that it is unrolled; the test is the same for all lanes.
    while delta < warp::SIZE {
        let above = warp::shuffle_down(warp::FULL_MASK, value, delta);
        if delta < lanes {
            value = O::combine(value, above);
        }
        delta *= 2;
    }
    value
}

/// The values of the block's threads combined in the order of the threads: in thread 0.
///
/// Blocks of a power of two of threads. `slots` has room for one value a warp; before they are used again, a barrier must
/// stand.
#[inline(always)]
pub(super) fn combine_block<T: Element, O: Operator<T>>(slots: Shared<T>, value: T) -> T {
    let (thread, block) = (thread::thread_idx_x(), thread::block_dim_x());
    let value = combine_warp::<T, O>(block.min(warp::SIZE), value);
    if block <= warp::SIZE {
        return value;
    }
    if thread.is_multiple_of(warp::SIZE) {
        slots.store((thread / warp::SIZE) as usize, value);
    }
    thread::sync_threads();
    if thread >= warp::SIZE {
        return value;
    }
    let warps = block / warp::SIZE;
    let of_warp = if thread < warps { slots.load(thread as usize) } else { O::IDENTITY };
    combine_warp::<T, O>(warps, of_warp)
}

/// As [`combine_block`], in a block of `WARPS` full warps, a power of two and a multiple of `V`: no test of its size is left.
///
/// The first thread combines the values of the warps, pair by pair as a warp's lanes would. Its loads do not wait for one
/// another, where each step among lanes waits for the one before.
#[inline(always)]
pub(super) fn combine_warps<T: Element, O: Operator<T>, const V: usize, const WARPS: usize>(
    slots: Shared<[T; V]>,
    value: T,
) -> T {
    let thread = thread::thread_idx_x();
    let value = combine_warp::<T, O>(warp::SIZE, value);
    if thread.is_multiple_of(warp::SIZE) {
        // The remainder changes nothing: it tells the compiler that there is the slot.
        slots.cast::<T>().store((thread / warp::SIZE) as usize % WARPS, value);
    }
    thread::sync_threads();
    if thread > 0 {
        return value;
    }
    let mut of_warps = [O::IDENTITY; WARPS];
    for i in 0..WARPS / V {
        let values = slots.load(i);
        for v in 0..V {
            of_warps[i * V + v] = values[v];
        }
    }
    let mut delta = 1;
    while delta < WARPS {
        let mut warp = 0;
        while warp < WARPS {
            of_warps[warp] = O::combine(of_warps[warp], of_warps[warp + delta]);
            warp += 2 * delta;
        }
        delta *= 2;
    }
    of_warps[0]
}
