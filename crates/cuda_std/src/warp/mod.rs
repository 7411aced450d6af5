//! Operations among the lanes of a warp.
//!
//! Lanes run independently of each other: nothing is in step unless one of these operations brings the lanes together.
//! `mask` names the lanes that take part, bit *i* for lane *i*; every one of them that has not ended must call the same
//! operation with the same mask, and the caller must be among them. The simulator reports where that does not hold.

use crate::backend;

mod matching;
mod reduction;
mod shuffle;

pub use matching::{MatchValue, match_all, match_any, warp_match_all, warp_match_any};
pub use reduction::{
    WarpReductionOp, reduce_add, reduce_and, reduce_max, reduce_min, reduce_or, reduce_xor, warp_reduce,
};
pub use shuffle::*;

/// Lanes in a warp.
pub const SIZE: u32 = 32;

/// Every lane of a full warp.
pub const FULL_MASK: u32 = u32::MAX;

/// The calling thread's lane, `0..32`.
#[doc(alias = "%laneid")]
#[inline(always)]
pub fn lane_id() -> u32 {
    backend::lane_id()
}

/// The warp's index in its block.
#[inline(always)]
pub fn warp_id() -> u32 {
    crate::thread::index_in_block() / SIZE
}

/// The lanes that run together with the caller just now, the caller among them. It may be any such set: no result
/// should depend on it, and it is no mask for an operation that other lanes must come to. In the simulator the caller
/// alone.
#[doc(alias = "__activemask")]
#[inline(always)]
#[track_caller]
pub fn activemask() -> u32 {
    backend::activemask()
}

/// Waits for the lanes of `mask`; what each wrote to memory before is then seen by the others.
#[doc(alias = "__syncwarp")]
#[inline(always)]
#[track_caller]
pub fn sync_warp(mask: u32) {
    backend::sync_warp(mask);
}

/// The lanes of `mask` for which `predicate` holds, bit *i* for lane *i*.
#[doc(alias = "__ballot_sync")]
#[doc(alias = "warp_vote_ballot")]
#[inline(always)]
#[track_caller]
pub fn ballot(mask: u32, predicate: bool) -> u32 {
    backend::ballot(mask, predicate)
}

/// Whether `predicate` holds for some lane of `mask`.
#[doc(alias = "__any_sync")]
#[doc(alias = "warp_vote_any")]
#[inline(always)]
#[track_caller]
pub fn any(mask: u32, predicate: bool) -> bool {
    backend::any(mask, predicate)
}

/// Whether `predicate` holds for every lane of `mask`.
#[doc(alias = "__all_sync")]
#[doc(alias = "warp_vote_all")]
#[inline(always)]
#[track_caller]
pub fn all(mask: u32, predicate: bool) -> bool {
    backend::all(mask, predicate)
}

/// The mask of the lanes that hold a thread in a block of `block_size` threads: the last warp may not be full.
#[inline(always)]
pub fn mask_in_block(block_size: u32) -> u32 {
    let in_warp = block_size - warp_id() * SIZE;
    if in_warp >= SIZE { FULL_MASK } else { (1 << in_warp) - 1 }
}

// The same under Rust-CUDA's names.
pub use self::{all as warp_vote_all, any as warp_vote_any, ballot as warp_vote_ballot};
