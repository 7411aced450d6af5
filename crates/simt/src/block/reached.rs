//! Records the synchronisations that a block has reached, and which of them the launch must skip.

use std::cell::RefCell;
use std::ptr;

use super::rendezvous::Operation;
use crate::source::Line;
use crate::synchronisations::{SyncKind, Synchronisations};

/// A synchronisation that a block has reached.
struct Entry {
    kind: SyncKind,
    at: Line,
    is_left_out: bool,
}

/// The synchronisations that a block has reached, without duplicates, the most recent first.
#[derive(Default)]
pub(crate) struct ReachedSynchronisations(RefCell<Vec<Entry>>);

impl ReachedSynchronisations {
    /// Returns true if the launch must skip the synchronisation at `at`. The first call for a synchronisation also
    /// records in `synchronisations` that the launch has reached it.
    pub(super) fn leaves_out(&self, synchronisations: &Synchronisations, kind: SyncKind, at: Line) -> bool {
        let mut reached = self.0.borrow_mut();
        match reached.iter().position(|entry| ptr::eq(entry.at, at) && entry.kind == kind) {
            Some(0) => {}
            Some(index) => reached.swap(0, index),
            None => {
                let entry = Entry { kind, at, is_left_out: synchronisations.note(kind, at) };
                reached.insert(0, entry);
            }
        }
        reached[0].is_left_out
    }
}

impl From<Operation> for SyncKind {
    fn from(operation: Operation) -> Self {
        match operation {
            Operation::Sync => Self::Warp,
            Operation::Exchange => Self::Shuffle,
            Operation::Ballot => Self::Vote,
            Operation::Match => Self::Match,
            Operation::Reduce(_) => Self::Reduction,
            Operation::Collective(_) => Self::Collective,
        }
    }
}
