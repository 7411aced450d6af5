//! Records the accesses that the threads of a block have reported to the guard.

use std::cell::{Cell, RefCell};

use rustc_hash::FxHashSet;

/// The number of bytes of a granule, which is the unit in which accesses are recorded.
const GRANULE: usize = 4;
/// The maximum number of granules of an access that is recorded granule by granule.
const MAX_SEPARATE: usize = 64;
/// The maximum number of records in a list. When a list reaches this number, all its earlier records are dropped.
const MAX_RECORDS: usize = 1 << 20;

/// The accesses that the threads of a block have reported while the launch is guarded.
#[derive(Default)]
pub(crate) struct ReportedAccesses {
    granules: RefCell<FxHashSet<u64>>,
    /// The accesses to more than `MAX_SEPARATE` granules: the thread, the address, the number of bytes, and true if the
    /// access is a write.
    long: RefCell<Vec<(u32, usize, usize, bool)>>,
    is_used: Cell<bool>,
}

fn key(thread: u32, granule: usize, is_written: bool) -> u64 {
    u64::from(thread) << 48 | (granule as u64) << 1 | u64::from(is_written)
}

impl ReportedAccesses {
    /// Resets the records for a new block.
    pub(crate) fn begin(&self) {
        if self.is_used.replace(false) {
            self.granules.borrow_mut().clear();
            self.long.borrow_mut().clear();
        }
    }

    /// Records that `thread` accesses `bytes` bytes at `address`. A reported write also counts as a reported read.
    pub(super) fn note(&self, thread: u32, (address, bytes): (usize, usize), is_written: bool) {
        self.is_used.set(true);
        let granules = address / GRANULE..(address + bytes).div_ceil(GRANULE);
        if granules.len() > MAX_SEPARATE {
            let mut long = self.long.borrow_mut();
            if long.len() >= MAX_RECORDS {
                long.clear();
            }
            return long.push((thread, address, bytes, is_written));
        }
        let mut all = self.granules.borrow_mut();
        if all.len() >= MAX_RECORDS {
            all.clear();
        }
        for granule in granules {
            all.insert(key(thread, granule, false));
            if is_written {
                all.insert(key(thread, granule, true));
            }
        }
    }

    /// Returns true if `thread` has reported an access to `address`. Returns `None` if the fault interrupted the
    /// recording of a report.
    pub(super) fn has(&self, thread: u32, address: usize, is_written: bool) -> Option<bool> {
        let (granules, long) = (self.granules.try_borrow().ok()?, self.long.try_borrow().ok()?);
        let is_it = |&(other, start, bytes, writes): &(u32, usize, usize, bool)| {
            other == thread && address.wrapping_sub(start) < bytes && (writes || !is_written)
        };
        Some(granules.contains(&key(thread, address / GRANULE, is_written)) || long.iter().rev().any(is_it))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reported_accesses_are_found() {
        let reported = ReportedAccesses::default();
        reported.note(3, (0x1000, 8), false);
        reported.note(3, (0x2000, 1000), true);
        let has = |thread, address, is_written| reported.has(thread, address, is_written).unwrap();
        assert!(has(3, 0x1004, false) && has(3, 0x2000 + 999, true) && has(3, 0x2000, false));
        for (thread, address, is_written) in
            [(3, 0x1004, true), (4, 0x1004, false), (3, 0x1008, false), (3, 0x2000 + 1000, false), (4, 0x2000, true)]
        {
            assert!(!has(thread, address, is_written), "{thread} {address:#x} {is_written}");
        }
        reported.begin();
        assert!(!has(3, 0x1004, false) && !has(3, 0x2000, false));
    }
}
