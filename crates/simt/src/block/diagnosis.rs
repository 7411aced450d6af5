//! Finds out why the threads of a block cannot continue.

use std::sync::PoisonError;

use super::Block;
use crate::faults::wait::{Change, PhaseWait, Wait};
use crate::faults::whereabouts::{Activity, Whereabouts};
use crate::faults::{Fault, FaultKind};
use crate::lanes::{LANES, Thread};
use crate::region::{self, ArrayPosition, Space};
use crate::source::Line;
use crate::unspecified::Sighting;
use crate::watch::is_watching;

/// The maximum number of waiting threads that a fault names.
const MAX_WAITS: usize = 8;

impl Block {
    /// Returns the fault of a deadlocked block: no thread of the block can run, no thread polls, and some threads wait
    /// at a barrier or warp operation that other threads never reach.
    pub(crate) fn deadlock(&self) -> Fault {
        if self.barrier.arrived.get() == 0
            && let Some(fault) = self.cluster_deadlock()
        {
            return fault;
        }
        if let Some((thread, at, kind)) =
            self.waiting_collective().or_else(|| self.waiting_for_warpgroup()).or_else(|| self.waiting_for_registers())
        {
            return self.fault_of(thread, Some(at.into()), kind);
        }
        if self.barrier.arrived.get() > 0
            && let Some((at, thread)) = self.barrier.at.get()
        {
            let missing = self.context.extent.iter().find(|&thread| !self.is_at_barrier(thread)).unwrap_or(thread);
            let kind = FaultKind::BarrierNotReached {
                waiting: self.barrier.arrived.get(),
                exited: self.run_queue.exited(),
                missing: Box::new(self.whereabouts(missing)),
            };
            return self.fault_of(thread, Some(at.into()), kind);
        }
        let waiting = self.context.extent.iter().find_map(|thread| Some((thread, self.rendezvous.group_of(thread)?)));
        let Some((thread, group)) = waiting else {
            return self.starvation(std::iter::once(self));
        };
        let absent = group.mask & !group.arrived & !self.run_queue.warp_of(thread).exited();
        let other = self.context.extent.thread(thread.warp() as u32 * LANES + absent.trailing_zeros() % LANES);
        let other = Some(Box::new(self.whereabouts(other)));
        self.fault_of(thread, Some(group.at.into()), FaultKind::WarpMismatch { mask: group.mask, other })
    }

