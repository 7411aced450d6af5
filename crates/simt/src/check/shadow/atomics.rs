//! Checks atomic accesses to a cell, and records them.

use super::{ATOMIC, Cell, HISTORY, NONE, PLAIN, Toucher, UNPUBLISHED};
use crate::check::stamp::Stamp;
use crate::watch::Access;

impl Toucher<'_> {
    #[inline(never)]
    pub(super) fn atomic_load(&mut self, cell: &mut Cell) -> Result<(), Stamp> {
        self.found = self.atomic_write_in(cell);
        self.check_write(cell)?;
        self.check_strength(cell, false)?;
        let Self { past, stamp, version, .. } = *self;
        if cell.since.tag() != UNPUBLISHED {
            self.history(cell).add_atomic_read(&stamp, &past, version);
        }
        Ok(())
    }

    #[inline(never)]
    pub(super) fn atomic_write(&mut self, cell: &mut Cell, reads: bool) -> Result<(), Stamp> {
        self.found = if reads { self.atomic_write_in(cell) } else { None };
        self.check_write(cell)?;
        self.check_strength(cell, true)?;
        let atomic = self.stamp.with_tag(ATOMIC);
        match cell.since.tag() {
            NONE if self.version.is_none() => {}
            ATOMIC if self.version.is_none() && (reads || self.check(&cell.since).is_ok()) => {}
            UNPUBLISHED => return Err(cell.since),
            _ => {
                if reads {
                    self.note_own_load(cell);
                }
                let (past, version) = (self.past, self.version);
                let history = self.history(cell);
                if let Some(earlier) = history.reads.first_outside(&past) {
                    return Err(earlier);
                }
                history.add_atomic_write(&atomic, &past, reads, version);
                return Ok(());
            }
        }
        cell.since = atomic;
        Ok(())
    }

    /// Records that this thread updates `cell` atomically, if it has loaded from the cell before by a plain load.
    fn note_own_load(&self, cell: &Cell) {
        let own = match cell.since.tag() {
            PLAIN if cell.since.is_of_set(&self.stamp) && cell.threads & self.stamp.bit() != 0 => Some(cell.since),
            HISTORY => self.histories.all[cell.since.block as usize].reads.of_same(&self.stamp),
            _ => None,
        };
        if let Some(own) = own {
            self.sites.note_update(self.stamp.site(), own.site());
        }
    }

    /// Records that this thread stores to `cell` by a plain store, if it has written the cell atomically before.
    pub(super) fn note_own_atomic(&self, since: Stamp) {
        let is_own = |stamp: &Stamp| (stamp.block, stamp.thread()) == (self.stamp.block, self.stamp.thread());
        let own = match since.tag() {
            ATOMIC => Some(since).filter(is_own),
            HISTORY => self.histories.all[since.block as usize].atomics(false).find(is_own),
            _ => None,
        };
        if let Some(own) = own {
            self.sites.note_update(self.stamp.site(), own.site());
        }
    }

    /// Returns the last atomic write to `cell`.
    pub(super) fn atomic_write_in(&self, cell: &Cell) -> Option<Stamp> {
        match cell.since.tag() {
            ATOMIC => Some(cell.since),
            HISTORY => self.histories.all[cell.since.block as usize].last_atomic_write(),
            _ => None,
        }
    }

    /// Checks an atomic access against atomics that are not "morally strong" with it, in PTX's words. Such atomics have
    /// another width, or they come from another block and the scope of one of the two accesses does not include both.
    #[inline(always)]
    fn check_strength(&self, cell: &Cell, writes: bool) -> Result<(), Stamp> {
        if self.has_narrow || self.is_mixed { self.check_each_strength(cell, writes) } else { Ok(()) }
    }

    #[inline(never)]
    fn check_each_strength(&self, cell: &Cell, writes: bool) -> Result<(), Stamp> {
        let own = self.sites.get(self.stamp.site());
        let conflicts = |stamp: &Stamp| {
            let other = self.sites.get(stamp.site());
            let blocks = [stamp.block, self.past.block];
            let is_narrow = |is_for: fn(Access) -> bool| is_for(own.access) || is_for(other.access);
            let is_apart = (blocks[0] != blocks[1] && is_narrow(Access::is_for_block))
                || (!self.sites.are_of_cluster(blocks) && is_narrow(Access::is_for_cluster));
            (own.bytes != other.bytes || is_apart) && !self.past.has_stamp(stamp)
        };
        let found = match cell.since.tag() {
            ATOMIC => Some(cell.since).filter(conflicts),
            HISTORY => self.histories.all[cell.since.block as usize].atomics(writes).find(conflicts),
            _ => None,
        };
        found.map_or(Ok(()), Err)
    }
}
