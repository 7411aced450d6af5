//! The look-back of a tile over the [`Carry`]s of earlier tiles.

use cuda_std::{Element, warp};

use super::carry::Carry;
use crate::collective::warp::warp_reduce;
use crate::collective::words::shuffle_down;
use crate::operator::{Operator, Sum};
use crate::scan::PREFIX;
use crate::scan::one_pass::{Before, TileStates};

/// Returns the carry of all elements before `tile` in lane 0. All lanes of a full warp must call this function.
///
/// The search goes backwards to the nearest tile that has published a prefix. The values of tiles before the nearest
/// tile in which a run begins do not matter: only their ends are counted. In most vectors this is the tile just before,
/// and no values are combined.
///
/// # Safety
/// `tile` must not be 0, and the states must have words for all tiles before it, as [`TileStates::has`] checks.
#[inline(always)]
pub unsafe fn carry_before<T: Element, O: Operator<T>>(states: TileStates<'_, Carry<T>>, tile: u32) -> Carry<T> {
    let lane = warp::lane_id();
    let (mut ends, mut value, mut is_first, mut is_closed) = (0, O::IDENTITY, true, false);
    // SAFETY: by this function's contract, all tiles before `tile` have words.
    unsafe {
        Before::walk(states, tile, |flag, carry: Carry<T>| {
            let prefixes = warp::ballot(warp::FULL_MASK, flag == PREFIX);
            if lane <= prefixes.trailing_zeros() {
                ends += carry.ends();
            }
            if !is_closed {
                let closed = warp::ballot(warp::FULL_MASK, carry.starts()) | prefixes;
                let row = last_run::<T, O>(carry.value(), closed.trailing_zeros());
                value = if is_first { row } else { O::combine(row, value) };
                (is_first, is_closed) = (false, closed != 0);
            }
            prefixes != 0
        });
    }
    Carry::new(warp_reduce::<u64, Sum>(warp::SIZE, ends), true, value)
}

/// Returns in lane 0 the combination of the values of the lanes `last` to 0, the earliest in the highest lane. `last`
/// is the same in all lanes; if it is 32 or more, all lanes have values.
#[inline(always)]
fn last_run<T: Element, O: Operator<T>>(mut value: T, last: u32) -> T {
    if last > 0 {
        let (lane, last) = (warp::lane_id(), last.min(warp::SIZE - 1));
        let mut distance = 1;
        while distance < warp::SIZE {
            let earlier = shuffle_down(value, distance);
            if lane + distance <= last {
                value = O::combine(earlier, value);
            }
            distance *= 2;
        }
    }
    value
}
