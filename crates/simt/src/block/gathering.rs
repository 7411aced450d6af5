//! Gathers the lanes of a warp that reach `active_mask` together.
//!
//! # Design
//!
//! A GPU runs some lanes of a warp in lockstep, and simulated lanes run one after the other. In some schedules, a lane
//! therefore waits until no other thread of its block can continue. The lanes that have then reached the same source
//! line are together. Each of them gets the same mask, as on a GPU, and can pass it to a warp operation.

use std::cell::RefCell;

use super::Block;
use crate::lanes::Thread;
use crate::order::scramble;
use crate::schedule::LaneGroups;
use crate::source::{Line, is_same_line};

/// Lanes of a warp that have reached `active_mask` at one source line.
struct Group {
    warp: usize,
    at: Line,
    lanes: u32,
    /// The lanes that have not continued.
    waiting: u32,
    /// True if a lane has continued. No lane then joins the group.
    is_closed: bool,
}

/// The lanes of a block that wait in `active_mask`.
#[derive(Default)]
pub(super) struct Gathering {
    groups: RefCell<Vec<Group>>,
}

impl Gathering {
    pub(super) fn begin(&self) {
        self.groups.borrow_mut().clear();
    }

    /// Adds `thread` to the lanes that wait at `at`.
    fn join(&self, thread: Thread, at: Line) {
        let groups = &mut *self.groups.borrow_mut();
        let (warp, bit) = (thread.warp(), thread.bit());
        let is_open = |group: &&mut Group| group.warp == warp && !group.is_closed && is_same_line(group.at, at);
        match groups.iter_mut().find(is_open) {
            Some(group) => {
                group.lanes |= bit;
                group.waiting |= bit;
            }
            None => groups.push(Group { warp, at, lanes: bit, waiting: bit, is_closed: false }),
        }
    }

    /// Removes `thread` from the waiting lanes, and returns all lanes of its group.
    fn leave(&self, thread: Thread) -> u32 {
        let groups = &mut *self.groups.borrow_mut();
        let is_own = |group: &Group| group.warp == thread.warp() && group.waiting & thread.bit() != 0;
        let Some(index) = groups.iter().position(is_own) else { return thread.bit() };
        let group = &mut groups[index];
        group.is_closed = true;
        group.waiting &= !thread.bit();
        let lanes = group.lanes;
        if group.waiting == 0 {
            groups.swap_remove(index);
        }
        lanes
    }
}

impl Block {
    /// Returns the mask of the lanes that run together with the current one at `at`.
    pub(crate) fn active_mask(&self, at: Line) -> u32 {
        let (thread, schedule) = (self.thread(), self.grid().schedule);
        let groups = schedule.lane_groups();
        if groups == LaneGroups::Single {
            return thread.bit();
        }
        self.gathering.join(thread, at);
        self.let_others_run();
        let lanes = self.gathering.leave(thread);
        if groups == LaneGroups::Whole {
            return lanes;
        }
        let half = lanes & scramble(schedule.seed() ^ scramble(self.position() << 32 | u64::from(lanes))) as u32;
        if half & thread.bit() != 0 { half } else { lanes & !half }
    }
}
