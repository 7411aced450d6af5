//! Tracks the threads that have waited for the previous launches, in a kernel that may start while they run.
//!
//! # Design
//!
//! A kernel whose text contains `griddepcontrol.wait` may begin while the launch before it runs, and must wait before
//! it accesses global memory. The simulator itself runs one launch after the other, so this module only records which
//! threads have waited.

use crate::lanes::{MAX_WARPS, Thread};

/// The threads of a block.
#[derive(Default)]
pub(super) struct Dependencies {
    /// The threads that have accessed global memory, and those that have waited, as bits by warp.
    accessed: [u32; MAX_WARPS],
    waited: [u32; MAX_WARPS],
    has_any_waited: bool,
}

impl Dependencies {
    /// Records that `thread` waits. Returns false if it has accessed global memory before.
    pub(super) fn wait(&mut self, thread: Thread) -> bool {
        let (warp, bit) = (thread.warp() % MAX_WARPS, thread.bit());
        let is_first = (self.accessed[warp] & !self.waited[warp]) & bit == 0;
        self.waited[warp] |= bit;
        self.has_any_waited = true;
        is_first
    }

    /// Records that `thread` is about to access global memory. Returns false if it has not waited although others have.
    #[inline(always)]
    pub(super) fn allow(&mut self, thread: Thread) -> bool {
        let (warp, bit) = (thread.warp() % MAX_WARPS, thread.bit());
        self.accessed[warp] |= bit;
        !self.has_any_waited || self.waited[warp] & bit != 0
    }
}
