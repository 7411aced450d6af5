//! Who watches a launch, and what a watcher is told.
//!
//! A launch that is watched runs on one OS thread. Everything that its watcher is told happens in one order, in which the
//! memory really changes: the watcher is told of an access right before it is made, and no other thread runs in between.
//!
//! A watcher never runs or stops a thread. It returns what shall happen [`Next`], and the block sees to that.

use std::cell::Cell;

use crate::block::context::BlockContext;
use crate::fault::FaultKind;
use crate::region::Space;
use crate::scope::Scope;
use crate::source::Line;
use crate::synchronisations::SyncKind;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Begins an asynchronous copy: what is there is unspecified until the copy is over.
    Discard,
    /// Writes what the asynchronous copy brings, which the thread has waited for.
    Fill,
    /// Reads, as one step for the threads of the scope.
    AtomicLoad(MemoryOrder, Scope),
    /// Writes, as one step for the threads of the scope.
    AtomicStore(MemoryOrder, Scope),
    /// Reads and writes, as one step for the threads of the scope.
    Update(Scope),
    /// Arrives at a barrier in shared memory: an update whose thread learns nothing by it.
    Arrive,
}

impl Access {
    /// Whether the access reads.
    #[inline(always)]
    pub(crate) fn reads(self) -> bool {
        matches!(self, Self::Load | Self::AtomicLoad(..) | Self::Update(_) | Self::Arrive)
    }

    /// Whether the access writes.
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

    /// Whether the access is the beginning or the end of an asynchronous copy.
    pub(crate) fn is_of_copy(self) -> bool {
        matches!(self, Self::Discard | Self::Fill)
    }

    /// Whether the access is one step for the threads of its own block alone.
    #[inline(always)]
    pub(crate) fn is_for_block(self) -> bool {
        matches!(
            self,
            Self::AtomicLoad(_, Scope::Block) | Self::AtomicStore(_, Scope::Block) | Self::Update(Scope::Block)
        )
    }
}

/// What an atomic load or store orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryOrder {
    /// Nothing but itself.
    Relaxed,
    /// A store releases and a load acquires: what came before the store comes before what follows a load that reads its value.
    AcquireRelease,
    /// A load of a barrier in shared memory acquires what those released who arrived before its last phase was over, and
    /// nothing of those who have arrived since.
    Phase,
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

/// What the block shall do after its watcher has been told something.
#[derive(Debug)]
pub(crate) enum Next {
    /// The current thread goes on.
    Continue,
    /// The block's other threads run until each of them waits, polls or has exited. Then the watcher is asked again, by
    /// [`Watcher::access_again`].
    LetOthersRun,
    /// The same, but the watcher is told right before, by [`Watcher::pause`], and after, by [`Watcher::resume`]. The
    /// thread could go on, so its pause is not one of the waits from which the simulator concludes that a launch makes no progress.
    Pause,
    /// The block ends with a fault of the current thread.
    Fault(Box<FaultKind>),
}

/// Follows one launch. What is told is told of the block's current thread, where nothing else is said.
pub(crate) trait Watcher {
    /// The block begins: none of its threads has started.
    fn begin_block(&self, block: &BlockContext);

    /// The block is done with: it has finished, or ended early.
    fn end_block(&self, block: &BlockContext);

    /// The thread is about to make an access.
    fn access(&self, block: &BlockContext, touch: &Touch) -> Next;

    /// The thread is about to make an access, before which others have run, as [`Next::LetOthersRun`] asked.
    fn access_again(&self, _block: &BlockContext, _touch: &Touch) -> Next {
        Next::Continue
    }

    /// The thread has come to a branch and takes it, or not. Told in launches of which [`EventMask::Everything`] is.
    fn branch(&self, _block: &BlockContext, _is_taken: bool, _at: Line) -> Next {
        Next::Continue
    }

    /// The thread is about to pause, as [`Next::Pause`] asked. The lanes `waiting` of its warp wait at a barrier or a warp
    /// operation.
    fn pause(&self, _block: &BlockContext, _waiting: u32) {}

    /// The thread goes on after its pause.
    fn resume(&self, _block: &BlockContext) {}

    /// Who may come to one line of a block barrier by different calls, or in different iterations of a loop.
    fn allows_apart(&self) -> Apart {
        Apart::Lanes
    }

    /// All threads of the block have met at the barrier at `at`, and none has gone on.
    fn barrier(&self, block: &BlockContext, at: Line);

    /// All blocks of the grid have met at a barrier of the grid, as each of them was told, and none has gone on.
    fn grid_barrier(&self, _blocks: &[&BlockContext]) {}

    /// `lanes` of `warp` have met for the operation `kind` at `at`, and none has gone on.
    fn warp_operation(&self, block: &BlockContext, warp: usize, lanes: u32, kind: SyncKind, at: Line);

    /// The thread has just arrived, the last one of a phase, at the barrier at `address` of shared memory.
    fn end_phase(&self, _block: &BlockContext, _address: usize) {}

    /// The thread makes a fence for the threads of `scope`.
    fn fence(&self, block: &BlockContext, scope: Scope);

    /// The thread waits for the launches before, which the simulator never overlaps.
    fn dependencies(&self, _block: &BlockContext) -> Next {
        Next::Continue
    }

    /// The thread has returned from the kernel.
    fn exit(&self, _block: &BlockContext) {}
}

/// Who may come to one line of a block barrier by different ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Apart {
    /// Any thread.
    Lanes,
    /// The lanes of a warp by one, and each warp by its own: what GPUs allow.
    Warps,
    /// All threads come by one.
    Nobody,
}

/// What is told of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventMask {
    /// Nothing: nobody watches.
    Nothing,
    /// All but branches.
    NoBranches,
    Everything,
}

thread_local! {
    /// What is told of the launch that the calling OS thread runs.
    static EVENTS: Cell<EventMask> = const { Cell::new(EventMask::Nothing) };
}

/// Marks the calling OS thread as running a watched launch, as long as it lives.
pub(crate) struct Watching;

impl Watching {
    pub(crate) fn begin(told: EventMask) -> Self {
        EVENTS.set(told);
        Self
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        EVENTS.set(EventMask::Nothing);
    }
}

/// Whether the calling OS thread runs a launch that is watched.
#[inline(always)]
pub fn is_watching() -> bool {
    EVENTS.get() != EventMask::Nothing
}

/// Whether it runs a launch of whose branches somebody wants to know.
#[inline(always)]
pub(crate) fn is_watching_branches() -> bool {
    EVENTS.get() == EventMask::Everything
}
