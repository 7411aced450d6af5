//! The interface of watchers: the checker and the profiler of a launch.
//!
//! A watched launch runs on one OS thread, so all notifications come in one order, in which memory really changes. The
//! watcher is notified of an access immediately before it is made, and no other thread runs in between.
//!
//! A watcher never runs or stops a thread. It returns [`Next`], and the block does that.
//!
//! # Design
//!
//! The checker and the profiler are the two watchers: one finds errors of a launch, the other counts its costs. A
//! watcher is notified of each event before it happens. It sees only the block's context: index, current thread, shared
//! memory. It never calls the scheduler, so it can change the observed order only by its return values.

use std::cell::Cell;

use crate::block::context::BlockContext;
use crate::faults::FaultKind;
use crate::on_drop::OnDrop;
use crate::region::Space;
use crate::scope::Scope;
use crate::source::Line;
use crate::synchronisations::SyncKind;

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// A load.
    Load,
    /// A store.
    Store,
    /// The beginning of an asynchronous copy. The contents are unspecified until the copy ends.
    Discard,
    /// The end of an asynchronous copy for which the thread has waited: a store of its values.
    Fill,
    /// An atomic load for the threads of the scope.
    AtomicLoad(MemoryOrder, Scope),
    /// An atomic store for the threads of the scope.
    AtomicStore(MemoryOrder, Scope),
    /// An atomic update for the threads of the scope.
    Update(Scope),
    /// An arrival at a barrier in shared memory: an update that acquires nothing.
    Arrive,
}

impl Access {
    /// Returns true if the access reads.
    #[inline(always)]
    pub(crate) fn reads(self) -> bool {
        matches!(self, Self::Load | Self::AtomicLoad(..) | Self::Update(_) | Self::Arrive)
    }

    /// Returns true if the access writes.
    #[inline(always)]
    pub(crate) fn writes(self) -> bool {
        matches!(
            self,
            Self::Store | Self::Discard | Self::Fill | Self::AtomicStore(..) | Self::Update(_) | Self::Arrive
        )
    }

    #[inline(always)]
    pub(crate) fn is_atomic(self) -> bool {
        !matches!(self, Self::Load | Self::Store | Self::Discard | Self::Fill)
    }

    /// Returns true if the access is the beginning or the end of an asynchronous copy.
    pub(crate) fn is_of_copy(self) -> bool {
        matches!(self, Self::Discard | Self::Fill)
    }

    /// Returns true if the access is atomic only for the threads of its own block.
    #[inline(always)]
    pub(crate) fn is_for_block(self) -> bool {
        matches!(
            self,
            Self::AtomicLoad(_, Scope::Block) | Self::AtomicStore(_, Scope::Block) | Self::Update(Scope::Block)
        )
    }
}

/// The ordering of an atomic load or store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryOrder {
    /// Orders no other access.
    Relaxed,
    /// A store releases and a load acquires. Everything before the store is ordered before everything after a load of
    /// its value.
    AcquireRelease,
    /// A load of a barrier in shared memory. It acquires from the threads that arrived before the barrier's last phase
    /// ended, and not from those that arrived later.
    Phase,
}

/// An access that is about to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub(crate) space: Space,
    pub(crate) access: Access,
    /// The host's address in global memory, the block's in shared memory.
    pub(crate) address: usize,
    pub(crate) bytes: usize,
    pub(crate) at: Line,
}

/// The block's next step, as returned by its watcher.
#[derive(Debug)]
pub(crate) enum Next {
    /// Continues the current thread.
    Continue,
    /// Runs the block's other threads until each of them waits, polls or has exited. Then calls
    /// [`Watcher::access_again`].
    LetOthersRun,
    /// Like `LetOthersRun`, between calls of [`Watcher::pause`] and [`Watcher::resume`]. The thread could continue, so
    /// the pause does not count as waiting without progress.
    Pause,
    /// Ends the block with a fault of the current thread.
    Fault(Box<FaultKind>),
}

/// Watches one launch. Unless stated otherwise, notifications are about the block's current thread.
pub(crate) trait Watcher {
    /// The block begins; none of its threads has started.
    fn begin_block(&self, block: &BlockContext);

    /// The block has finished or ended early.
    fn end_block(&self, block: &BlockContext);

    /// The thread is about to make an access.
    fn access(&self, block: &BlockContext, touch: &Touch) -> Next;

    /// The thread is about to make an access, after others have run because of [`Next::LetOthersRun`].
    fn access_again(&self, _block: &BlockContext, _touch: &Touch) -> Next {
        Next::Continue
    }

    /// The thread takes a branch, or does not. Only called in launches with [`EventMask::Everything`].
    fn branch(&self, _block: &BlockContext, _is_taken: bool, _at: Line) -> Next {
        Next::Continue
    }

    /// The thread is about to pause because of [`Next::Pause`]. The lanes `waiting` of its warp wait at a barrier or a
    /// warp operation.
    fn pause(&self, _block: &BlockContext, _waiting: u32) {}

    /// The thread continues after its pause.
    fn resume(&self, _block: &BlockContext) {}

    /// Returns which threads may reach one line of a block barrier by different calls or in different loop iterations.
    fn allowed_divergence(&self) -> BarrierDivergence {
        BarrierDivergence::Lanes
    }

    /// All threads of the block have reached the barrier at `at`, and none has continued.
    fn barrier(&self, block: &BlockContext, at: Line);

    /// All blocks of the grid have reached a barrier of the grid, and none has continued. Each was reported by
    /// `barrier` before.
    fn grid_barrier(&self, _blocks: &[&BlockContext]) {}

    /// `lanes` of `warp` have met for the operation `kind` at `at`, and none has continued.
    fn warp_operation(&self, block: &BlockContext, warp: usize, lanes: u32, kind: SyncKind, at: Line);

    /// The thread has arrived at the barrier at `address` of shared memory as the last one of a phase.
    fn end_phase(&self, _block: &BlockContext, _address: usize) {}

    /// The thread executes a fence for the threads of `scope`.
    fn fence(&self, block: &BlockContext, scope: Scope);

    /// The thread waits for the previous launches, which the simulator never overlaps.
    fn dependencies(&self, _block: &BlockContext) -> Next {
        Next::Continue
    }

    /// The thread has returned from the kernel.
    fn exit(&self, _block: &BlockContext) {}
}

/// The threads that may reach one line of a block barrier by different call paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarrierDivergence {
    /// All threads, also the lanes of one warp.
    Lanes,
    /// The warps of a block, as GPUs allow. All lanes of a warp must take the same path.
    Warps,
    /// None: all threads must take the same path.
    Forbidden,
}

/// The events of a launch of which its watcher is notified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventMask {
    /// None: the launch is not watched.
    Nothing,
    /// All events but branches.
    NoBranches,
    Everything,
}

thread_local! {
    /// The notifications of the launch that the calling OS thread runs.
    static EVENTS: Cell<EventMask> = const { Cell::new(EventMask::Nothing) };
}

/// Marks the calling OS thread as running a watched launch until the result is dropped.
pub(crate) fn begin_watching(mask: EventMask) -> impl Drop {
    EVENTS.set(mask);
    OnDrop(|| EVENTS.set(EventMask::Nothing))
}

/// Returns true if the calling OS thread runs a watched launch.
#[inline(always)]
pub fn is_watching() -> bool {
    EVENTS.get() != EventMask::Nothing
}

/// Returns true if the calling OS thread runs a launch whose watcher is notified of branches.
#[inline(always)]
pub(crate) fn is_watching_branches() -> bool {
    EVENTS.get() == EventMask::Everything
}
