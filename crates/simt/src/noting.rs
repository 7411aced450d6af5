//! Which synchronisations a block comes to, and which of them is left out.

use std::cell::RefCell;
use std::ptr;

use crate::block::Block;
use crate::fault::Line;
use crate::plan::SyncKind;
use crate::rendezvous::Operation;

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

impl Block {
    /// Whether the synchronisation at `at` is left out. The first time, notes that the launch has come to it.
    #[inline(always)]
    pub(crate) fn leaves_out(&self, kind: SyncKind, at: Line) -> bool {
        self.is_noting && self.look_up(kind, at)
    }

    #[cold]
    #[inline(never)]
    fn look_up(&self, kind: SyncKind, at: Line) -> bool {
        let Some(synchronisations) = self.grid().synchronisations else { return false };
        let mut noted = self.noted.0.borrow_mut();
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
        }
    }
}
