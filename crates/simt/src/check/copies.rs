//! The asynchronous copies to a block's shared memory. A copy may write at any time until the thread that began the
//! copy has waited for its end. An access must therefore be ordered before the start of the copy or after this wait.
//! Any other access races with the copy.
//!
//! # Design
//!
//! The checker stores where each copy began and whether it is under way. An access while the copy is under way is a
//! race, even if barriers order the access after the beginning of the copy.

use rustc_hash::FxHashMap;

use super::stamp::Stamp;

/// The size of an asynchronous copy and its alignment, both in bytes.
const BYTES: usize = 16;

/// The last asynchronous copy to an aligned group of 16 bytes.
#[derive(Clone, Copy)]
pub(super) struct AsyncCopy {
    /// The thread, epoch and site at which the copy began.
    pub(super) begin: Stamp,
    /// True if the copy overwrites initialised memory.
    pub(super) overwrites: bool,
    /// True if the thread that began the copy has not yet waited for it.
    pub(super) is_under_way: bool,
}

/// The last asynchronous copy to each 16 bytes of a block's shared memory.
#[derive(Default)]
pub(super) struct AsyncCopies {
    last: FxHashMap<usize, AsyncCopy>,
}

impl AsyncCopies {
    /// Removes all copies, before another block runs.
    pub(super) fn clear(&mut self) {
        self.last.clear();
    }

    /// Returns the last copy to the aligned 16 bytes that contain `address`.
    pub(super) fn at(&self, address: usize) -> Option<AsyncCopy> {
        if self.last.is_empty() { None } else { self.last.get(&(address / BYTES)).copied() }
    }

    /// Returns the copy to the aligned 16 bytes that contain `address`, if the copy is still under way.
    pub(super) fn under_way(&self, address: usize) -> Option<AsyncCopy> {
        self.at(address).filter(|copy| copy.is_under_way)
    }

    /// Records the beginning of a copy to `address`.
    pub(super) fn begin(&mut self, address: usize, begin: Stamp, overwrites: bool) {
        self.last.insert(address / BYTES, AsyncCopy { begin, overwrites, is_under_way: true });
    }

    /// Records that the thread that began the copy to `address` has waited for it.
    pub(super) fn end(&mut self, address: usize) {
        if let Some(copy) = self.last.get_mut(&(address / BYTES)) {
            copy.is_under_way = false;
        }
    }
}
