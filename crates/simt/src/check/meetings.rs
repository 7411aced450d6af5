//! The order that barriers of a block or of the grid, and named barriers, give to the accesses of their threads.

use super::vector_clock::VectorClock;
use super::{Resident, State};
use crate::block::context::BlockContext;

impl State {
    /// Orders all earlier accesses of the block before its later ones, at a block barrier.
    pub(super) fn barrier(&mut self, block: &BlockContext) {
        let resident = self.resident(block);
        resident.clocks.barrier();
        // All earlier writes to shared memory are ordered before the next accesses.
        resident.initial.clear();
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

    /// Records that the current thread arrives at the named barrier `id`.
    pub(super) fn named_arrival(&mut self, block: &BlockContext, id: usize) {
        let thread = block.thread().linear();
        let Resident { named, clocks, .. } = self.resident(block);
        named.arrive(clocks, thread, id);
        if let Some(weak) = &mut self.weak {
            weak.note_meeting(block.tag.get());
            weak.named_arrival(block.tag.get(), thread, id);
        }
    }

    /// Records that the phase of the named barrier `id` ends.
    pub(super) fn end_named_phase(&mut self, block: &BlockContext, id: usize) {
        self.resident(block).named.end_phase(id);
        if let Some(weak) = &mut self.weak {
            weak.end_named_phase(block.tag.get(), id);
        }
    }

    /// Orders the accesses before the last phase of the named barrier `id` before those of the current thread.
    pub(super) fn named_wait(&mut self, block: &BlockContext, id: usize) {
        let thread = block.thread().linear();
        let Resident { named, clocks, .. } = self.resident(block);
        named.wait(clocks, thread, id);
        if let Some(weak) = &mut self.weak {
            weak.note_meeting(block.tag.get());
            weak.named_wait(block.tag.get(), thread, id);
        }
    }
}
