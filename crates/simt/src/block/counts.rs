//! The state of a block's barrier, and the counts of its progress.

use std::cell::Cell;

use crate::lanes::Thread;
use crate::source::Line;

/// The state of the block barrier.
#[derive(Default)]
pub(crate) struct Barrier {
    pub(crate) arrived: Cell<u32>,
    pub(crate) votes: Cell<u32>,
    /// The number of threads whose predicate was true at the last completed barrier.
    pub(crate) result: Cell<u32>,
    /// The first thread that waits at the barrier, and the line at which it waits.
    pub(crate) at: Cell<Option<(Line, Thread)>>,
    /// True if all threads have reached a barrier of the grid and wait for the other blocks.
    pub(crate) waits_for_grid: Cell<bool>,
}

/// The numbers of barriers and warp operations that a block has completed, and a counter of its progress.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) barriers: Cell<u64>,
    pub(crate) operations: Cell<u64>,
    /// The number of events that may let another thread continue: exits, barriers, warp operations, synchronising
    /// writes.
    pub(crate) progress: Cell<u64>,
}
