//! Records the last write to each address of global memory, so that a report on a wrong result can name a source line.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::block::context::BlockContext;
use crate::faults::race::{RaceAccess, RaceSide};
use crate::geometry::Dim3;
use crate::lanes::Thread;
use crate::region::Space;
use crate::source::Line;
use crate::watch::Touch;

/// The maximum number of bytes of one write.
const MAX_BYTES: usize = 16;

/// The last writes of kernels to global memory. Clones share the record. The simulator records only the writes of
/// launches that it checks or profiles.
#[derive(Clone, Debug, Default)]
pub struct LastWrites(Arc<Mutex<Writes>>);

#[derive(Debug, Default)]
struct Writes {
    /// The last write that begins at each address.
    by_address: FxHashMap<usize, Write>,
    /// The number of writes so far.
    count: u64,
}

#[derive(Clone, Copy, Debug)]
struct Write {
    number: u64,
    bytes: usize,
    block: Dim3,
    thread: Thread,
    at: Line,
    access: RaceAccess,
}

impl LastWrites {
    /// Makes an empty record.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the last write to any of the bytes at these addresses, or `None` if no kernel has written to them.
    pub fn of(&self, addresses: Range<usize>) -> Option<RaceSide> {
        let writes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let starts = addresses.start.saturating_sub(MAX_BYTES - 1)..addresses.end;
        let found = starts.filter_map(|start| Some((start, writes.by_address.get(&start)?)));
        let overlapping = found.filter(|(start, write)| start + write.bytes > addresses.start);
        latest(overlapping.map(|(_, write)| write))
    }

    /// Returns the last write of all, or `None` if no kernel has written to global memory.
    pub fn last(&self) -> Option<RaceSide> {
        latest(self.0.lock().unwrap_or_else(PoisonError::into_inner).by_address.values())
    }

    /// Records the access `touch` of the current thread of `block`, if it writes to global memory.
    pub(crate) fn note(&self, block: &BlockContext, touch: &Touch) {
        let &Touch { space, access, address, bytes, at } = touch;
        if space == Space::Global && access.writes() {
            let writes = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
            writes.count += 1;
            let (block, thread, access) = (block.index(), block.thread(), access.into());
            writes.by_address.insert(address, Write { number: writes.count, bytes, block, thread, at, access });
        }
    }
}

/// Returns the last of `writes`.
fn latest<'a>(writes: impl Iterator<Item = &'a Write>) -> Option<RaceSide> {
    let &Write { block, thread, at, access, .. } = writes.max_by_key(|write| write.number)?;
    Some(RaceSide { block, thread: thread.index(), location: at.into(), access })
}
