//! The asynchronous copies to a block's shared memory. A copy may write at any time between its beginning and the end
//! of its thread's wait. It therefore races with every access that is ordered neither before its beginning nor after
//! that wait.
//!
//! # Design
//!
//! The checker keeps where each copy began and whether it is under way. An access in between is a race, whatever
//! barriers order it after the beginning of the copy.

use rustc_hash::FxHashMap;

use super::stamp::Stamp;

/// The number of bytes of a copy, and its alignment.
const BYTES: usize = 16;

/// The last copy to an aligned group of 16 bytes.
#[derive(Clone, Copy)]
pub(super) struct AsyncCopy {
    /// The beginning of the copy.
    pub(super) begin: Stamp,
    /// True if it overwrites initialised memory.
    pub(super) overwrites: bool,
    /// True if its thread has not waited for it yet.
    pub(super) is_under_way: bool,
}

/// The last copies to a block's shared memory.
#[derive(Default)]
pub(super) struct AsyncCopies {
    last: FxHashMap<usize, AsyncCopy>,
}

impl AsyncCopies {
    /// Resets the copies for another block.
    pub(super) fn clear(&mut self) {
        self.last.clear();
    }

    /// Returns the last copy to the bytes around `address`.
    pub(super) fn at(&self, address: usize) -> Option<AsyncCopy> {
        if self.last.is_empty() { None } else { self.last.get(&(address / BYTES)).copied() }
    }

    /// Returns the copy to the bytes around `address` that has not ended, if there is one.
    pub(super) fn under_way(&self, address: usize) -> Option<AsyncCopy> {
        self.at(address).filter(|copy| copy.is_under_way)
    }

    /// Records the beginning of a copy to `address`.
    pub(super) fn begin(&mut self, address: usize, begin: Stamp, overwrites: bool) {
        self.last.insert(address / BYTES, AsyncCopy { begin, overwrites, is_under_way: true });
    }

    /// Records that its thread has waited for the copy to `address`.
    pub(super) fn end(&mut self, address: usize) {
        if let Some(copy) = self.last.get_mut(&(address / BYTES)) {
            copy.is_under_way = false;
        }
    }
}
