//! A worker that runs several blocks at the same time: all blocks of a cooperative launch, or the blocks of a cluster.
//!
//! # Design
//!
//! One worker runs a cooperative launch. All blocks begin at once and keep their threads' stacks. The number of blocks
//! is therefore limited. All threads together may take half of the process's stacks.
//!
//! A block runs until it waits at a barrier of the grid, or polls without success. When all blocks wait at the barrier,
//! the worker notifies the watcher. The blocks then continue in the order of the schedule.
//!
//! One worker also runs a launch with clusters. All blocks of a cluster begin at once. The next cluster begins when no
//! block is left, or when the running blocks only poll. A block that has ended keeps its shared memory until its
//! cluster ends, because another block may access that memory, which is a fault.

use std::rc::Rc;

use super::interleave::MAX_RESIDENT;
use super::{Outcome, Resident, VAIN_POLLS, VAIN_ROUNDS, VAIN_ROUNDS_OF_WAITS, VAIN_ROUNDS_WITH_HOLDS, Worker};
use crate::block::Block;
use crate::block::cluster::Cluster;
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
    /// The blocks that have ended before the other blocks of their clusters.
    ended_early: Vec<Resident>,
}

impl Worker<'_> {
    /// Runs all blocks of the grid until they have ended or one of them has faulted.
    pub(super) fn run_cooperative(&mut self) {
        let mut blocks = Blocks::default();
        while self.begin_cluster(&mut blocks) {}
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
        self.end_all(blocks);
    }

    /// Runs the blocks of a launch with clusters, until all have ended or one of them has faulted.
    pub(super) fn run_clusters(&mut self) {
        let mut blocks = Blocks::default();
        while self.begin_cluster(&mut blocks) && self.run_to_barrier(&mut blocks) {}
        self.end_all(blocks);
    }

    /// Begins the blocks of the next cluster, or the next block in a launch without clusters. Returns false if no block
    /// is left.
    fn begin_cluster(&mut self, blocks: &mut Blocks) -> bool {
        let config = self.grid.config;
        let extent = config.cluster;
        let size = extent.count() as u32;
        let cluster = (size > 1).then(|| Rc::new(Cluster::new(size, config.block.count() as u32)));
        for _ in 0..size {
            let Some(position) = self.grid.take(self.number) else { return false };
            let mut resident = self.make_resident();
            resident.begin(position);
            if let Some(cluster) = &cluster {
                let index = resident.block.context.index();
                let rank = (index.z % extent.z * extent.y + index.y % extent.y) * extent.x + index.x % extent.x;
                resident.block.join_cluster(cluster, rank);
            }
            blocks.active.push(resident);
        }
        true
    }

    /// Retires a block that has ended, and the other blocks of its cluster if it was the last one to end.
    fn end_in_cluster(&mut self, resident: Resident, blocks: &mut Blocks) {
        let size = self.grid.config.cluster.count() as u64;
        let cluster = resident.block.position() / size;
        blocks.ended_early.push(resident);
        let is_of_cluster = |resident: &mut Resident| resident.block.position() / size == cluster;
        if blocks.ended_early.iter_mut().filter_map(|one| is_of_cluster(one).then_some(())).count() as u64 == size {
            let all: Vec<Resident> = blocks.ended_early.extract_if(.., is_of_cluster).collect();
            all.into_iter().for_each(|one| self.retire(one));
        }
    }

    fn end_all(&mut self, mut blocks: Blocks) {
        blocks.active.append(&mut blocks.waiting);
        self.give_up(&mut blocks.active);
        blocks.ended_early.into_iter().for_each(|one| self.retire(one));
    }

    /// Runs the active blocks until each waits at the barrier of the grid or has ended. Begins further clusters if the
    /// active blocks only poll. Returns false if a block has faulted or no block can continue.
    fn run_to_barrier(&mut self, blocks: &mut Blocks) -> bool {
        let takes_turns = self.grid.schedule.alternates_blocks();
        let is_random = matches!(self.grid.schedule, Schedule::Interleaved(_));
        let mut chooser = Chooser::new(self.grid.schedule, u64::MAX);
        let (mut rounds, mut busy_turns, mut since, mut index) = (0, 0, (0, 0), 0);
        while !blocks.active.is_empty() {
            while takes_turns && blocks.active.len() < MAX_RESIDENT && self.begin_cluster(blocks) {}
            index = if is_random { chooser.draw(blocks.active.len() as u32) as usize } else { index };
            let patience = self.patience();
            let resident = &mut blocks.active[index];
            let outcome = if takes_turns { self.advance(resident, 1) } else { self.run_alone(resident, patience) };
            match outcome {
                Outcome::Finished => {
                    let ended = blocks.active.remove(index);
                    self.end_in_cluster(ended, blocks);
                    blocks.ended += 1;
                }
                Outcome::AtClusterBarrier => {
                    if blocks.active.iter().all(|one| one.block.is_at_cluster_barrier()) {
                        let fault = blocks.active.iter().find_map(|one| one.block.cluster_deadlock());
                        let position = blocks.active[index].block.position();
                        fault.into_iter().for_each(|fault| self.grid.record(position, fault));
                        return false;
                    }
                    index += 1;
                }
                Outcome::AtGridBarrier => blocks.waiting.push(blocks.active.remove(index)),
                Outcome::Failed => {
                    // Other blocks of the cluster may access the block's shared memory while they unwind.
                    let failed = blocks.active.remove(index);
                    blocks.ended_early.push(failed);
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
            } else if rounds >= VAIN_ROUNDS_WITH_HOLDS && (self.begin_cluster(blocks) || self.grid.end_hold()) {
                rounds = 0;
            } else if rounds >= VAIN_ROUNDS && blocks.active.iter().map(|one| one.vain_polls).sum::<u64>() >= VAIN_POLLS
                || rounds >= VAIN_ROUNDS_OF_WAITS && blocks.active.iter().all(Resident::only_waits)
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
        for resident in &mut *stalled {
            self.abandon(resident);
        }
        stalled.drain(..).for_each(|resident| self.retire(resident));
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
