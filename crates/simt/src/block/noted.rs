//! Which synchronisations a block comes to, and which of them is left out.

use std::cell::RefCell;
use std::ptr;

use super::rendezvous::Operation;
use crate::source::Line;
use crate::synchronisations::{SyncKind, Synchronisations};

/// A synchronisation of which it is known whether it is left out.
struct Entry {
    kind: SyncKind,
    at: Line,
    is_left_out: bool,
}

/// The synchronisations that a block has noted, so that it does so once for each. The one it has come to last stands
/// first.
#[derive(Default)]
pub(crate) struct Noted(RefCell<Vec<Entry>>);

impl Noted {
    /// Whether the synchronisation at `at` is left out. The first time, notes in `synchronisations` that the launch has
    /// come to it.
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
