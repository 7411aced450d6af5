//! Named barriers: barriers of some threads of a block, which have numbers.

use std::cell::Cell;

use super::Block;
use crate::faults::FaultKind;
use crate::lanes::LANES;
use crate::source::{Line, SourceLocation};
use crate::watch::is_watching;

/// The number of barriers of a block, including the block barrier, which has the number 0.
pub(crate) const NAMED: usize = 16;

#[derive(Default)]
struct NamedBarrier {
    /// The number of threads that the current phase expects, and the line of its first arrival.
    expected: Cell<Option<(u32, Line)>>,
    arrived: Cell<u32>,
    /// The number of phases that have ended.
    phase: Cell<u64>,
}

/// The named barriers of a block.
#[derive(Default)]
pub(crate) struct NamedBarriers([NamedBarrier; NAMED]);

impl NamedBarriers {
    /// Resets the barriers for a new block.
    pub(crate) fn begin(&self) {
        for barrier in &self.0 {
            barrier.expected.set(None);
            barrier.arrived.set(0);
        }
    }
}

impl Block {
    /// Makes the current thread arrive at the barrier `id`, of which `threads` threads are part. If `waits` is true,
    /// the thread waits for the others.
    pub(crate) fn meet_named(&self, id: u32, threads: u32, waits: bool, at: Line) {
        if self.is_unwinding() {
            return;
        }
        let size = self.context.extent.threads;
        let max = size.next_multiple_of(LANES);
        if id == 0 || id as usize >= NAMED {
            self.misuse(format!("a named barrier has a number from 1 to 15, but {id} was given"), at);
        }
        if threads == 0 || threads > max || !threads.is_multiple_of(LANES) {
            self.misuse(
                format!(
                    "the number of threads of a named barrier must be a multiple of 32 and at most {max}, because the \
                     block has {size} threads, but {threads} was given"
                ),
                at,
            );
        }
        let barrier = &self.named.0[id as usize];
        match barrier.expected.get() {
            Some((expected, other)) if expected != threads => {
                let other = SourceLocation::from(other);
                self.misuse(
                    format!("threads give different numbers for barrier {id}: {threads} here, {expected} at {other}"),
                    at,
                );
            }
            _ => barrier.expected.set(Some((threads, at))),
        }
        if is_watching() {
            self.note_seen(at);
            self.notify(|watcher, block| watcher.named_arrival(block, id as usize));
        }
        // A GPU counts warps, so the first lane of an incomplete warp counts for the lanes that do not exist.
        let thread = self.thread();
        let missing = if thread.lane() == 0 { LANES - (size - thread.linear()).min(LANES) } else { 0 };
        let arrived = barrier.arrived.get() + 1 + missing;
        let phase = barrier.phase.get();
        if arrived < threads {
            barrier.arrived.set(arrived);
        } else {
            barrier.arrived.set(0);
            barrier.expected.set(None);
            barrier.phase.set(phase + 1);
            self.note_progress();
            if is_watching() {
                self.notify(|watcher, block| watcher.end_named_phase(block, id as usize));
            }
        }
        if waits {
            while barrier.phase.get() == phase {
                self.wait_polling(at);
            }
            if is_watching() {
                self.notify(|watcher, block| watcher.named_wait(block, id as usize));
            }
        }
    }

    #[cold]
    fn misuse(&self, reason: String, at: Line) -> ! {
        self.raise(FaultKind::Panic(reason), at)
    }
}
