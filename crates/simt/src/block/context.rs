//! The part of a block that the watcher of a launch (the checker or the profiler) can access.

use std::cell::Cell;

use super::arena::Arena;
use crate::bulk::BulkState;
use crate::geometry::Dim3;
use crate::lanes::{Extent, MAX_WARPS, Thread};

/// The part of a block that watchers can access. It does not include the block's scheduling state.
pub(crate) struct BlockContext {
    pub(super) thread: Cell<Thread>,
    pub(super) index: Cell<Dim3>,
    pub(super) position: Cell<u64>,
    /// The block's extent in threads.
    pub(crate) extent: Extent,
    /// The block's shared memory.
    pub(crate) arena: Arena,
    /// A number that the launch's watcher assigns to the block when the block begins.
    pub(crate) tag: Cell<u32>,
    /// The threads that ignore the values that their atomic updates return.
    pub(crate) unused: Unused,
    /// The bulk copies of the block's threads.
    pub(crate) bulk: BulkState,
}

/// One bit per thread. It is set while the thread ignores the values that its atomic updates return.
#[derive(Default)]
pub(crate) struct Unused([Cell<u32>; MAX_WARPS]);

impl Unused {
    fn begin(&self) {
        self.0.iter().for_each(|warp| warp.set(0));
    }

    pub(crate) fn note(&self, thread: Thread, is_unused: bool) {
        let warp = &self.0[thread.warp() % MAX_WARPS];
        warp.set(if is_unused { warp.get() | thread.bit() } else { warp.get() & !thread.bit() });
    }

    pub(crate) fn is_noted(&self, thread: Thread) -> bool {
        self.0[thread.warp() % MAX_WARPS].get() & thread.bit() != 0
    }
}

impl BlockContext {
    pub(super) fn new(extent: Dim3, arena: Arena) -> Self {
        Self {
            thread: Cell::new(Thread::FIRST),
            index: Cell::new(Dim3::new(0, 0, 0)),
            position: Cell::new(0),
            extent: Extent::new(extent),
            arena,
            tag: Cell::new(0),
            unused: Unused::default(),
            bulk: BulkState::default(),
        }
    }

    /// Resets the context for the block at `position` with the index `index` and `dynamic` bytes of dynamic shared
    /// memory.
    pub(super) fn begin(&self, (index, position): (Dim3, u64), dynamic: u32, seed: u64) {
        self.index.set(index);
        self.position.set(position);
        self.unused.begin();
        self.bulk.begin();
        self.arena.begin(dynamic, seed);
    }

    /// Returns the thread that runs now.
    #[inline(always)]
    pub(crate) fn thread(&self) -> Thread {
        self.thread.get()
    }

    /// Returns the block's index in the grid.
    #[inline(always)]
    pub(crate) fn index(&self) -> Dim3 {
        self.index.get()
    }

    /// Returns the block's position in the order in which the grid's blocks run.
    #[inline(always)]
    pub(crate) fn position(&self) -> u64 {
        self.position.get()
    }
}
