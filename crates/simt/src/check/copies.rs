//! The asynchronous copies to a block's shared memory. A copy may write at any time until the thread that began the
//! copy has waited for its end. An access must therefore be ordered before the start of the copy or after this wait.
//! Any other access races with the copy.
//!
//! # Design
//!
//! The checker stores where each copy began and whether it is under way. An access while the copy is under way is a
//! race, even if barriers order the access after the beginning of the copy.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::stamp::Stamp;

/// The largest size of an asynchronous copy in bytes. A copy is aligned to its size, so it is in one such group.
const BYTES: usize = 16;

/// The smallest size of an asynchronous copy in bytes.
const WORD: usize = 4;

/// The last asynchronous copy to an aligned group of 4 bytes.
#[derive(Clone, Copy)]
pub(super) struct AsyncCopy {
    /// The thread, epoch and site at which the copy began.
    pub(super) begin: Stamp,
    /// True if the copy overwrites initialised memory.
    pub(super) overwrites: bool,
    /// True if the thread that began the copy has not yet waited for it.
    pub(super) is_under_way: bool,
}

/// The last asynchronous copies to a block's shared memory: for each 16 bytes, those of its words.
#[derive(Default)]
pub(super) struct AsyncCopies {
    last: FxHashMap<usize, [Option<AsyncCopy>; BYTES / WORD]>,
}

/// Returns the words of a group that `bytes` bytes from `address` on occupy.
fn words(address: usize, bytes: usize) -> Range<usize> {
    let first = address % BYTES;
    first / WORD..(first + bytes).min(BYTES).div_ceil(WORD)
}

impl AsyncCopies {
    /// Removes all copies, before another block runs.
    pub(super) fn clear(&mut self) {
        self.last.clear();
    }

    /// Returns the last copy to the word that contains `address`.
    pub(super) fn at(&self, address: usize) -> Option<AsyncCopy> {
        if self.last.is_empty() { None } else { self.last.get(&(address / BYTES))?[address % BYTES / WORD] }
    }

    /// Returns a copy to the `bytes` bytes from `address` on that is still under way.
    pub(super) fn under_way(&self, address: usize, bytes: usize) -> Option<AsyncCopy> {
        if self.last.is_empty() {
            return None;
        }
        let group = self.last.get(&(address / BYTES))?;
        group[words(address, bytes)].iter().flatten().copied().find(|copy| copy.is_under_way)
    }

    /// Records the beginning of a copy to the `bytes` bytes from `address` on.
    pub(super) fn begin(&mut self, address: usize, bytes: usize, begin: Stamp, overwrites: bool) {
        let copy = AsyncCopy { begin, overwrites, is_under_way: true };
        self.last.entry(address / BYTES).or_default()[words(address, bytes)].fill(Some(copy));
    }

    /// Records that the thread that began the copy to the `bytes` bytes from `address` on has waited for it.
    pub(super) fn end(&mut self, address: usize, bytes: usize) {
        let Some(group) = self.last.get_mut(&(address / BYTES)) else { return };
        for copy in group[words(address, bytes)].iter_mut().flatten() {
            copy.is_under_way = false;
        }
    }
}
