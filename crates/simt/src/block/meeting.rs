//! Makes the threads of a block wait for each other at block barriers and warp operations.

use super::Block;
use super::rendezvous::{Operation, Request};
use crate::faults::{Fault, FaultKind};
use crate::lanes::{LANES, Thread};
use crate::raw::notes::NoteKind;
use crate::source::{Line, is_same_line};
use crate::synchronisations::SyncKind;
use crate::watch::{BarrierDivergence, Watcher, is_watching};

impl Block {
    /// Makes the current thread wait until all threads of the block have reached the same barrier. Returns the number
    /// of threads whose `predicate` is true.
    #[inline(always)]
    pub(crate) fn synchronize(&self, kind: SyncKind, predicate: bool, at: Line) -> u32 {
        if !self.arrive(kind, predicate, at) {
            return predicate.into();
        }
        self.suspend();
        self.barrier.result.get()
    }

    /// Notes that the current thread is at a barrier. Returns false if the thread must not wait there.
    #[inline(never)]
    fn arrive(&self, kind: SyncKind, predicate: bool, at: Line) -> bool {
        if self.is_unwinding() || (self.leaves_out(kind, at) && matches!(kind, SyncKind::Barrier | SyncKind::Grid)) {
            return false;
        }
        let thread = self.thread();
        if is_watching() {
            self.last_seen.set(thread, Some(at));
        }
        let barrier = &self.barrier;
        let arrived = barrier.arrived.get() + 1;
        match barrier.at.get() {
            Some((other, other_thread)) if arrived > 1 => {
                if !is_same_line(at, other) {
                    let (other, other_thread) = (Box::new(other.into()), other_thread.index());
                    self.raise(FaultKind::BarrierMismatch { other, other_thread }, at);
                }
            }
            _ => barrier.at.set(Some((at, thread))),
        }
        barrier.arrived.set(arrived);
        barrier.votes.set(barrier.votes.get() + u32::from(predicate));
        if is_watching() {
            self.check_call_path(thread, at);
        }
        let warp = self.run_queue.warp_of(thread);
        warp.at_barrier.set(warp.at_barrier.get() | thread.bit());
        if arrived == self.context.extent.threads {
            match kind {
                SyncKind::Grid => self.barrier.waits_for_grid.set(true),
                _ => self.complete_barrier(kind, at),
            }
        }
        true
    }

    /// Compares the call path by which `thread` reached the barrier at `at` with the call path of the threads that
    /// already wait there. If the two paths differ, reports a fault or a warning. On a GPU, all lanes of a warp execute
    /// one barrier instruction together.
    fn check_call_path(&self, thread: Thread, at: Line) {
        let Some(allowed) = self.watcher().map(Watcher::allowed_divergence) else { return };
        let waiting = self.run_queue.warp_of(thread).at_barrier.get();
        let other = match self.barrier.at.get() {
            _ if allowed == BarrierDivergence::Lanes => return,
            _ if waiting != 0 => self.context.extent.thread(thread.warp() as u32 * LANES + waiting.trailing_zeros()),
            Some((_, first)) if first.warp() != thread.warp() && allowed == BarrierDivergence::Forbidden => first,
            _ => return,
        };
        // SAFETY: neither thread runs on, because `other` waits at the barrier, and the current thread is in this call.
        if let Some(paths) = unsafe { self.call_paths.differing([thread, other]) } {
            let (paths, other_thread) = (Box::new(paths), other.index());
            if waiting != 0 {
                self.raise(FaultKind::BarrierApart { other_thread, paths }, at);
            }
            let (block, threads) = (self.context.index(), [thread.index(), other_thread]);
            self.grid().warn(Some(at), NoteKind::WarpsApart { block, threads, paths });
        }
    }

    /// Makes the current thread wait until all threads of all blocks have reached the barrier.
    pub(crate) fn synchronize_grid(&self, at: Line) {
        if !self.grid().config.is_cooperative && !self.is_unwinding() {
            let reason = "a launch that is not cooperative reached a barrier of the grid: add `.cooperative()` to its \
                configuration";
            self.raise(FaultKind::InvalidLaunch(reason.to_owned()), at);
        }
        self.synchronize(SyncKind::Grid, false, at);
    }

    /// Lets the block's threads continue after all blocks have reached the grid's barrier.
    pub(crate) fn leave_grid_barrier(&self) {
        if self.barrier.waits_for_grid.replace(false)
            && let Some((at, _)) = self.barrier.at.get()
        {
            self.complete_barrier(SyncKind::Grid, at);
        }
    }

    /// Returns the fault of this block, which waits at a barrier of the grid. `waiting` blocks wait at this barrier,
    /// and `ended` blocks have ended without reaching it.
    pub(crate) fn grid_deadlock(&self, waiting: u64, ended: u64) -> Fault {
        let (at, thread) = match self.barrier.at.get() {
            Some((at, thread)) => (Some(at.into()), thread),
            None => (None, self.thread()),
        };
        self.fault_of(thread, at, FaultKind::GridBarrierNotReached { waiting, ended })
    }

    fn complete_barrier(&self, kind: SyncKind, at: Line) {
        let barrier = &self.barrier;
        barrier.arrived.set(0);
        barrier.result.set(barrier.votes.replace(0));
        self.counts.barriers.set(self.counts.barriers.get() + 1);
        self.turn.count_barrier();
        self.note_progress();
        if is_watching() && !self.leaves_out(kind, at) {
            self.notify(|watcher, block| watcher.barrier(block, at));
        }
        self.run_queue.wake_at_barrier();
        if self.grid().is_cancelled(self.position()) {
            self.abandon();
        }
    }

    /// Makes the current lane wait until each other lane of the mask has exited or has reached the same operation with
    /// the same mask. Returns the operation's result.
    #[inline(always)]
    pub(crate) fn meet(&self, request: Request) -> Option<u64> {
        if !self.join(&request) {
            return None;
        }
        self.suspend();
        self.rendezvous.result(self.thread())
    }

    /// Notes that the current lane is at a warp operation. Returns false if the lane must not wait there.
    #[inline(never)]
    fn join(&self, request: &Request) -> bool {
        let is_sync = request.operation == Operation::Sync;
        if self.is_unwinding() || (self.leaves_out(request.operation.into(), request.at) && is_sync) {
            return false;
        }
        let thread = self.thread();
        if is_watching() {
            self.rendezvous.note_seen_before(thread, self.last_seen.get(thread));
            self.last_seen.set(thread, Some(request.at));
        }
        if request.mask & thread.bit() == 0 {
            self.raise(FaultKind::WarpMismatch { mask: request.mask, other: None }, request.at);
        }
        let warp = self.run_queue.warp_of(thread);
        warp.at_operation.set(warp.at_operation.get() | thread.bit());
        if let Some(completed) = self.rendezvous.join(thread, request, warp.exited()) {
            self.complete_operation(thread.warp(), completed);
        }
        true
    }
}
