//! Operations among the lanes of a warp.
//!
//! Lanes run independently, and only these operations synchronise them. `mask` has bit *i* set if lane *i* takes part.
//! Every lane of the mask that has not ended must call the same operation with the same mask, and the caller must be in
//! the mask. The simulator reports violations.

use crate::backend;

mod matching;
mod reduction;
mod shuffle;

pub use matching::{MatchValue, match_all, match_any, warp_match_all, warp_match_any};
pub use reduction::{
    WarpReductionOp, reduce_add, reduce_and, reduce_max, reduce_min, reduce_or, reduce_xor, warp_reduce,
};
pub use shuffle::*;

/// The number of lanes in a warp.
pub const SIZE: u32 = crate::thread::warp_size();

/// The mask of all lanes of a full warp.
pub const FULL_MASK: u32 = u32::MAX;

/// Returns the calling thread's lane, `0..32`.
#[doc(alias = "%laneid")]
#[inline(always)]
pub fn lane_id() -> u32 {
    backend::lane_id()
}

/// Returns the warp's index in its block.
#[inline(always)]
pub fn warp_id() -> u32 {
    crate::thread::index_in_block() / SIZE
}

/// Returns the lanes that currently run together with the caller, including the caller. All of them receive the same
/// set. The set is arbitrary, so results should not depend on it. Do not pass it as the mask of an operation that other
/// lanes must also call.
///
/// In the simulator the set depends on the schedule: only the caller in most, all lanes that reach this line together
/// in `last-first`, and a part of them in `random:N`.
#[doc(alias = "__activemask")]
#[inline(always)]
#[track_caller]
pub fn activemask() -> u32 {
    backend::activemask()
}

/// Waits for the lanes of `mask`. Afterwards each of these lanes sees all earlier writes of the other lanes.
#[doc(alias = "__syncwarp")]
#[inline(always)]
#[track_caller]
pub fn sync_warp(mask: u32) {
    backend::sync_warp(mask);
}

/// Returns the lanes of `mask` for which `predicate` is true: bit *i* for lane *i*.
#[doc(alias = "__ballot_sync")]
#[doc(alias = "warp_vote_ballot")]
#[inline(always)]
#[track_caller]
pub fn ballot(mask: u32, predicate: bool) -> u32 {
    backend::ballot(mask, predicate)
}

/// Returns true if `predicate` is true for any lane of `mask`.
#[doc(alias = "__any_sync")]
#[doc(alias = "warp_vote_any")]
#[inline(always)]
#[track_caller]
pub fn any(mask: u32, predicate: bool) -> bool {
    backend::any(mask, predicate)
}

/// Returns true if `predicate` is true for every lane of `mask`.
#[doc(alias = "__all_sync")]
#[doc(alias = "warp_vote_all")]
#[inline(always)]
#[track_caller]
pub fn all(mask: u32, predicate: bool) -> bool {
    backend::all(mask, predicate)
}

/// Returns the mask of this warp's lanes in a block of `block_size` threads; the last warp may not be full.
#[inline(always)]
pub fn mask_in_block(block_size: u32) -> u32 {
    let in_warp = block_size - warp_id() * SIZE;
    if in_warp >= SIZE { FULL_MASK } else { (1 << in_warp) - 1 }
}

// Rust-CUDA's names for the same functions.
pub use self::{all as warp_vote_all, any as warp_vote_any, ballot as warp_vote_ballot};
