//! Why the threads of a block cannot go on.

use crate::block::{Block, LANES, Line, Thread};
use crate::fault::{Activity, Fault, FaultKind, Whereabouts};

impl Block {
    /// The fault of a block in which no thread can run, and not all have exited, nor does any poll in vain: some
    /// wait at a barrier or at a warp operation for others that never come.
    pub(crate) fn deadlock(&self) -> Fault {
        if self.barrier.arrived.get() > 0
            && let Some((at, thread)) = self.barrier.at.get()
        {
            let missing = self.find(|thread| !self.is_at_barrier(thread)).unwrap_or(thread);
            let kind = FaultKind::BarrierNotReached {
                waiting: self.barrier.arrived.get(),
                exited: self.exited.get(),
                missing: self.whereabouts(missing),
            };
            return self.fault_of(thread, Some(at.into()), kind);
        }
        let waits = |thread: Thread| self.warps[thread.warp()].at_operation.get() & thread.bit() != 0;
        let thread = self.find(waits).unwrap_or_else(|| self.thread.get());
        let Some((mask, arrived, at)) = self.group_of(thread) else {
            return self.starvation();
        };
        let absent = mask & !arrived & !self.warps[thread.warp()].exited.get();
        let other = self.thread_at(thread.warp() as u32 * LANES + (absent.trailing_zeros() % LANES));
        let kind = FaultKind::WarpMismatch { mask, other: Some(self.whereabouts(other)) };
        self.fault_of(thread, Some(at.into()), kind)
    }

    /// The fault of a block that has only polled for too long.
    pub(crate) fn starvation(&self) -> Fault {
        let polling = self.polling();
        let waiting = self.threads - self.exited.get() - polling;
        let (at, thread) = match self.last_poll.get() {
            Some((at, thread)) => (Some(at.into()), thread),
            None => (None, self.thread.get()),
        };
        self.fault_of(thread, at, FaultKind::NoProgress { polling, waiting })
    }

    /// The first thread for which `is_it` holds.
    fn find(&self, is_it: impl Fn(Thread) -> bool) -> Option<Thread> {
        (0..self.threads).map(|linear| self.thread_at(linear)).find(|&thread| is_it(thread))
    }

    fn is_at_barrier(&self, thread: Thread) -> bool {
        self.warps[thread.warp()].at_barrier.get() & thread.bit() != 0
    }

    /// Mask, lanes and line of the warp operation that `thread` waits at.
    fn group_of(&self, thread: Thread) -> Option<(u32, u32, Line)> {
        let groups = self.rendezvous.groups(thread.warp());
        groups.iter().find(|group| group.arrived & thread.bit() != 0).map(|group| (group.mask, group.arrived, group.at))
    }

    fn whereabouts(&self, thread: Thread) -> Whereabouts {
        let warp = &self.warps[thread.warp()];
        let (activity, at) = if warp.exited.get() & thread.bit() != 0 {
            (Activity::Exited, None)
        } else if self.is_at_barrier(thread) {
            (Activity::AtBarrier, self.barrier.at.get().map(|(at, _)| at))
        } else if let Some((mask, _, at)) = self.group_of(thread) {
            (Activity::AtWarpOperation { mask }, Some(at))
        } else {
            let last = self.last_poll.get().filter(|(_, other)| other.linear() == thread.linear());
            (Activity::Polling, last.map(|(at, _)| at))
        };
        Whereabouts { thread: thread.index(), activity, location: at.map(Into::into) }
    }
}
