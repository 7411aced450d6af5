//! Notes the synchronisations that a block reaches, and knows which one is left out.

use std::cell::RefCell;
use std::ptr;

use super::rendezvous::Operation;
use crate::source::Line;
use crate::synchronisations::{SyncKind, Synchronisations};

/// A synchronisation, and whether it is left out.
struct Entry {
    kind: SyncKind,
    at: Line,
    is_left_out: bool,
}

/// The synchronisations that a block has reached, so that each is noted once. The last one reached comes first.
#[derive(Default)]
pub(crate) struct Noted(RefCell<Vec<Entry>>);

impl Noted {
    /// Returns true if the synchronisation at `at` is left out. On the first call, notes in `synchronisations` that the
    /// launch has reached it.
    pub(super) fn leaves_out(&self, synchronisations: &Synchronisations, kind: SyncKind, at: Line) -> bool {
        let mut noted = self.0.borrow_mut();
        match noted.iter().position(|entry| ptr::eq(entry.at, at) && entry.kind == kind) {
            Some(0) => {}
            Some(index) => noted.swap(0, index),
            None => {
                let entry = Entry { kind, at, is_left_out: synchronisations.note(kind, at) };
                noted.insert(0, entry);
            }
        }
        noted[0].is_left_out
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
        }
    }
}
