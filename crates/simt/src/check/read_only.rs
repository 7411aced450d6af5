//! Records the bytes that read-only loads (`ld.global.nc`) have read. No thread may write them during the launch.

use rustc_hash::FxHashMap;

use super::shadow::{Conflict, Finding};
use super::stamp::Stamp;
use crate::watch::Touch;

/// The last read-only load of each byte of memory that the launch may write.
#[derive(Default)]
pub(super) struct ReadOnly(FxHashMap<usize, Stamp>);

impl ReadOnly {
    /// Records the read-only load `touch`, whose stamp is `stamp`.
    #[cold]
    pub(super) fn note(&mut self, touch: &Touch, stamp: Stamp) {
        self.0.extend((touch.address..touch.address + touch.bytes).map(|address| (address, stamp)));
    }

    /// Checks that the access `touch` writes no byte that a read-only load has read.
    ///
    /// # Errors
    /// [`Finding::Race`] with the load, even if the load is ordered before the write.
    #[inline(always)]
    pub(super) fn check(&self, touch: &Touch) -> Result<(), Finding> {
        if self.0.is_empty() || !touch.access.writes() { Ok(()) } else { self.check_write(touch) }
    }

    #[cold]
    fn check_write(&self, touch: &Touch) -> Result<(), Finding> {
        let load = |address| Some(Conflict { with: *self.0.get(&address)?, address });
        let found = (touch.address..touch.address + touch.bytes).find_map(load);
        found.map_or(Ok(()), |conflict| Err(Finding::Race(conflict)))
    }
}
