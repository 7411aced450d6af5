//! Where the lanes of a warp meet for a warp operation.

use std::cell::{Cell, RefCell};

use crate::lanes::{LANES, MAX_WARPS, Thread};
use crate::source::{Line, is_same_line};

/// What lanes do together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Waits.
    Sync,
    /// Gives the value of another lane, if it took part.
    Exchange,
    /// Gives the lanes with a value other than 0.
    Ballot,
    /// Gives the lanes with the same value, and in the upper half all that took part.
    Match,
    /// Gives what becomes of all values together.
    Reduce(Reduction),
}

/// How a warp's values become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Their sum, which wraps.
    Add,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

impl Reduction {
    fn apply(self, a: u64, b: u64) -> u64 {
        match self {
            Self::Add => a.wrapping_add(b),
            Self::Min => a.min(b),
            Self::Max => a.max(b),
            Self::And => a & b,
            Self::Or => a | b,
            Self::Xor => a ^ b,
        }
    }
}

/// A warp operation as one lane asks for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) operation: Operation,
    pub(crate) mask: u32,
    pub(crate) value: u64,
    pub(crate) source: u32,
    pub(crate) at: Line,
}

/// Lanes that wait for each other.
#[derive(Clone, Copy)]
pub(crate) struct Group {
    operation: Operation,
    pub(crate) mask: u32,
    pub(crate) at: Line,
    pub(crate) arrived: u32,
    votes: u32,
}

impl Group {
    fn is_complete(&self, exited: u32) -> bool {
        self.mask & !(self.arrived | exited) == 0
    }
}

/// A group whose lanes have all come, and have their results.
#[derive(Clone, Copy)]
pub(crate) struct Met {
    pub(crate) lanes: u32,
    pub(crate) operation: Operation,
    pub(crate) at: Line,
}

/// What a lane brings to a group, and takes from it.
#[derive(Default)]
struct Exchange {
    value: Cell<u64>,
    source: Cell<u32>,
    result: Cell<Option<u64>>,
}

/// The open groups of a block, and what their lanes exchange.
#[derive(Default)]
pub(crate) struct Rendezvous {
    groups: [RefCell<Vec<Group>>; MAX_WARPS],
    lanes: Box<[[Exchange; LANES as usize]; MAX_WARPS]>,
}

impl Rendezvous {
    /// Forgets groups that a block which ended early has left.
    pub(crate) fn clear(&self) {
        for groups in &self.groups {
            groups.borrow_mut().clear();
        }
    }

    /// The group that `thread` waits in.
    pub(crate) fn group_of(&self, thread: Thread) -> Option<Group> {
        self.groups[thread.warp()].borrow().iter().find(|group| group.arrived & thread.bit() != 0).copied()
    }

    /// `thread` joins the group of its request, or opens it. If the group is complete now, given the lanes that have
    /// `exited`, takes it.
    pub(crate) fn join(&self, thread: Thread, request: &Request, exited: u32) -> Option<Met> {
        let &Request { operation, mask, value, source, at } = request;
        let lane = &self.lanes[thread.warp()][thread.lane() as usize];
        lane.value.set(value);
        lane.source.set(source);
        let mut groups = self.groups[thread.warp()].borrow_mut();
        // Since sm_70 lanes wait for each other wherever in the program they are (`bar.warp.sync` in the PTX ISA);
        // where they hand over values, CUDA's documentation has them at one operation.
        let is_same = |group: &Group| {
            let is_there = operation == Operation::Sync || is_same_line(group.at, at);
            group.mask == mask && group.operation == operation && is_there
        };
        let joined = groups.iter().position(is_same).unwrap_or_else(|| {
            groups.push(Group { operation, mask, at, arrived: 0, votes: 0 });
            groups.len() - 1
        });
        let group = &mut groups[joined];
        group.arrived |= thread.bit();
        group.votes |= if value != 0 { thread.bit() } else { 0 };
        if !group.is_complete(exited) {
            return None;
        }
        let group = groups.swap_remove(joined);
        Some(self.hand_over(thread.warp(), group))
    }

    /// Takes a group of `warp` that is complete, given the lanes that have `exited`.
    pub(crate) fn take_complete(&self, warp: usize, exited: u32) -> Option<Met> {
        let mut groups = self.groups[warp].borrow_mut();
        let complete = groups.iter().position(|group| group.is_complete(exited))?;
        let group = groups.swap_remove(complete);
        Some(self.hand_over(warp, group))
    }

    /// What the last operation of `thread` gives.
    #[inline]
    pub(crate) fn result(&self, thread: Thread) -> Option<u64> {
        self.lanes[thread.warp()][thread.lane() as usize].result.get()
    }

    fn hand_over(&self, warp: usize, group: Group) -> Met {
        let lanes = &self.lanes[warp];
        let values = || bits(group.arrived).map(|lane| lanes[lane].value.get());
        let all = match group.operation {
            Operation::Reduce(reduction) => values().reduce(|a, b| reduction.apply(a, b)),
            _ => None,
        };
        for lane in bits(group.arrived) {
            let lane = &lanes[lane];
            lane.result.set(match group.operation {
                Operation::Sync => None,
                Operation::Ballot => Some(group.votes.into()),
                Operation::Match => {
                    let same = bits(group.arrived).zip(values()).filter(|&(_, value)| value == lane.value.get());
                    let same: u64 = same.map(|(lane, _)| 1 << lane).sum();
                    Some(same | u64::from(group.arrived) << 32)
                }
                Operation::Reduce(_) => all,
                Operation::Exchange => {
                    let source = lane.source.get();
                    let took_part = source < LANES && group.arrived & (1 << source) != 0;
                    took_part.then(|| lanes[source as usize].value.get())
                }
            });
        }
        Met { lanes: group.arrived, operation: group.operation, at: group.at }
    }
}

/// The numbers of the lanes of `mask`.
fn bits(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES as usize).filter(move |lane| mask >> lane & 1 != 0)
}
