//! The operations of a warp: synchronisation, exchange, votes, matches and reductions.
//!
//! Lanes do not run in lock-step. At each operation in this module, the lanes in `mask` that have not exited wait for
//! each other. All these lanes must reach the same operation, at the same source line, with the same mask. Each caller
//! must be in its own mask. Otherwise the launch ends with a fault. Only [`sync`] may be called at different lines, as
//! on devices since sm_70.

use std::panic::Location;

pub use crate::block::rendezvous::Reduction;
pub use crate::block::rendezvous::collective::{LaneRegisters, WarpRegisters};
use crate::block::rendezvous::{Operation, Request};
use crate::current::expect_current;

/// Waits until all lanes of `mask` that have not exited have reached a synchronisation with this mask.
#[inline(always)]
#[track_caller]
pub fn sync(mask: u32) {
    let request = Request { operation: Operation::Sync, mask, value: 0, source: 0, at: Location::caller() };
    expect_current("warp::sync").meet(request);
}

/// Exchanges values among the lanes of `mask`. Returns the `value` of `source_lane`, or `None` if that lane does not
/// participate because it is not in the mask or has exited.
#[inline(always)]
#[track_caller]
pub fn exchange(mask: u32, value: u64, source_lane: u32) -> Option<u64> {
    let operation = Operation::Exchange;
    let request = Request { operation, mask, value, source: source_lane, at: Location::caller() };
    expect_current("warp::exchange").meet(request)
}

/// Returns the value that a shuffle returns to a lane if the lane `source` takes no part in it. `own` is the value that
/// the calling lane contributes. CUDA leaves the result unspecified. It differs between schedules, and a checked launch
/// reports a kernel whose results depend on it.
#[cold]
#[track_caller]
pub fn unspecified(mask: u32, own: u64, source: u32) -> u64 {
    let block = expect_current("warp::unspecified");
    let (thread, sighting) = (block.thread(), block.sighting(mask, source, Location::caller()));
    block.grid().unspecified.value(sighting, block.position() << 10 | u64::from(thread.linear()), own)
}

/// Returns the lanes of `mask` whose `predicate` is true, one bit per lane. Lanes that have exited count as false.
#[inline(always)]
#[track_caller]
pub fn ballot(mask: u32, predicate: bool) -> u32 {
    let (operation, value) = (Operation::Ballot, predicate.into());
    let request = Request { operation, mask, value, source: 0, at: Location::caller() };
    let votes = expect_current("warp::ballot").meet(request);
    votes.unwrap_or_default() as u32
}

/// Compares the `value`s of the participating lanes of `mask`. Returns the mask of lanes with the caller's value, and
/// the mask of all participating lanes.
#[inline(always)]
#[track_caller]
pub fn match_any(mask: u32, value: u64) -> (u32, u32) {
    let request = Request { operation: Operation::Match, mask, value, source: 0, at: Location::caller() };
    let result = expect_current("warp::match_any").meet(request).unwrap_or_default();
    (result as u32, (result >> 32) as u32)
}

/// Returns the `reduction` of the values of the participating lanes of `mask`.
#[inline(always)]
#[track_caller]
pub fn reduce(mask: u32, value: u64, reduction: Reduction) -> u64 {
    let request = Request { operation: Operation::Reduce(reduction), mask, value, source: 0, at: Location::caller() };
    expect_current("warp::reduce").meet(request).unwrap_or_default()
}

/// Executes an instruction that all 32 lanes of a warp execute together (`.sync.aligned`). Each lane passes its
/// registers; `compute` replaces the registers of all lanes, and this lane receives its own. The instruction orders no
/// memory accesses.
///
/// `name` is the instruction's name in PTX with its types and shape. Lanes with different names or source lines do not
/// execute the instruction together. A lane that has exited or does not reach the instruction is a fault, and so is a
/// warp with fewer than 32 threads.
#[track_caller]
pub fn collective(name: &'static str, registers: &mut LaneRegisters, compute: fn(&mut WarpRegisters)) {
    expect_current("warp::collective").collective(name, registers, compute, Location::caller());
}

/// Returns the mask of lanes that run together with the caller. All lanes of the mask receive the same one. GPUs may
/// return any such set, so a kernel must not rely on more.
///
/// In most schedules the mask has only the caller's bit, because simulated lanes do not run in lock-step. In the
/// reversed order it has all lanes that reach the same line before the warp has to wait, and in pseudo-random orders a
/// part of these.
#[inline(always)]
#[track_caller]
pub fn active_mask() -> u32 {
    expect_current("warp::active_mask").active_mask(Location::caller())
}
