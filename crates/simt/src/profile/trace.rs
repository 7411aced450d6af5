//! The events of a block's lanes that the profiler has not combined yet.

use super::flow::Iterations;
use super::site::{Node, START};
use crate::lanes::{LANES, MAX_WARPS};

/// The number of events after which a lane lets the other lanes of its warp catch up. The profiler can then count and
/// drop events.
const AHEAD: usize = 1024;

/// An event of a lane: the lane has reached a node of the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) node: Node,
    /// The address if the event is an access. For a branch, 1 if the lane takes the branch, otherwise 0.
    pub(super) value: u64,
}

/// The events of a lane that the profiler has not yet combined with the events of other lanes.
#[derive(Debug, Default)]
pub(super) struct Lane {
    pub(super) events: Vec<Event>,
    /// The number of leading events whose steps have been added to the flow.
    pub(super) noted: usize,
    /// The number of events at which the lane lets the other lanes catch up.
    limit: usize,
    /// The node at which the lane was before the first event.
    pub(super) from: Node,
    /// The iterations of the loops around `from`. A loop that is not listed is in its first iteration.
    pub(super) iterations: Iterations,
}

impl Lane {
    /// Removes all events, and lets the lane continue from `node` together with the other lanes of the warp.
    pub(super) fn restart(&mut self, node: Node) {
        self.forget(self.events.len());
        self.from = node;
        self.iterations.clear();
    }

    /// Removes the first `count` events, which the profiler has counted.
    pub(super) fn forget(&mut self, count: usize) {
        self.events.drain(..count);
        self.noted = self.noted.saturating_sub(count);
        self.limit = self.events.len() + AHEAD;
    }

    /// Returns true if the lane should let the other lanes catch up. In this case raises the limit, so that the lane
    /// can continue if the other lanes do not catch up.
    pub(super) fn is_ahead(&mut self) -> bool {
        let is_ahead = self.events.len() >= self.limit;
        if is_ahead {
            self.limit += AHEAD;
        }
        is_ahead
    }
}

/// The events of a warp's lanes.
#[derive(Debug, Default)]
pub(super) struct Warp {
    pub(super) lanes: [Lane; LANES as usize],
    /// The mask of the lanes that exist and have not exited.
    pub(super) live: u32,
    /// The mask of the lanes that pause to let other lanes catch up.
    pub(super) paused: u32,
}

impl Warp {
    /// Returns the mask of the lanes that have events the profiler has not counted.
    pub(super) fn unfinished(&self) -> u32 {
        let lanes = self.lanes.iter().enumerate().filter(|(_, lane)| !lane.events.is_empty());
        lanes.map(|(lane, _)| 1 << lane).sum()
    }
}

/// The events of a block's warps, and the block's position in the order in which the grid's blocks run.
#[derive(Debug)]
pub(super) struct Trace {
    pub(super) position: u64,
    pub(super) warps: Vec<Warp>,
}

impl Trace {
    pub(super) fn new() -> Self {
        Self { position: 0, warps: (0..MAX_WARPS).map(|_| Warp::default()).collect() }
    }

    /// Resets the trace for the block at `position`, which has `threads` threads.
    pub(super) fn begin(&mut self, position: u64, threads: u32) {
        self.position = position;
        for (first, warp) in (0..threads).step_by(LANES as usize).zip(&mut self.warps) {
            warp.live = u32::MAX >> (LANES - (threads - first).min(LANES));
            warp.paused = 0;
            warp.lanes.iter_mut().for_each(|lane| lane.restart(START));
        }
    }
}
