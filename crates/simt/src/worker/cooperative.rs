//! A worker that runs all blocks of a grid at the same time, for cooperative launches.
//!
//! # Design
//!
//! One worker runs a cooperative launch. All blocks begin at once and keep their threads' stacks. The number of blocks
//! is therefore limited. All threads together may take half of the process's stacks.
//!
//! A block runs until it waits at a barrier of the grid, or polls without success. When all blocks wait at the barrier,
//! the worker notifies the watcher. The blocks then continue in the order of the schedule.

use super::{Outcome, Resident, VAIN_POLLS, VAIN_ROUNDS, VAIN_ROUNDS_WITH_HOLDS, Worker};
use crate::block::Block;
use crate::block::context::BlockContext;
use crate::order::Chooser;
use crate::schedule::Schedule;

/// The blocks of a cooperative launch, by state.
#[derive(Default)]
struct Blocks {
    /// The blocks that may continue.
    active: Vec<Resident>,
    /// The blocks that wait at the barrier of the grid.
    waiting: Vec<Resident>,
    ended: u64,
}

impl Worker<'_> {
    /// Runs all blocks of the grid until they have ended or one of them has faulted.
    pub(super) fn run_cooperative(&mut self) {
        let mut blocks = Blocks::default();
        while let Some(position) = self.grid.take(self.number) {
            let mut resident = self.make_resident();
            resident.begin(position);
            blocks.active.push(resident);
        }
        while self.run_to_barrier(&mut blocks) && !blocks.waiting.is_empty() {
            if blocks.ended > 0 {
                let waiting = blocks.waiting.len() as u64;
                if let Some(Resident { block, .. }) = blocks.waiting.iter().min_by_key(|one| one.block.position()) {
                    self.grid.record(block.position(), block.grid_deadlock(waiting, blocks.ended));
                }
                break;
            }
            blocks.active.append(&mut blocks.waiting);
            // Sorted by position, so that the next round has the same order in each run.
            blocks.active.sort_by_key(|resident| resident.block.position());
            blocks.active.iter().for_each(|resident| resident.block.leave_grid_barrier());
            if let Some(watcher) = self.watcher {
                let contexts: Vec<&BlockContext> = blocks.active.iter().map(|one| &one.block.context).collect();
                watcher.grid_barrier(&contexts);
            }
        }
        blocks.active.append(&mut blocks.waiting);
        self.give_up(&mut blocks.active);
    }

    /// Runs the active blocks until each waits at the barrier of the grid or has ended. Returns false if a block has
    /// faulted or no block can continue.
    fn run_to_barrier(&mut self, blocks: &mut Blocks) -> bool {
        let takes_turns = self.grid.schedule.alternates_blocks();
        let is_random = matches!(self.grid.schedule, Schedule::Interleaved(_));
        let mut chooser = Chooser::new(self.grid.schedule, u64::MAX);
        let (mut rounds, mut busy_turns, mut since, mut index) = (0, 0, (0, 0), 0);
        while !blocks.active.is_empty() {
            index = if is_random { chooser.draw(blocks.active.len() as u32) as usize } else { index };
            let patience = self.patience();
            let resident = &mut blocks.active[index];
            let outcome = if takes_turns { self.advance(resident, 1) } else { self.run_alone(resident, patience) };
            match outcome {
                Outcome::Finished => {
                    let ended = blocks.active.remove(index);
                    self.retire(ended);
                    blocks.ended += 1;
                }
                Outcome::AtGridBarrier => blocks.waiting.push(blocks.active.remove(index)),
                Outcome::Failed => {
                    let failed = blocks.active.remove(index);
                    self.retire(failed);
                    return false;
                }
                Outcome::Preempted | Outcome::Stalled => index += 1,
                Outcome::TurnOver => {
                    resident.block.begin_turn();
                    (index, busy_turns) = (index + 1, busy_turns + 1);
                }
            }
            if index >= blocks.active.len() {
                index = 0;
                rounds += 1;
            }
            let progress: u64 = blocks.active.iter().map(|one| one.block.counts.progress.get()).sum();
            let now = (progress, blocks.active.len());
            if busy_turns >= VAIN_ROUNDS_WITH_HOLDS * now.1 as u64 && self.grid.end_hold() {
                (rounds, busy_turns) = (0, 0);
            } else if now != since {
                (rounds, since) = (0, now);
            } else if rounds >= VAIN_ROUNDS_WITH_HOLDS && self.grid.end_hold() {
                rounds = 0;
            } else if rounds >= VAIN_ROUNDS && blocks.active.iter().map(|one| one.vain_polls).sum::<u64>() >= VAIN_POLLS
            {
                self.record_starvation(&blocks.active);
                return false;
            }
        }
        true
    }

    /// Ends `stalled` blocks early. Records their fault if no block can continue.
    pub(crate) fn give_up(&mut self, stalled: &mut Vec<Resident>) {
        if self.grid.has_no_progress() {
            self.record_starvation(stalled);
        }
        for mut resident in stalled.drain(..) {
            self.abandon(&mut resident);
            self.retire(resident);
        }
    }

    /// Records the fault of `blocks`, none of which can continue.
    pub(crate) fn record_starvation(&self, blocks: &[Resident]) {
        let mut all: Vec<&Block> = blocks.iter().map(|resident| &*resident.block).collect();
        all.sort_by_key(|block| block.position());
        if let Some(first) = all.first() {
            self.grid.record(first.position(), first.starvation(all.iter().copied()));
        }
    }
}
