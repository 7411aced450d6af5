//! Recognises threads that poll, and defines `PerThread`, which stores one value per thread of a block.

use std::cell::Cell;

use crate::lanes::{MAX_THREADS, Thread};
use crate::source::Line;

/// The number of times that a thread polls before the scheduler runs other threads.
pub(crate) const POLLS_IN_A_ROW: u32 = 8;

/// After this many plain loads from one address by one source line, further loads count as polls.
const LOADS_OF_NO_POLL: u32 = 1024;
/// The maximum number of plain loads in a loop that is recognised as polling.
const LOADS_OF_A_LOOP: u32 = 64;

/// A plain load that a thread may repeat.
#[derive(Clone, Default)]
struct Repeated {
    address: Cell<usize>,
    at: Cell<Option<Line>>,
    /// The number of plain loads that the thread has made since its last load from `address` at the line `at`.
    since: Cell<u32>,
    times: Cell<u32>,
}

/// Recognises plain loads that threads repeat. In a watched launch, a thread that repeats a load until a plain store
/// changes the value lets other threads run. The checker then sees the store and reports the race.
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

    /// Returns true if `thread` has repeated the load from `address` at line `at` often enough that it counts as a
    /// poll.
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
    /// Counts a load that repeats the tracked load, and returns true if the tracked load was repeated often enough to
    /// be a poll. Any other load replaces the tracked load if the thread has not repeated the tracked load for a while.
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

/// A table with one value per thread of a block, initially `T::default()`. A reset costs nothing if no value was set.
pub(crate) struct PerThread<T> {
    values: Box<[Cell<T>]>,
    is_used: Cell<bool>,
}

impl<T: Clone + Copy + Default> Default for PerThread<T> {
    fn default() -> Self {
        Self { values: vec![Cell::new(T::default()); MAX_THREADS].into(), is_used: Cell::new(false) }
    }
}

impl<T: Copy + Default> PerThread<T> {
    /// Resets all values for a new block.
    pub(crate) fn begin(&self) {
        if self.is_used.replace(false) {
            self.values.iter().for_each(|value| value.set(T::default()));
        }
    }

    /// Returns true if any value was set.
    #[inline]
    pub(crate) fn is_used(&self) -> bool {
        self.is_used.get()
    }

    #[inline]
    pub(crate) fn get(&self, thread: Thread) -> T {
        self.values[thread.linear() as usize % MAX_THREADS].get()
    }

    #[inline]
    pub(crate) fn set(&self, thread: Thread, value: T) {
        self.values[thread.linear() as usize % MAX_THREADS].set(value);
        self.is_used.set(true);
    }
}
