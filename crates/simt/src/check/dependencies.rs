//! Who has waited for the launches before, in a kernel that may begin while they run.
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
    /// Bits of threads that have accessed global memory, and that have waited, by warps.
    accessed: [u32; MAX_WARPS],
    waited: [u32; MAX_WARPS],
    has_any_waited: bool,
}

impl Dependencies {
    /// `thread` waits. Gives whether it has not accessed global memory before.
    pub(super) fn wait(&mut self, thread: Thread) -> bool {
        let (warp, bit) = (thread.warp() % MAX_WARPS, thread.bit());
        let is_first = (self.accessed[warp] & !self.waited[warp]) & bit == 0;
        self.waited[warp] |= bit;
        self.has_any_waited = true;
        is_first
    }

    /// `thread` is about to access global memory. Gives whether it may: it has waited, or nobody does.
    #[inline(always)]
    pub(super) fn allow(&mut self, thread: Thread) -> bool {
        let (warp, bit) = (thread.warp() % MAX_WARPS, thread.bit());
        self.accessed[warp] |= bit;
        !self.has_any_waited || self.waited[warp] & bit != 0
    }
}
