//! The order in which a thread has last written at each of a few source sites. If a thread sets a flag before it stores
//! the value that the flag announces, the report of the race can then say so.

use super::stamp::Stamp;

/// The number of source sites that are recorded per thread.
const SITES: usize = 4;

/// The writes of a thread at a source site.
#[derive(Clone, Copy, Default)]
struct Entry {
    site: u32,
    /// The epoch and the position of the last write.
    epoch: u32,
    position: u32,
    /// The number of writes, 0 if the entry is unused.
    times: u32,
}

/// The last writes of a thread, from its first atomic write on.
#[derive(Clone, Default)]
struct Row {
    entries: [Entry; SITES],
    position: u32,
}

/// The last writes of the threads of a block.
#[derive(Default)]
pub(super) struct Writes {
    rows: Vec<Row>,
    is_used: bool,
}

impl Writes {
    pub(super) fn begin(&mut self) {
        if std::mem::take(&mut self.is_used) {
            self.rows.clear();
        }
    }

    /// Returns true if the block has made an atomic write.
    pub(super) fn is_used(&self) -> bool {
        self.is_used
    }

    /// Records the write `stamp`. Plain writes are recorded only after the block's first atomic write.
    #[inline(always)]
    pub(super) fn note(&mut self, stamp: &Stamp, is_atomic: bool) {
        if self.is_used || is_atomic {
            self.note_in_row(stamp, is_atomic);
        }
    }

    #[inline(never)]
    fn note_in_row(&mut self, stamp: &Stamp, is_atomic: bool) {
        let thread = stamp.thread() as usize;
        if self.rows.len() <= thread {
            if !is_atomic {
                return;
            }
            self.is_used = true;
            self.rows.resize(thread + 1, Row::default());
        }
        let Row { entries, position } = &mut self.rows[thread];
        *position += 1;
        let oldest = || (0..SITES).min_by_key(|&index| entries[index].position).unwrap_or(0);
        let index =
            entries.iter().position(|entry| entry.times > 0 && entry.site == stamp.site()).unwrap_or_else(oldest);
        let entry = &mut entries[index];
        let times = if entry.times > 0 && entry.site == stamp.site() { entry.times + 1 } else { 1 };
        *entry = Entry { site: stamp.site(), epoch: stamp.epoch, position: *position, times };
    }

    /// Returns true if the thread has made the write `first` before the write `second`, each once, in one epoch.
    pub(super) fn is_before(&self, first: &Stamp, second: &Stamp) -> bool {
        if (first.block, first.thread(), first.epoch) != (second.block, second.thread(), second.epoch) {
            return false;
        }
        let position = |stamp: &Stamp| {
            let row = self.rows.get(stamp.thread() as usize)?;
            let is_it = |entry: &&Entry| (entry.site, entry.epoch, entry.times) == (stamp.site(), stamp.epoch, 1);
            Some(row.entries.iter().find(is_it)?.position)
        };
        matches!((position(first), position(second)), (Some(first), Some(second)) if first < second)
    }
}
