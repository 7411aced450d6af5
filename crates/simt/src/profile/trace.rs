//! The events of a block's lanes since they last met.

use super::flow::Iterations;
use super::site::{Node, START};
use crate::lanes::{LANES, MAX_WARPS};

/// The number of events after which a lane lets the others catch up, so that events can be counted and dropped.
const AHEAD: usize = 1024;

/// An event of a lane: it has reached a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) node: Node,
    /// The address of an access; for a branch, 1 if it is taken.
    pub(super) value: u64,
}

/// The events of a lane that are not combined with those of other lanes yet.
#[derive(Debug, Default)]
pub(super) struct Lane {
    pub(super) events: Vec<Event>,
    /// The number of these events that are noted in the flow.
    pub(super) noted: usize,
    /// The number of events at which the lane lets others catch up.
    limit: usize,
    /// The lane's node before the first event.
    pub(super) from: Node,
    /// The iterations of loops at that node; empty if all are in their first iteration.
    pub(super) iterations: Iterations,
}

impl Lane {
    /// Continues from `node`, together with the other lanes of the warp.
    pub(super) fn restart(&mut self, node: Node) {
        self.forget(self.events.len());
        self.from = node;
        self.iterations.clear();
    }

    /// Removes the first `count` events, which have been counted.
    pub(super) fn forget(&mut self, count: usize) {
        self.events.drain(..count);
        self.noted = self.noted.saturating_sub(count);
        self.limit = self.events.len() + AHEAD;
    }

    /// Returns true if the lane should let others catch up. If they do not, it continues for a while.
    pub(super) fn is_ahead(&mut self) -> bool {
        let is_ahead = self.events.len() >= self.limit;
        if is_ahead {
            self.limit += AHEAD;
        }
        is_ahead
    }
}

/// A warp.
#[derive(Debug, Default)]
pub(super) struct Warp {
    pub(super) lanes: [Lane; LANES as usize],
    /// The lanes that exist and have not exited.
    pub(super) live: u32,
    /// The lanes that let others catch up.
    pub(super) paused: u32,
}

impl Warp {
    /// Returns the lanes with events that have not been counted.
    pub(super) fn unfinished(&self) -> u32 {
        let lanes = self.lanes.iter().enumerate().filter(|(_, lane)| !lane.events.is_empty());
        lanes.map(|(lane, _)| 1 << lane).sum()
    }
}

/// A block: its position and its warps.
#[derive(Debug)]
pub(super) struct Trace {
    pub(super) position: u64,
    pub(super) warps: Vec<Warp>,
}

impl Trace {
    pub(super) fn new() -> Self {
        Self { position: 0, warps: (0..MAX_WARPS).map(|_| Warp::default()).collect() }
    }

    /// Begins the block at `position`, of `threads` threads.
    pub(super) fn begin(&mut self, position: u64, threads: u32) {
        self.position = position;
        for (first, warp) in (0..threads).step_by(LANES as usize).zip(&mut self.warps) {
            warp.live = u32::MAX >> (LANES - (threads - first).min(LANES));
            warp.paused = 0;
            warp.lanes.iter_mut().for_each(|lane| lane.restart(START));
        }
    }
}
