//! Records the accesses that the named barriers of a block order.

use super::clock::Clocks;
use super::vector_clock::VectorClock;
use crate::block::named::NAMED;

/// The accesses that happened before the arrivals at each named barrier.
#[derive(Default)]
pub(super) struct Named {
    /// The accesses before the arrivals of the current phase.
    now: [VectorClock; NAMED],
    /// The accesses before the arrivals of the last phase that has ended.
    before: [VectorClock; NAMED],
    is_used: bool,
}

impl Named {
    pub(super) fn begin(&mut self) {
        if std::mem::take(&mut self.is_used) {
            *self = Self::default();
        }
    }

    /// Records that `thread` arrives at the barrier `id`.
    pub(super) fn arrive(&mut self, clocks: &mut Clocks, thread: u32, id: usize) {
        self.is_used = true;
        let clock = clocks.snapshot(thread);
        self.now[id].join(&clock);
    }

    /// Records the end of a phase of the barrier `id`.
    pub(super) fn end_phase(&mut self, id: usize) {
        self.before[id] = std::mem::take(&mut self.now[id]);
    }

    /// Records that `thread` has waited for the end of a phase of the barrier `id`.
    pub(super) fn wait(&self, clocks: &mut Clocks, thread: u32, id: usize) {
        clocks.vectors_mut(thread).known.join(&self.before[id]);
    }
}
