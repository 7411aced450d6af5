//! Tracks which threads have waited for the previous launches, in a kernel that may start while those launches run.
//!
//! # Design
//!
//! A kernel whose PTX contains `griddepcontrol.wait` may begin while the launch before it still runs. The kernel's
//! threads must execute that instruction before they access global memory. The simulator itself runs one launch after
//! the other, so this module only records which threads have waited.

use crate::lanes::{MAX_WARPS, Thread};

/// The threads of a block that have accessed global memory or waited for the previous launches.
#[derive(Default)]
pub(super) struct Dependencies {
    /// The threads that have accessed global memory, as one lane mask per warp.
    accessed: [u32; MAX_WARPS],
    /// The threads that have waited for the previous launches, as one lane mask per warp.
    waited: [u32; MAX_WARPS],
    has_any_waited: bool,
    /// The source site of the first access of each warp.
    first: [u32; MAX_WARPS],
}

impl Dependencies {
    /// Records that `thread` waits for the previous launches. Returns the source site of the first access of its warp
    /// if the thread accessed global memory without having waited.
    pub(super) fn wait(&mut self, thread: Thread) -> Option<u32> {
        let (warp, bit) = (thread.warp() % MAX_WARPS, thread.bit());
        let is_first = (self.accessed[warp] & !self.waited[warp]) & bit == 0;
        self.waited[warp] |= bit;
        self.has_any_waited = true;
        (!is_first).then_some(self.first[warp])
    }

    /// Records that `thread` is about to access global memory at the source site `site`. Returns false if the thread
    /// has not waited for the previous launches, although other threads of the block have.
    #[inline(always)]
    pub(super) fn allow(&mut self, thread: Thread, site: u32) -> bool {
        let (warp, bit) = (thread.warp() % MAX_WARPS, thread.bit());
        if self.accessed[warp] == 0 {
            self.first[warp] = site;
        }
        self.accessed[warp] |= bit;
        !self.has_any_waited || self.waited[warp] & bit != 0
    }
}
