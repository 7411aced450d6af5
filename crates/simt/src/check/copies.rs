//! The asynchronous copies to a block's shared memory. A copy writes at any time between its beginning and the end of
//! its thread's wait: so it races with every access that comes neither before the one nor after the other.

use std::collections::HashMap;

use super::stamp::Stamp;
use crate::hashing::Hashing;

/// Bytes that a copy writes, at a multiple of them.
const BYTES: usize = 16;

/// The last copy to some 16 bytes.
#[derive(Clone, Copy)]
pub(super) struct AsyncCopy {
    /// Its beginning.
    pub(super) begin: Stamp,
    /// Whether there was something that it overwrites.
    pub(super) overwrites: bool,
    /// Whether its thread has not waited for it yet.
    pub(super) is_under_way: bool,
}

/// The last copies to a block's shared memory.
#[derive(Default)]
pub(super) struct AsyncCopies {
    last: HashMap<usize, AsyncCopy, Hashing>,
}

impl AsyncCopies {
    /// For another block.
    pub(super) fn clear(&mut self) {
        self.last.clear();
    }

    /// The last copy to the bytes that `address` is one of.
    pub(super) fn at(&self, address: usize) -> Option<AsyncCopy> {
        if self.last.is_empty() { None } else { self.last.get(&(address / BYTES)).copied() }
    }

    /// The copy that is under way there.
    pub(super) fn under_way(&self, address: usize) -> Option<AsyncCopy> {
        self.at(address).filter(|copy| copy.is_under_way)
    }

    /// A copy to `address` begins.
    pub(super) fn begin(&mut self, address: usize, begin: Stamp, overwrites: bool) {
        self.last.insert(address / BYTES, AsyncCopy { begin, overwrites, is_under_way: true });
    }

    /// Its thread has waited for the copy to `address`.
    pub(super) fn end(&mut self, address: usize) {
        if let Some(copy) = self.last.get_mut(&(address / BYTES)) {
            copy.is_under_way = false;
        }
    }
}
