//! The values of a warp's lanes and of a block's threads combined by shuffles, in order.

use cuda_std::{Element, Shared, thread, warp};

use crate::operator::Operator;

/// The most warps a block may have.
pub(super) const MOST_WARPS: usize = 32;

/// The values of the first `lanes` lanes of a warp, a power of two up to `MOST`, combined in the order of the lanes: in
/// lane 0.
///
/// After the step of `delta`, a lane holds the values of the `2·delta` lanes from its own on. A step with halves, 16 lanes
/// apart first, would cost the same and not keep the order.
///
/// The mask is that of a full warp in a smaller block too: lanes that do not exist are not waited for. A mask that is no
/// constant costs a dozen instructions at every shuffle.
#[inline(always)]
pub(super) fn combine_warp<T: Element, O: Operator<T>, const MOST: u32>(lanes: u32, mut value: T) -> T {
    let mut delta = 1;
    // Constant bounds, so that it is unrolled; the test is the same for all lanes.
    while delta < MOST {
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
    combine_threads::<T, O, { MOST_WARPS as u32 }>(thread::block_dim_x(), slots, value)
}

/// As [`combine_block`], in a block of `WARPS` warps, which is a power of two: no test of its size is left.
#[inline(always)]
pub(super) fn combine_warps<T: Element, O: Operator<T>, const WARPS: u32>(slots: Shared<T>, value: T) -> T {
    combine_threads::<T, O, WARPS>(WARPS * warp::SIZE, slots, value)
}

/// The values of the `block` threads of a block of at most `MOST` warps.
#[inline(always)]
fn combine_threads<T: Element, O: Operator<T>, const MOST: u32>(block: u32, slots: Shared<T>, value: T) -> T {
    let thread = thread::thread_idx_x();
    let value = combine_warp::<T, O, { warp::SIZE }>(block.min(warp::SIZE), value);
    if block <= warp::SIZE {
        return value;
    }
    if thread.is_multiple_of(warp::SIZE) {
        // The remainder changes nothing: it tells the compiler that there is the slot.
        slots.store((thread / warp::SIZE % MOST) as usize, value);
    }
    thread::sync_threads();
    if thread >= warp::SIZE {
        return value;
    }
    let warps = block / warp::SIZE;
    let of_warp = if thread < warps { slots.load(thread as usize) } else { O::IDENTITY };
    combine_warp::<T, O, MOST>(warps, of_warp)
}
