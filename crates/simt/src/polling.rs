//! Threads that wait for a write: they poll, and now and then let others run.

use std::cell::Cell;

use crate::block::Block;
use crate::fault::Line;
use crate::lanes::{MAX_THREADS, Thread};

/// The highest address that each thread has polled.
pub(crate) struct FurthestPolls {
    addresses: Box<[Cell<usize>]>,
    /// Whether any is not 0.
    is_used: Cell<bool>,
}

impl Default for FurthestPolls {
    fn default() -> Self {
        Self { addresses: vec![Cell::new(0); MAX_THREADS].into(), is_used: Cell::new(false) }
    }
}

impl FurthestPolls {
    /// For threads that have not polled yet.
    pub(crate) fn begin(&self) {
        if self.is_used.replace(false) {
            self.addresses.iter().for_each(|address| address.set(0));
        }
    }

    /// Whether `thread` polls `address` further on than any that it has polled.
    #[inline]
    fn advance(&self, thread: Thread, address: usize) -> bool {
        let furthest = &self.addresses[thread.linear() as usize];
        let is_further = address > furthest.get();
        if is_further {
            furthest.set(address);
            self.is_used.set(true);
        }
        is_further
    }
}

/// The source line at which each thread was seen last: where it polled, and, in a launch that is watched, where it
/// accessed memory or waited.
pub(crate) struct LastSeen {
    lines: Box<[Cell<Option<Line>>]>,
    /// Whether any is known.
    is_used: Cell<bool>,
}

impl Default for LastSeen {
    fn default() -> Self {
        Self { lines: vec![Cell::new(None); MAX_THREADS].into(), is_used: Cell::new(false) }
    }
}

impl LastSeen {
    /// For threads that have not been seen yet.
    pub(crate) fn begin(&self) {
        if self.is_used.replace(false) {
            self.lines.iter().for_each(|line| line.set(None));
        }
    }

    #[inline]
    pub(crate) fn note(&self, thread: Thread, at: Line) {
        self.lines[thread.linear() as usize % MAX_THREADS].set(Some(at));
        self.is_used.set(true);
    }

    pub(crate) fn of(&self, thread: Thread) -> Option<Line> {
        self.lines[thread.linear() as usize].get()
    }
}

impl Block {
    /// The current thread found nothing new: now and then lets others run.
    #[inline]
    pub(crate) fn poll(&self, at: Line) {
        let left = self.polls_left.get() - 1;
        if left > 0 {
            self.polls_left.set(left);
        } else {
            self.wait_polling(at);
        }
    }

    /// As [`Block::poll`], of `address` in global memory. A thread that has come further than ever is reading its way
    /// through memory, and not waiting: as there is an end to memory, that cannot go on for ever.
    #[inline]
    pub(crate) fn poll_at(&self, address: usize, at: Line) {
        if self.furthest_polls.advance(self.thread.get(), address) {
            self.note_progress();
        }
        self.poll(at);
    }

    #[cold]
    fn wait_polling(&self, at: Line) {
        if self.is_unwinding() {
            self.polls_left.set(self.polls_in_a_row.get());
            return;
        }
        let thread = self.thread.get();
        self.schedule.poll(thread);
        self.last_poll.set(Some((at, thread)));
        self.last_seen.note(thread, at);
        self.suspend();
    }
}
