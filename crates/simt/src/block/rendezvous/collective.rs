//! Instructions that a whole warp executes on the registers of all its lanes, such as `mma.sync` and `ldmatrix`.

use std::cell::RefCell;

use super::super::Block;
use super::{Group, Operation, Request};
use crate::faults::FaultKind;
use crate::lanes::{LANES, MAX_WARPS, Thread};
use crate::source::Line;

/// The registers that a lane passes to a collective instruction and receives from it.
pub type LaneRegisters = [u32; 32];

/// The registers of all lanes of a warp.
pub type WarpRegisters = [LaneRegisters; LANES as usize];

/// The mask of all lanes of a warp.
const WHOLE: u32 = u32::MAX;

/// The registers of each warp of a block.
#[derive(Default)]
pub(super) struct Collectives([RefCell<Option<Box<Registers>>>; MAX_WARPS]);

struct Registers {
    lanes: WarpRegisters,
    /// The lanes whose results are computed and not yet received.
    ready: u32,
}

impl Collectives {
    pub(super) fn clear(&self) {
        self.0.iter().for_each(|warp| _ = warp.take());
    }

    fn pass(&self, thread: Thread, registers: &LaneRegisters) {
        let warp = &mut *self.0[thread.warp()].borrow_mut();
        let warp = warp.get_or_insert_with(|| Box::new(Registers { lanes: [[0; 32]; LANES as usize], ready: 0 }));
        warp.lanes[thread.lane() as usize] = *registers;
    }

    /// Returns the result of `thread`. The first lane that continues computes the results of all lanes. No lane passes
    /// registers to a later instruction before it has received its result.
    fn receive(&self, thread: Thread, compute: impl FnOnce(&mut WarpRegisters)) -> Option<LaneRegisters> {
        let warp = &mut *self.0[thread.warp()].borrow_mut();
        let warp = warp.as_deref_mut()?;
        if warp.ready & thread.bit() == 0 {
            compute(&mut warp.lanes);
            warp.ready = WHOLE;
        }
        warp.ready &= !thread.bit();
        Some(warp.lanes[thread.lane() as usize])
    }
}

impl Block {
    /// Makes the current lane wait until all 32 lanes of its warp have reached the instruction `name` at the same line.
    /// Replaces `registers` by those that `compute` returns for this lane. A warp without 32 running lanes is a fault.
    pub(crate) fn collective(
        &self,
        name: &'static str,
        registers: &mut LaneRegisters,
        compute: fn(&mut WarpRegisters),
        at: Line,
    ) {
        if self.is_unwinding() {
            return;
        }
        let thread = self.thread();
        self.rendezvous.collectives.pass(thread, registers);
        self.meet_whole(name, at);
        let compute = |lanes: &mut WarpRegisters| {
            if name.starts_with("mma.") {
                self.notify(|watcher, block| watcher.product(block, name, at));
            }
            compute(lanes);
        };
        if let Some(result) = self.rendezvous.collectives.receive(thread, compute) {
            *registers = result;
        }
    }

    /// Makes the current lane wait until all 32 lanes of its warp have reached the instruction `name` at the same line.
    /// A warp without 32 running lanes is a fault.
    pub(crate) fn meet_whole(&self, name: &'static str, at: Line) {
        let thread = self.thread();
        let exited = self.run_queue.warp_of(thread).exited();
        if exited != 0 {
            self.raise(self.partial_warp(name, thread, exited), at);
        }
        self.meet(Request { operation: Operation::Collective(name), mask: WHOLE, value: 0, source: 0, at });
    }

    /// Returns the kind of fault if some lanes of the warp of `thread` wait at a collective instruction and the lanes
    /// in the mask `missing` do not reach it.
    fn partial_warp(&self, instruction: &'static str, thread: Thread, missing: u32) -> FaultKind {
        let linear = thread.warp() as u32 * LANES + missing.trailing_zeros();
        let missing = (linear < self.context.extent.threads).then(|| self.context.extent.thread(linear));
        let missing = missing.map(|thread| Box::new(self.whereabouts(thread)));
        FaultKind::PartialWarp { instruction, missing }
    }

    /// Returns a lane that waits at a collective instruction which other lanes of its warp never reach, with the line
    /// and the kind of this fault.
    pub(crate) fn waiting_collective(&self) -> Option<(Thread, Line, FaultKind)> {
        self.context.extent.iter().find_map(|thread| match self.rendezvous.group_of(thread)? {
            Group { operation: Operation::Collective(name), at, arrived, .. } => {
                Some((thread, at, self.partial_warp(name, thread, !arrived)))
            }
            _ => None,
        })
    }
}
