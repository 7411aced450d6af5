//! What the lanes of a block's warps have done since they last met.

use super::flow::Iterations;
use super::site::{Node, START};
use crate::lanes::{LANES, MAX_WARPS};

/// How many events of a lane are kept before it lets the other lanes catch up: then some can be counted, and forgotten.
const AHEAD: usize = 1024;

/// A lane has come to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) node: Node,
    /// The address of an access; whether a branch is taken.
    pub(super) value: u64,
}

/// What a lane has done that has not been put together with what others have done.
#[derive(Debug, Default)]
pub(super) struct Lane {
    pub(super) events: Vec<Event>,
    /// How many of these the flow knows.
    pub(super) noted: usize,
    /// How many of these are enough for the lane to let others catch up.
    limit: usize,
    /// Where it was before that.
    pub(super) from: Node,
    /// The iterations that it was in then; none if that is the first of all loops.
    pub(super) iterations: Iterations,
}

impl Lane {
    /// Goes on from `node`, together with the other lanes of the warp.
    pub(super) fn restart(&mut self, node: Node) {
        self.forget(self.events.len());
        self.from = node;
        self.iterations.clear();
    }

    /// Forgets the first `count` events, which have been counted.
    pub(super) fn forget(&mut self, count: usize) {
        self.events.drain(..count);
        self.noted = self.noted.saturating_sub(count);
        self.limit = self.events.len() + AHEAD;
    }

    /// Whether the lane should let others catch up. If none does, it goes on for a while.
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
    /// The lanes with events that have not been counted.
    pub(super) fn unfinished(&self) -> u32 {
        let lanes = self.lanes.iter().enumerate().filter(|(_, lane)| !lane.events.is_empty());
        lanes.map(|(lane, _)| 1 << lane).sum()
    }
}

/// A block: which one, and its warps.
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
