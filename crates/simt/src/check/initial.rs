//! Records the first atomic writes to uninitialised memory, to find atomic reads that are not ordered after any of
//! them.
//!
//! Two atomic accesses do not race. However, if memory was uninitialised before the launch, an atomic read must be
//! ordered after one of the first atomic writes to this memory. Otherwise the read may return uninitialised memory,
//! even if it did not in this run.

use rustc_hash::FxHashMap;

use super::history::{Accesses, Past};
use super::stamp::Stamp;

/// For each address whose first write was atomic, the first atomic writes. None of them is ordered after another.
#[derive(Default)]
pub(super) struct Initial(FxHashMap<usize, Accesses>);

impl Initial {
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        if !self.0.is_empty() {
            self.0.clear();
        }
    }

    /// Removes the first atomic writes to `address` because of a plain store. Every later access either is ordered
    /// after the store or races with it.
    #[inline(never)]
    pub(super) fn overwrite(&mut self, address: usize) {
        if !self.0.is_empty() {
            self.0.remove(&address);
        }
    }

    /// Returns true if no atomic writes to uninitialised memory are recorded.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks and records the atomic access `stamp` to `address`. `is_first` is true if the access may be the first
    /// write, and `uses` is true if the kernel uses the value that the access reads.
    ///
    /// # Errors
    /// One of the first atomic writes, if the kernel uses the value read and the read is ordered after none of these
    /// writes.
    #[inline(never)]
    pub(super) fn follow(
        &mut self,
        (address, is_first, uses): (usize, bool, bool),
        stamp: Stamp,
        past: Past<'_>,
    ) -> Result<(), Stamp> {
        if is_first {
            self.0.entry(address).or_default();
        }
        let Some(writes) = self.0.get_mut(&address) else { return Ok(()) };
        if writes.has_inside(&past) {
            return Ok(());
        }
        match writes.first() {
            Some(first) if uses => Err(first),
            _ => {
                writes.add_first(&stamp, &past);
                Ok(())
            }
        }
    }
}