    /// Returns the fault of a block whose threads have done nothing but poll for too long.
    pub(crate) fn starvation<'a>(&self, blocks: impl Iterator<Item = &'a Self>) -> Fault {
        if let Some((thread, at, kind)) = self.waiting_for_warpgroup().or_else(|| self.waiting_for_registers()) {
            return self.fault_of(thread, Some(at.into()), kind);
        }
        let waiting = self.run_queue.waiting() + self.membership.waiting();
        // A thread that has yielded before an access polls as well.
        let polling = self.context.extent.threads - self.run_queue.exited() - waiting;
        let (at, thread) = match self.last_poll.get() {
            Some((at, thread)) => (Some(at.into()), thread),
            None => (None, self.thread()),
        };
        let is_waiting = |&thread: &Thread| {
            self.is_at_barrier(thread)
                || self.rendezvous.group_of(thread).is_some()
                || self.membership.is_waiting(thread)
        };
        let held_up = self.context.extent.iter().find(is_waiting).map(|thread| Box::new(self.whereabouts(thread)));
        let waits: Vec<Wait> = blocks.flat_map(Self::waits).take(MAX_WAITS).collect();
        // A thread that waits for bytes is nearer to the cause than the thread that has polled last.
        let waits_for_bytes = |wait: &&Wait| wait.phase.as_ref().is_some_and(|phase| phase.bytes.is_some());
        let mut own = waits.iter().filter(|wait| wait.block == self.context.index());
        let starved = own.find(waits_for_bytes).and_then(|wait| {
            let thread = self.context.extent.iter().find(|thread| thread.index() == wait.thread)?;
            Some((Some(wait.location.clone()), thread))
        });
        let (at, thread) = starved.unwrap_or((at, thread));
        self.fault_of(thread, at, FaultKind::NoProgress { polling, waiting, held_up, waits })
    }

    /// Returns the threads of this block that poll, one for each source line and element. The first one has polled
    /// last.
    fn waits(&self) -> Vec<Wait> {
        let mut waits: Vec<Wait> = Vec::new();
        let last = self.last_poll.get().map(|(_, thread)| thread);
        let is_active = |thread: &Thread| {
            let warp = self.run_queue.warp_of(*thread);
            (warp.exited() | warp.at_barrier.get() | warp.at_operation.get()) & thread.bit() == 0
                && !self.membership.is_waiting(*thread)
        };
        for thread in last.into_iter().chain(self.context.extent.iter()).filter(is_active) {
            let key = |wait: &Wait| {
                let phase = wait.phase.as_ref().map(|phase| (phase.address, phase.number));
                (wait.location.clone(), wait.element, phase)
            };
            let is_like = |wait: &Wait, other: &Wait| key(wait) == key(other);
            if let Some(wait) = self.wait(thread)
                && !waits.iter().any(|other| is_like(&wait, other))
            {
                waits.push(wait);
            }
        }
        waits
    }

    /// Returns the memory that `thread` polls, or `None` if it polls none.
    fn wait(&self, thread: Thread) -> Option<Wait> {
        let (space, address) = self.last_polled.get(thread)?;
        let at = self.last_seen.get(thread)?;
        let position = match space {
            Space::Global => region::locate(self.grid().regions, address),
            Space::Shared => self.context.arena.locate(address, 8),
        };
        let changes = self.grid().changes.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = changes
            .get(&(self.key_of(space), address))
            .map(|&(block, thread, at)| Box::new(Change { block, thread: thread.index(), location: at.into() }));
        let element = position.and_then(ArrayPosition::named);
        let phase = match space {
            Space::Global => None,
            Space::Shared => self.watcher().and_then(|watcher| watcher.phase_wait(&self.context, thread, address)),
        };
        let phase = phase.map(|phase| PhaseWait { bytes: self.context.bulk.counts.report(address as u32), ..phase });
        let (block, thread, location) = (self.context.index(), thread.index(), at.into());
        Some(Wait { block, thread, location, element, changed, phase: phase.map(Box::new) })
    }

    /// Notes that the current thread has changed the value at `address` in `space` by an atomic access.
    #[cold]
    pub(crate) fn note_change(&self, space: Space, address: usize, at: Line) {
        let change = (self.context.index(), self.thread(), at);
        let mut changes = self.grid().changes.lock().unwrap_or_else(PoisonError::into_inner);
        changes.insert((self.key_of(space), address), change);
    }

    fn key_of(&self, space: Space) -> u64 {
        if space == Space::Global { 0 } else { self.position() + 1 }
    }

    /// Describes the shuffle at `at` that the current thread has just called, and in which its `source` takes no part.
    pub(crate) fn sighting(&self, mask: u32, source: u32, at: Line) -> Sighting {
        let (thread, extent) = (self.thread(), self.context.extent);
        let linear = (thread.linear() - thread.lane()).saturating_add(source);
        let exists = linear < extent.threads;
        let seen = exists.then(|| self.last_seen.get(extent.thread(linear))).flatten();
        let (block, before) = (self.context.index(), self.rendezvous.seen_before(thread));
        Sighting { at, block, thread: thread.index(), mask, source, exists, seen, before }
    }

    fn is_at_barrier(&self, thread: Thread) -> bool {
        self.run_queue.warp_of(thread).at_barrier.get() & thread.bit() != 0
    }

    pub(crate) fn whereabouts(&self, thread: Thread) -> Whereabouts {
        let (activity, at) = if self.run_queue.warp_of(thread).exited() & thread.bit() != 0 {
            (Activity::Exited, self.last_seen.get(thread).filter(|_| is_watching()))
        } else if self.is_at_barrier(thread) {
            (Activity::AtBarrier, self.barrier.at.get().map(|(at, _)| at))
        } else if let Some(group) = self.rendezvous.group_of(thread) {
            (Activity::AtWarpOperation { mask: group.mask }, Some(group.at))
        } else if self.waits_for_products(thread) {
            (Activity::AtProducts, self.last_seen.get(thread))
        } else if self.waits_for_registers(thread) {
            (Activity::AtRegisters, self.last_seen.get(thread))
        } else if self.membership.is_waiting(thread) {
            (Activity::AtClusterBarrier, self.membership.line_of(thread))
        } else {
            (Activity::Polling, self.last_seen.get(thread))
        };
        Whereabouts { thread: thread.index(), activity, location: at.map(Into::into) }
    }
}
