//! The look-back: the value of the segment that is open at the beginning of a tile.
//!
//! Each tile publishes one state: whether a segment begins in it ([`PREFIX`]) or not ([`AGGREGATE`]), and the
//! combination of its values from the last such beginning on. 32 consecutive tiles form a *group*. If a segment is open
//! at the beginning of a group, the first tile of the group also publishes the value of that segment up to there.
//!
//! A warp reads the states of the tiles of its group, and then those of earlier groups, until a segment begins or a
//! group's value is known. It combines the states of a group in a tree, and the groups one after the other. The
//! grouping of the operands depends only on where the segments are, and not on timing. Two runs therefore have the same
//! result, also with floats.

use cuda_std::{Element, warp};

use super::tuning::GROUP;
use crate::collective::words::{Words, shuffle_down, shuffle_idx};
use crate::operator::Operator;
use crate::scan::{AGGREGATE, PREFIX, TileStates};

/// Returns the combination of the values before `tile` in the segment that is open there. `tiles` is the number of
/// tiles. All lanes of a full warp must call this function.
///
/// A segment must begin in the first tile. A segment must be open at the beginning of `tile`.
///
/// # Safety
/// The states must have words for all tiles and groups, as [`TileStates::has`] checks.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub unsafe fn open_value<S: Element, O: Operator<S>>(states: TileStates<S>, tiles: u32, tile: u32) -> S {
    let lane = warp::lane_id();
    let (mut group, mut limit) = (tile / GROUP, tile % GROUP);
    // Lane *r* keeps the combination of the *r*-th group back, and `rows` is the number of these groups.
    let (mut kept, mut rows) = (S::zeroed(), 0);
    let mut value;
    loop {
        if limit > 0 {
            let mut state = (AGGREGATE, S::zeroed());
            if lane < limit {
                // SAFETY: this tile is before `tile`, and by this function's contract all tiles have words.
                state = unsafe { wait_for(states, group * GROUP + lane) };
            }
            let begun = warp::ballot(warp::FULL_MASK, state.0 == PREFIX);
            let first = if begun == 0 { 0 } else { warp::SIZE - 1 - begun.leading_zeros() };
            value = shuffle_idx(combine_up_to::<S, O>(state.1, limit), first);
            if begun != 0 {
                break;
            }
            if lane == rows {
                kept = value;
            }
            rows += 1;
        }
        // One lane decides for all whether the value is known. The first lane waits if no other lane can keep a value.
        let mut published = None;
        if lane == 0 {
            // SAFETY: by this function's contract, all groups have words.
            published = unsafe {
                if rows < warp::SIZE { peek(states, tiles + group) } else { Some(wait_for(states, tiles + group)) }
            };
        }
        let is_known = warp::ballot(warp::FULL_MASK, published.is_some()) != 0;
        if is_known {
            value = shuffle_idx(published.map_or(S::zeroed(), |(_, value)| value), 0);
            break;
        }
        (group, limit) = (group - 1, GROUP);
    }
    while rows > 0 {
        rows -= 1;
        value = O::combine(value, shuffle_idx(kept, rows));
    }
    value
}

/// Returns the combination of the values of the lanes from the caller's own up to but not including `limit`. Lanes from
/// `limit` on get their own value.
#[inline(always)]
fn combine_up_to<S: Element, O: Operator<S>>(mut value: S, limit: u32) -> S {
    let mut distance = 1;
    while distance < warp::SIZE {
        let above = shuffle_down(value, distance);
        if warp::lane_id() + distance < limit {
            value = O::combine(value, above);
        }
        distance *= 2;
    }
    value
}

/// Returns the state at `index` if it has been published.
///
/// # Safety
/// The state must have words.
#[inline(always)]
unsafe fn peek<S: Element>(states: TileStates<S>, index: u32) -> Option<(u32, S)> {
    // SAFETY: by this function's contract, the state has words.
    unsafe {
        if S::IS_WIDE {
            states.published_wide(index as usize)
        } else {
            states.published(states.peek_unchecked(index as usize))
        }
    }
}

/// Waits until the state at `index` has been published, and returns it.
///
/// # Safety
/// The state must have words.
#[inline(always)]
unsafe fn wait_for<S: Element>(states: TileStates<S>, index: u32) -> (u32, S) {
    loop {
        // SAFETY: by this function's contract, the state has words.
        if let Some(state) = unsafe { peek(states, index) } {
            return state;
        }
    }
}
