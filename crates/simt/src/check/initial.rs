//! The atomic writes that are the first to memory: which atomic reads come after one of them.
//!
//! Two atomic accesses are no race. But where nobody had written before the launch, a read that nothing orders after
//! such a write may find what nobody has written, in whatever order the threads have run this time.

use std::collections::HashMap;

use super::history::{Accesses, Past};
use super::stamp::Stamp;
use crate::hashing::Hashing;

/// For each address that an atomic has been the first to write: such writes, of which none comes after another.
#[derive(Default)]
pub(super) struct Initial(HashMap<usize, Accesses, Hashing>);

impl Initial {
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        if !self.0.is_empty() {
            self.0.clear();
        }
    }

    /// A plain store to `address`: what follows it is ordered after it, or races.
    #[inline(never)]
    pub(super) fn overwrite(&mut self, address: usize) {
        if !self.0.is_empty() {
            self.0.remove(&address);
        }
    }

    /// Whether there is nothing that an atomic read could come before.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `stamp` is made to `address`: an atomic that `uses` what is there, or only writes, and may be the first.
    ///
    /// # Errors
    /// A first write, if what is used is after none.
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
