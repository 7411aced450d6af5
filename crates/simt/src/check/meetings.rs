//! The order that barriers of a block or of the grid, named barriers, and barriers in shared memory give to the
//! accesses of their threads.

use super::phases::BarrierId;
use super::resident::Resident;
use super::vector_clock::VectorClock;
use super::{State, number};
use crate::block::context::BlockContext;

impl State {
    /// Orders all earlier accesses of the block before its later ones, at a block barrier.
    pub(super) fn barrier(&mut self, block: &BlockContext) {
        let resident = self.resident(block);
        resident.clocks.barrier();
        // All earlier writes to shared memory are ordered before the next accesses, unless other blocks make them.
        if resident.remote.is_empty() {
            resident.memory.initial.clear();
        }
        if let Some(weak) = &mut self.weak {
            weak.note_meeting(block.tag.get());
            weak.clocks(block.tag.get()).barrier();
        }
    }

    /// Orders all earlier accesses of `blocks` before their later ones, at a barrier of the grid.
    pub(super) fn grid_barrier(&mut self, blocks: &[&BlockContext]) {
        let mut all = VectorClock::default();
        for &block in blocks {
            let clocks = &self.residents[block.tag.get() as usize].clocks;
            clocks.publish_all(&mut all);
            self.publications.publish(clocks.block, clocks.base());
        }
        for &block in blocks {
            self.resident(block).clocks.learn_all(&all);
        }
        if let Some(weak) = &mut self.weak {
            blocks.iter().for_each(|block| weak.note_meeting(block.tag.get()));
            weak.grid_barrier(blocks.iter().map(|block| block.tag.get()));
        }
    }

    /// Records that the current thread arrives at `barrier`.
    pub(super) fn arrival(&mut self, block: &BlockContext, barrier: BarrierId) {
        let thread = block.thread().linear();
        let Resident { memory, clocks, .. } = self.resident(block);
        memory.phases.arrive(clocks, thread, barrier);
        if let Some(weak) = &mut self.weak {
            weak.arrive(block.tag.get(), thread, barrier);
        }
    }

    /// Records that a phase of `barrier` ends.
    pub(super) fn end_phase(&mut self, block: &BlockContext, barrier: BarrierId) {
        let number = number(block);
        self.resident(block).memory.phases.end_phase(barrier, number);
        if let Some(weak) = &mut self.weak {
            weak.end_phase(block.tag.get(), number, barrier);
        }
    }

    /// Orders the accesses before the last phase of `barrier` that has ended before those of the current thread.
    pub(super) fn wait(&mut self, block: &BlockContext, barrier: BarrierId) {
        let thread = block.thread().linear();
        let Resident { memory, clocks, .. } = self.resident(block);
        memory.phases.wait(clocks, thread, barrier);
        if let Some(weak) = &mut self.weak {
            weak.wait(block.tag.get(), thread, barrier);
        }
    }
}
