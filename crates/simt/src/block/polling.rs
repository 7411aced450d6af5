//! What is known of threads that poll: how far they have come, and where they were seen.

use std::cell::Cell;

use crate::lanes::{MAX_THREADS, Thread};
use crate::source::Line;

/// How often a thread polls before others run.
pub(crate) const POLLS_IN_A_ROW: u32 = 8;

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
    pub(crate) fn advance(&self, thread: Thread, address: usize) -> bool {
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
