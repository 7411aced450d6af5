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
