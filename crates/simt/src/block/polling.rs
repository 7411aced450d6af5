//! Tracks threads that poll: their progress, and the lines at which they were last seen.

use std::cell::Cell;

use crate::lanes::{MAX_THREADS, Thread};
use crate::source::Line;

/// The number of times that a thread polls before others run.
pub(crate) const POLLS_IN_A_ROW: u32 = 8;

/// The number of plain loads from one address at one line after which further ones count as polls.
const LOADS_OF_NO_POLL: u32 = 1024;
/// The maximum number of plain loads in a loop that is recognised as polling.
const LOADS_OF_A_LOOP: u32 = 64;

/// A plain load that a thread may repeat.
#[derive(Clone, Default)]
struct Repeated {
    address: Cell<usize>,
    at: Cell<Option<Line>>,
    /// The number of plain loads of the thread since this one was last made.
    since: Cell<u32>,
    times: Cell<u32>,
}

/// Finds plain loads that threads repeat. In a watched launch, a thread that waits for a plain store then lets others
/// run, so that the race is found.
pub(crate) struct PlainLoads {
    repeated: Box<[Repeated]>,
    is_used: Cell<bool>,
}

impl Default for PlainLoads {
    fn default() -> Self {
        Self { repeated: vec![Repeated::default(); MAX_THREADS].into(), is_used: Cell::new(false) }
    }
}

impl PlainLoads {
    /// Resets the state for a block of `threads` threads.
    pub(crate) fn begin(&self, threads: u32) {
        if self.is_used.replace(false) {
            for repeated in &self.repeated[..threads as usize] {
                repeated.address.set(0);
                repeated.since.set(0);
            }
        }
    }

    /// Returns true if `thread` has made the load from `address` at `at` so often that it counts as a poll.
    #[inline(always)]
    pub(crate) fn is_poll(&self, thread: Thread, address: usize, at: Line) -> bool {
        let repeated = &self.repeated[thread.linear() as usize % MAX_THREADS];
        let since = repeated.since.get() + 1;
        repeated.since.set(since);
        self.is_used.set(true);
        (repeated.address.get() == address || since > LOADS_OF_A_LOOP) && repeated.is_repeated_often(address, at)
    }
}

impl Repeated {
    /// Counts the load if it is the tracked one. Tracks it instead if the tracked one was not repeated for long.
    #[cold]
    fn is_repeated_often(&self, address: usize, at: Line) -> bool {
        let is_same = self.address.get() == address && self.at.get().is_some_and(|line| std::ptr::eq(line, at));
        if is_same {
            self.since.set(0);
            self.times.set(self.times.get().saturating_add(1));
            return self.times.get() >= LOADS_OF_NO_POLL;
        }
        if self.since.get() > LOADS_OF_A_LOOP {
            self.address.set(address);
            self.at.set(Some(at));
            self.since.set(0);
            self.times.set(0);
        }
        false
    }
}

/// The highest address that each thread has polled.
pub(crate) struct FurthestPolls {
    addresses: Box<[Cell<usize>]>,
    /// True if any address is not 0.
    is_used: Cell<bool>,
}

impl Default for FurthestPolls {
    fn default() -> Self {
        Self { addresses: vec![Cell::new(0); MAX_THREADS].into(), is_used: Cell::new(false) }
    }
}

impl FurthestPolls {
    /// Resets the state for a block whose threads have not polled yet.
    pub(crate) fn begin(&self) {
        if self.is_used.replace(false) {
            self.addresses.iter().for_each(|address| address.set(0));
        }
    }

    /// Returns true if `address` is higher than every address that `thread` has polled before.
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

/// The source line at which each thread was last seen: where it polled and, in a watched launch, where it accessed
/// memory or waited.
pub(crate) struct LastSeen {
    lines: Box<[Cell<Option<Line>>]>,
    /// True if any line is known.
    is_used: Cell<bool>,
}

impl Default for LastSeen {
    fn default() -> Self {
        Self { lines: vec![Cell::new(None); MAX_THREADS].into(), is_used: Cell::new(false) }
    }
}

impl LastSeen {
    /// Resets the state for a block whose threads have not been seen yet.
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
