//! Makes the lanes of a warp wait for each other at a warp operation and exchange their values.

pub(crate) mod collective;

use std::cell::{Cell, RefCell};

use self::collective::Collectives;
use crate::lanes::{LANES, MAX_WARPS, Thread, bits};
use crate::source::{Line, is_same_line};

/// A warp operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Waits for the other lanes and returns nothing.
    Sync,
    /// Returns the value of another lane, if that lane participated.
    Exchange,
    /// Returns the mask of lanes whose value is not 0.
    Ballot,
    /// Returns the mask of lanes with the same value and, in the upper half, the mask of all lanes that participated.
    Match,
    /// Returns the reduction of the values of all lanes that participated.
    Reduce(Reduction),
    /// Executes the instruction of this name on the registers of all 32 lanes.
    Collective(&'static str),
}

/// An operator that reduces a warp's values to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// The wrapping sum of the values.
    Add,
    /// The minimum of the values.
    Min,
    /// The maximum of the values.
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

/// The request of one lane to execute a warp operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) operation: Operation,
    pub(crate) mask: u32,
    pub(crate) value: u64,
    pub(crate) source: u32,
    pub(crate) at: Line,
}

/// The lanes of a warp that wait for each other at a warp operation.
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
        let exited = if matches!(self.operation, Operation::Collective(_)) { 0 } else { exited };
        self.mask & !(self.arrived | exited) == 0
    }
}

/// A group of lanes whose warp operation is complete.
#[derive(Clone, Copy)]
pub(crate) struct CompletedGroup {
    pub(crate) lanes: u32,
    pub(crate) operation: Operation,
    pub(crate) at: Line,
}

/// The value that a lane contributes to a warp operation, and the result that it receives.
#[derive(Default)]
struct Exchange {
    value: Cell<u64>,
    source: Cell<u32>,
    result: Cell<Option<u64>>,
    /// In a watched launch, the last line at which the lane was seen before the operation.
    seen_before: Cell<Option<Line>>,
}

/// The groups of lanes that wait at warp operations of a block, and the values of these lanes.
#[derive(Default)]
pub(crate) struct Rendezvous {
    groups: [RefCell<Vec<Group>>; MAX_WARPS],
    lanes: Box<[[Exchange; LANES as usize]; MAX_WARPS]>,
    collectives: Collectives,
}

impl Rendezvous {
    /// Removes the groups of lanes that still wait after a block has ended early.
    pub(crate) fn clear(&self) {
        for groups in &self.groups {
            groups.borrow_mut().clear();
        }
        self.collectives.clear();
    }

    /// Returns the group of lanes in which `thread` waits.
    pub(crate) fn group_of(&self, thread: Thread) -> Option<Group> {
        self.groups[thread.warp()].borrow().iter().find(|group| group.arrived & thread.bit() != 0).copied()
    }

    /// Adds `thread` to the group of lanes that wait for the same operation, or opens a group. Completes the group and
    /// returns it once every lane of the mask has joined or exited. `exited` is the mask of exited lanes.
    pub(crate) fn join(&self, thread: Thread, request: &Request, exited: u32) -> Option<CompletedGroup> {
        let &Request { operation, mask, value, source, at } = request;
        let lane = &self.lanes[thread.warp()][thread.lane() as usize];
        lane.value.set(value);
        lane.source.set(source);
        let mut groups = self.groups[thread.warp()].borrow_mut();
        // Since sm_70, lanes wait for each other wherever they are in the program (`bar.warp.sync` in the PTX ISA). For
        // operations that exchange values, CUDA's documentation requires the same instruction.
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
        Some(self.complete(thread.warp(), group))
    }

    /// Completes and returns a group of `warp` in which every lane has joined or exited. `exited` is the mask of exited
    /// lanes. Returns `None` if no group is complete.
    pub(crate) fn take_complete(&self, warp: usize, exited: u32) -> Option<CompletedGroup> {
        let mut groups = self.groups[warp].borrow_mut();
        let complete = groups.iter().position(|group| group.is_complete(exited))?;
        let group = groups.swap_remove(complete);
        Some(self.complete(warp, group))
    }

    /// Returns the result of the last operation of `thread`.
    #[inline]
    pub(crate) fn result(&self, thread: Thread) -> Option<u64> {
        self.lanes[thread.warp()][thread.lane() as usize].result.get()
    }

    /// Records the line at which `thread` was last seen before the operation that it joins.
    #[inline]
    pub(crate) fn note_seen_before(&self, thread: Thread, line: Option<Line>) {
        self.lanes[thread.warp()][thread.lane() as usize].seen_before.set(line);
    }

    /// Returns the line at which `thread` was last seen before its last operation, if the launch is watched.
    pub(crate) fn seen_before(&self, thread: Thread) -> Option<Line> {
        self.lanes[thread.warp()][thread.lane() as usize].seen_before.get()
    }

    fn complete(&self, warp: usize, group: Group) -> CompletedGroup {
        let lanes = &self.lanes[warp];
        let values = || bits(group.arrived).map(|lane| lanes[lane].value.get());
        let all = match group.operation {
            Operation::Reduce(reduction) => values().reduce(|a, b| reduction.apply(a, b)),
            _ => None,
        };
        for lane in bits(group.arrived) {
            let lane = &lanes[lane];
            lane.result.set(match group.operation {
                Operation::Sync | Operation::Collective(_) => None,
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
        CompletedGroup { lanes: group.arrived, operation: group.operation, at: group.at }
    }
}
