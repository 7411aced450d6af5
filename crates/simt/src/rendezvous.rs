//! Where the lanes of a warp meet for a warp operation.

use std::cell::{Cell, RefCell};

use crate::barrier::is_same_line;
use crate::block::{Block, LANES, Line, MAX_WARPS};
use crate::fault::FaultKind;

/// What lanes do together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Sync,
    Exchange,
    Ballot,
}

/// Lanes that wait for each other.
#[derive(Clone, Copy)]
pub(crate) struct Group {
    pub(crate) operation: Operation,
    pub(crate) mask: u32,
    pub(crate) at: Line,
    pub(crate) arrived: u32,
    votes: u32,
}

/// What a lane brings to a group, and takes from it.
#[derive(Default)]
struct Exchange {
    value: Cell<u64>,
    source: Cell<u32>,
    result: Cell<Option<u64>>,
}

/// The open groups of a block, and what their lanes exchange.
pub(crate) struct Rendezvous {
    groups: [RefCell<Vec<Group>>; MAX_WARPS],
    lanes: Box<[[Exchange; LANES as usize]; MAX_WARPS]>,
}

impl Default for Rendezvous {
    fn default() -> Self {
        Self { groups: Default::default(), lanes: Box::new(Default::default()) }
    }
}

impl Rendezvous {
    /// Forgets groups that a block which ended early has left.
    pub(crate) fn clear(&self) {
        for groups in &self.groups {
            groups.borrow_mut().clear();
        }
    }

    /// The open groups of `warp`.
    pub(crate) fn groups(&self, warp: usize) -> Vec<Group> {
        self.groups[warp].borrow().clone()
    }
}

impl Block {
    /// The current lane waits until all lanes of `mask` that have not exited have come to the same operation with
    /// the same mask.
    ///
    /// A ballot gives the lanes with a `value` other than 0, an exchange the value of lane `source` if it took part.
    #[inline(always)]
    pub(crate) fn meet(&self, operation: Operation, mask: u32, value: u64, source: u32, at: Line) -> Option<u64> {
        if !self.join(operation, mask, value, source, at) {
            return None;
        }
        self.suspend();
        let thread = self.thread.get();
        self.rendezvous.lanes[thread.warp()][thread.lane() as usize].result.get()
    }

    /// Notes that the current lane is at a warp operation. Gives false if it must not wait there.
    #[inline(never)]
    fn join(&self, operation: Operation, mask: u32, value: u64, source: u32, at: Line) -> bool {
        if self.is_unwinding() {
            return false;
        }
        let thread = self.thread.get();
        let (warp, bit) = (thread.warp(), thread.bit());
        if mask & bit == 0 {
            self.raise(FaultKind::WarpMismatch { mask, other: None }, at);
        }
        let lane = &self.rendezvous.lanes[warp][thread.lane() as usize];
        lane.value.set(value);
        lane.source.set(source);

        let state = &self.warps[warp];
        state.at_operation.set(state.at_operation.get() | bit);
        let mut groups = self.rendezvous.groups[warp].borrow_mut();
        let joined = groups
            .iter()
            .position(|group| group.mask == mask && group.operation == operation && is_same_line(group.at, at));
        let joined = joined.unwrap_or_else(|| {
            groups.push(Group { operation, mask, at, arrived: 0, votes: 0 });
            groups.len() - 1
        });
        let group = &mut groups[joined];
        group.arrived |= bit;
        group.votes |= if value != 0 { bit } else { 0 };
        if mask & !(group.arrived | state.exited.get()) == 0 {
            let group = groups.swap_remove(joined);
            self.complete(warp, group);
        }
        true
    }

    /// A lane of `warp` has exited: groups that waited for it alone go on.
    #[cold]
    pub(crate) fn complete_after_exit(&self, warp: usize) {
        let exited = self.warps[warp].exited.get();
        self.rendezvous.groups[warp].borrow_mut().retain(|group| {
            let is_complete = group.mask & !(group.arrived | exited) == 0;
            if is_complete {
                self.complete(warp, *group);
            }
            !is_complete
        });
    }

    fn complete(&self, warp: usize, group: Group) {
        let lanes = &self.rendezvous.lanes[warp];
        let mut rest = group.arrived;
        while rest != 0 {
            let lane = &lanes[rest.trailing_zeros() as usize];
            rest &= rest - 1;
            lane.result.set(match group.operation {
                Operation::Sync => None,
                Operation::Ballot => Some(group.votes.into()),
                Operation::Exchange => {
                    let source = lane.source.get();
                    let took_part = source < LANES && group.arrived & (1 << source) != 0;
                    took_part.then(|| lanes[source as usize].value.get())
                }
            });
        }
        self.counts.operations.set(self.counts.operations.get() + 1);
        self.note_progress();
        let state = &self.warps[warp];
        state.at_operation.set(state.at_operation.get() & !group.arrived);
        self.wake(warp, group.arrived);
    }
}
