//! Warp operations.
//!
//! Lanes are not in lock-step: each runs on its own, and each operation here is a rendezvous of the lanes named in
//! `mask` that have not exited. All of them must come to the same operation, at the same source line, with the same
//! mask, and a caller must be in its own mask; anything else is a fault as soon as nobody can go on. Only [`sync`] may
//! be called at different lines, as since sm_70.

use std::panic::Location;

pub use crate::block::rendezvous::Reduction;
use crate::block::rendezvous::{Operation, Request};
use crate::current::expect_current;

/// Waits for the lanes of `mask`.
#[inline(always)]
#[track_caller]
pub fn sync(mask: u32) {
    let request = Request { operation: Operation::Sync, mask, value: 0, source: 0, at: Location::caller() };
    expect_current("warp::sync").meet(request);
}

/// Hands `value` to the lanes of `mask`, and gives what `source_lane` handed over; `None` if that lane does not take
/// part, because it is not in the mask or has exited.
#[inline(always)]
#[track_caller]
pub fn exchange(mask: u32, value: u64, source_lane: u32) -> Option<u64> {
    let operation = Operation::Exchange;
    let request = Request { operation, mask, value, source: source_lane, at: Location::caller() };
    expect_current("warp::exchange").meet(request)
}

/// The lanes of `mask` whose `predicate` holds, one bit per lane. Lanes that have exited count as not holding it.
#[inline(always)]
#[track_caller]
pub fn ballot(mask: u32, predicate: bool) -> u32 {
    let (operation, value) = (Operation::Ballot, predicate.into());
    let request = Request { operation, mask, value, source: 0, at: Location::caller() };
    let votes = expect_current("warp::ballot").meet(request);
    votes.unwrap_or_default() as u32
}

/// The lanes of `mask` that take part and have the same `value` as the caller, and all that take part, one bit per
/// lane.
#[inline(always)]
#[track_caller]
pub fn match_any(mask: u32, value: u64) -> (u32, u32) {
    let request = Request { operation: Operation::Match, mask, value, source: 0, at: Location::caller() };
    let result = expect_current("warp::match_any").meet(request).unwrap_or_default();
    (result as u32, (result >> 32) as u32)
}

/// What `reduction` makes of the values of the lanes of `mask` that take part.
#[inline(always)]
#[track_caller]
pub fn reduce(mask: u32, value: u64, reduction: Reduction) -> u64 {
    let request = Request { operation: Operation::Reduce(reduction), mask, value, source: 0, at: Location::caller() };
    expect_current("warp::reduce").meet(request).unwrap_or_default()
}

/// The lanes that run together with the caller: itself alone, as simulated lanes never are in lock-step. Devices may
/// give any set that contains the caller, so a kernel must not rely on more.
#[inline(always)]
#[track_caller]
pub fn active_mask() -> u32 {
    expect_current("warp::active_mask").thread().bit()
}
