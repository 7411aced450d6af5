//! What watches a launch, and the one place that sees every access of a kernel.
//!
//! A launch that is watched runs on one OS thread. Everything that a watcher is told happens in one order, in which the
//! memory really changes: an access is told right before it is made, and no other thread runs in between.

use std::cell::Cell;

use crate::block::Block;
use crate::check::Checker;
use crate::current::current;
use crate::fault::{Line, Space};
use crate::lanes::Thread;
use crate::profile::{Profile, Profiler};
use crate::rendezvous::Operation;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Makes what is there unspecified: something that goes on by itself will write it.
    Discard,
    /// Reads, as one step.
    AtomicLoad(Order),
    /// Writes, as one step.
    AtomicStore(Order),
    /// Reads and writes, as one step.
    Update,
}

/// What an atomic load or store orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Nothing but itself.
    Relaxed,
    /// A load: what was written before the releasing store that it sees. A store: what was written before it.
    Synchronising,
}

/// An access that is about to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub(crate) space: Space,
    pub(crate) access: Access,
    /// In global memory the host's address, in shared memory the block's.
    pub(crate) address: usize,
    pub(crate) bytes: usize,
    pub(crate) at: Line,
}

/// What is told about a launch as it runs, and to whom.
pub(crate) enum Watch {
    /// Nobody.
    Nobody,
    /// The search for races and the like.
    Checker(Box<Checker>),
    /// The count of what the memory system would do.
    Profiler(Box<Profiler>),
}

impl Watch {
    /// What a profiler has counted.
    pub(crate) fn into_profile(self) -> Option<Profile> {
        match self {
            Self::Profiler(profiler) => Some(profiler.into_profile()),
            Self::Nobody | Self::Checker(_) => None,
        }
    }
}

thread_local! {
    /// Whether the calling OS thread runs a launch that is watched.
    static WATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Marks the calling OS thread as running a watched launch, as long as it lives.
pub(crate) struct Watching;

impl Watching {
    pub(crate) fn begin() -> Self {
        WATCHING.set(true);
        Self
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        WATCHING.set(false);
    }
}

/// Whether the calling OS thread runs a launch that is watched.
#[inline(always)]
pub(crate) fn is_watching() -> bool {
    WATCHING.get()
}

/// Tells of an access that the current thread is about to make: nothing may come between this and the access.
#[inline(always)]
pub(crate) fn observe(touch: Touch) {
    if is_watching() {
        // One by one, in registers: a structure would be put on the stack before each access, watched or not.
        tell(touch.space, touch.access, touch.address, touch.bytes, touch.at);
    }
}

#[cold]
#[inline(never)]
fn tell(space: Space, access: Access, address: usize, bytes: usize, at: Line) {
    let touch = Touch { space, access, address, bytes, at };
    let Some(block) = current() else { return };
    if std::thread::panicking() {
        return;
    }
    block.preempt(touch.at);
    match block.watch() {
        Watch::Nobody => {}
        Watch::Checker(checker) => checker.touch(block, &touch),
        Watch::Profiler(profiler) => profiler.touch(block, &touch),
    }
}

/// Tells that the current thread has come to a branch and takes it, or not. Gives `is_taken`.
#[inline(always)]
pub(crate) fn observe_branch(is_taken: bool, at: Line) -> bool {
    if is_watching() {
        tell_branch(is_taken, at);
    }
    is_taken
}

#[cold]
#[inline(never)]
fn tell_branch(is_taken: bool, at: Line) {
    if let Some(block) = current()
        && let Watch::Profiler(profiler) = block.watch()
    {
        profiler.branch(block, is_taken, at);
    }
}

impl Block {
    /// Tells that the block begins: none of its threads has started.
    pub(crate) fn tell_begin(&self) {
        match self.watch() {
            Watch::Nobody => {}
            Watch::Checker(checker) => checker.begin_block(self),
            Watch::Profiler(profiler) => profiler.begin_block(self),
        }
    }

    /// Tells that all threads of the block have met at the barrier at `at`, and none has gone on.
    pub(crate) fn tell_barrier(&self, at: Line) {
        match self.watch() {
            Watch::Nobody => {}
            Watch::Checker(checker) => checker.barrier(self, at),
            Watch::Profiler(profiler) => profiler.barrier(self, at),
        }
    }

    /// Tells that `lanes` of `warp` have met for `operation` at `at`, and none has gone on.
    pub(crate) fn tell_operation(&self, warp: usize, lanes: u32, operation: Operation, at: Line) {
        match self.watch() {
            Watch::Nobody => {}
            Watch::Checker(checker) => checker.warp_operation(self, warp, lanes, operation, at),
            Watch::Profiler(profiler) => profiler.warp_operation(self, warp, lanes, operation, at),
        }
    }

    /// Tells that the current thread makes a fence.
    pub(crate) fn tell_fence(&self, at: Line) {
        match self.watch() {
            Watch::Nobody => {}
            Watch::Checker(checker) => checker.fence(self, at),
            Watch::Profiler(profiler) => profiler.fence(self, at),
        }
    }

    /// Tells that `thread` has returned.
    pub(crate) fn tell_exit(&self, thread: Thread) {
        match self.watch() {
            Watch::Nobody | Watch::Checker(_) => {}
            Watch::Profiler(profiler) => profiler.exit(self, thread),
        }
    }

    /// Tells that the block is done with: it has finished, or ended early.
    pub(crate) fn tell_end(&self) {
        match self.watch() {
            Watch::Nobody => {}
            Watch::Checker(checker) => checker.end_block(self),
            Watch::Profiler(profiler) => profiler.end_block(self),
        }
    }
}
