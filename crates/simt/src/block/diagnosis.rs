//! Finds out why the threads of a block cannot continue.

use super::Block;
use crate::faults::whereabouts::{Activity, Whereabouts};
use crate::faults::{Fault, FaultKind};
use crate::lanes::{LANES, Thread};
use crate::watch::is_watching;

impl Block {
    /// Returns the fault of a deadlocked block: no thread of the block can run, no thread polls, and some threads wait
    /// at a barrier or warp operation that other threads never reach.
    pub(crate) fn deadlock(&self) -> Fault {
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
            return self.starvation();
        };
        let absent = group.mask & !group.arrived & !self.run_queue.warp_of(thread).exited();
        let other = self.context.extent.thread(thread.warp() as u32 * LANES + absent.trailing_zeros() % LANES);
        let other = Some(Box::new(self.whereabouts(other)));
        self.fault_of(thread, Some(group.at.into()), FaultKind::WarpMismatch { mask: group.mask, other })
    }

    /// Returns the fault of a block whose threads have done nothing but poll for too long.
    pub(crate) fn starvation(&self) -> Fault {
        let waiting = self.run_queue.waiting();
        // A thread that has yielded before an access polls as well.
        let polling = self.context.extent.threads - self.run_queue.exited() - waiting;
        let (at, thread) = match self.last_poll.get() {
            Some((at, thread)) => (Some(at.into()), thread),
            None => (None, self.thread()),
        };
        let waits = |&thread: &Thread| self.is_at_barrier(thread) || self.rendezvous.group_of(thread).is_some();
        let held_up = self.context.extent.iter().find(waits).map(|thread| Box::new(self.whereabouts(thread)));
        self.fault_of(thread, at, FaultKind::NoProgress { polling, waiting, held_up })
    }

    fn is_at_barrier(&self, thread: Thread) -> bool {
        self.run_queue.warp_of(thread).at_barrier.get() & thread.bit() != 0
    }

    fn whereabouts(&self, thread: Thread) -> Whereabouts {
        let (activity, at) = if self.run_queue.warp_of(thread).exited() & thread.bit() != 0 {
            (Activity::Exited, self.last_seen.get(thread).filter(|_| is_watching()))
        } else if self.is_at_barrier(thread) {
            (Activity::AtBarrier, self.barrier.at.get().map(|(at, _)| at))
        } else if let Some(group) = self.rendezvous.group_of(thread) {
            (Activity::AtWarpOperation { mask: group.mask }, Some(group.at))
        } else {
            (Activity::Polling, self.last_seen.get(thread))
        };
        Whereabouts { thread: thread.index(), activity, location: at.map(Into::into) }
    }
}
