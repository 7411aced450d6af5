//! The block barrier.

use std::panic::Location;

use crate::block::{Block, Line};
use crate::fault::FaultKind;

/// Whether two operations stand at the same place of the source. One place may have several `Location`s, as every
/// instance of a generic function has its own.
#[inline]
pub(crate) fn is_same_line(a: Line, b: Line) -> bool {
    std::ptr::eq(a, b) || Location::eq(a, b)
}

impl Block {
    /// The current thread waits until all threads of the block have come to the same barrier. Gives the number of
    /// threads whose `predicate` holds.
    #[inline(always)]
    pub(crate) fn synchronize(&self, predicate: bool, at: Line) -> u32 {
        if !self.arrive(predicate, at) {
            return predicate.into();
        }
        self.suspend();
        self.barrier.result.get()
    }

    /// Notes that the current thread is at a barrier. Gives false if it must not wait there.
    #[inline(never)]
    fn arrive(&self, predicate: bool, at: Line) -> bool {
        if self.is_unwinding() {
            return false;
        }
        let thread = self.thread.get();
        let barrier = &self.barrier;
        let arrived = barrier.arrived.get() + 1;
        match barrier.at.get() {
            Some((other, other_thread)) if arrived > 1 => {
                if !is_same_line(at, other) {
                    let other_thread = other_thread.index();
                    self.raise(FaultKind::BarrierMismatch { other: other.into(), other_thread }, at);
                }
            }
            _ => barrier.at.set(Some((at, thread))),
        }
        barrier.arrived.set(arrived);
        barrier.votes.set(barrier.votes.get() + u32::from(predicate));
        let warp = &self.warps[thread.warp()];
        warp.at_barrier.set(warp.at_barrier.get() | thread.bit());
        if arrived == self.threads {
            self.complete_barrier();
        }
        true
    }

    fn complete_barrier(&self) {
        let barrier = &self.barrier;
        barrier.arrived.set(0);
        barrier.result.set(barrier.votes.replace(0));
        self.counts.barriers.set(self.counts.barriers.get() + 1);
        self.note_progress();
        for (warp, state) in self.warps_in_use().iter().enumerate() {
            self.wake(warp, state.at_barrier.replace(0));
        }
        self.choose_warp();
        if self.grid().is_cancelled(self.position()) {
            self.abandon();
        }
    }
}
