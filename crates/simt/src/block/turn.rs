//! Counts the synchronising accesses of a block, so that threads which wait by updates do not run for ever.
//!
//! # Design
//!
//! The scheduler lets other threads and blocks run when a thread polls: when it reads a value that does not change. A
//! thread can also wait by updates that change a value, such as `fetch_add` and `fetch_sub` on a readers–writer lock,
//! or by barriers. The accesses of a block are therefore counted in *slices*. At the end of a slice, the current thread
//! lets the other threads of its block run. After some slices, the worker lets other blocks run.
//!
//! The length of a slice varies. Otherwise a slice could always end at the same point of a loop, for example where a
//! reader holds the lock.

use std::cell::Cell;

use super::Block;
use crate::faults::FaultKind;
use crate::order::scramble;
use crate::schedule::Schedule;
use crate::source::Line;
use crate::watch::is_watching;

/// The maximum number of synchronising accesses in a slice.
const SLICE: u32 = 1 << 10;
/// A slice is shorter than [`SLICE`] by less than this number of accesses. A power of two.
const MAX_SHORTER: u32 = 1 << 8;
/// The number of slices after which other blocks run.
const SLICES_OF_TURN: u32 = 1 << 4;
/// Replaces [`SLICES_OF_TURN`] in launches without a watcher. Such a launch may run on several OS threads. Its result
/// is the same in each run only if blocks run one after the other.
const SLICES_OF_UNWATCHED_TURN: u32 = 1 << 10;

/// A barrier of the block counts as this many accesses, but does not end a slice.
const ACCESSES_OF_BARRIER: u32 = 32;

/// The synchronising accesses of a block: polls, atomic stores, and atomic updates that change a value.
#[derive(Default)]
pub(super) struct Turn {
    /// The number of accesses that are left in the current slice.
    left: Cell<u32>,
    /// The number of slices that have ended in the current turn of the block.
    slices: Cell<u32>,
    /// The number of slices that have begun.
    begun: Cell<u64>,
}

impl Turn {
    fn begin_slice(&self) {
        self.begun.set(self.begun.get() + 1);
        self.left.set(SLICE - scramble(self.begun.get()) as u32 % MAX_SHORTER);
    }

    /// Counts an access. Returns true if it is the last one of a slice.
    #[inline]
    pub(super) fn count(&self) -> bool {
        let left = self.left.get() - 1;
        self.left.set(left);
        left == 0
    }

    /// Counts a barrier of the block. A slice ends at an access: a loop with barriers alone waits for no other block.
    pub(super) fn count_barrier(&self) {
        self.left.set(self.left.get().saturating_sub(ACCESSES_OF_BARRIER).max(1));
    }
}

impl Block {
    /// Notes that another turn of the block begins.
    pub(crate) fn begin_turn(&self) {
        self.turn.slices.set(0);
        self.turn.begin_slice();
    }

    /// Returns true if the worker must run other blocks, because this block has made many synchronising accesses in its
    /// turn.
    pub(crate) fn is_turn_over(&self) -> bool {
        let max = match self.grid().schedule {
            // Another thread may be held, and there are many such orders.
            Schedule::Held(..) | Schedule::Chosen(_) => 1,
            _ if is_watching() => SLICES_OF_TURN,
            _ => SLICES_OF_UNWATCHED_TURN,
        };
        self.turn.slices.get() >= max
    }

    /// Counts an event that may let another thread continue.
    #[inline]
    pub(crate) fn note_progress(&self) {
        self.counts.progress.set(self.counts.progress.get() + 1);
        if self.is_stalled.get() {
            self.grid().note_activity();
        }
    }

    /// Notes that the current thread has changed a value by an atomic access at the line `at`. Such an event may let
    /// another thread continue. After many such accesses of the block, lets other threads run.
    #[inline]
    pub(crate) fn note_write(&self, at: Line) {
        self.note_progress();
        if self.turn.count() {
            self.end_slice(at);
            self.let_others_run();
        }
    }

    /// Ends the current slice. In a search for failing schedules, ends a launch that makes no progress with a fault.
    #[cold]
    pub(super) fn end_slice(&self, at: Line) {
        self.turn.slices.set(self.turn.slices.get() + 1);
        self.turn.begin_slice();
        if self.grid().note_slice() && !self.is_unwinding() {
            let reason = "in this order of the threads, the launch has made more synchronising accesses than the search \
                          allows, and no block has ended: give the kernel less work, or end its loops";
            self.raise(FaultKind::SimulatorLimit(reason.to_owned()), at);
        }
    }
}
