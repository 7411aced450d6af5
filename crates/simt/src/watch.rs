//! The interface between the scheduler and a watcher. The checker and the profiler are the two watchers.
//!
//! A watched launch runs on one OS thread, so the watcher receives all notifications in the order in which memory
//! really changes. The watcher is notified immediately before each access. No other thread runs between the
//! notification and the access.
//!
//! A watcher never runs or stops a thread. It returns a [`Next`], and the block then runs or stops threads.
//!
//! # Design
//!
//! The checker finds the errors of a launch, and the profiler counts its costs. A watcher is notified of each event
//! before it happens. The watcher sees only the block's context: index, current thread and shared memory. The watcher
//! never calls the scheduler, so it can change the order of threads only by its return values.

mod access;

use std::cell::Cell;

pub(crate) use self::access::{Access, MemoryOrder};
use crate::block::context::BlockContext;
use crate::bulk::agents::AgentWatcher;
use crate::faults::FaultKind;
use crate::faults::wait::PhaseWait;
use crate::geometry::Dim3;
use crate::lanes::Thread;
use crate::on_drop::OnDrop;
use crate::region::Space;
use crate::scope::Scope;
use crate::source::Line;
use crate::synchronisations::SyncKind;

/// The state of an `mbarrier` that a waiting thread has read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PhaseRead {
    /// True if the phase for which the thread waits has ended.
    pub(crate) is_over: bool,
    /// The number of the current phase, modulo 256.
    pub(crate) phase: u64,
    /// The number of arrivals that the current phase still expects.
    pub(crate) missing: u32,
}

/// The bits of a value of at most 16 bytes.
pub(crate) type Value = u128;

/// A memory access that a thread is about to make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub(crate) space: Space,
    pub(crate) access: Access,
    /// The host address in global memory, or the address in the block's shared memory.
    pub(crate) address: usize,
    pub(crate) bytes: usize,
    pub(crate) at: Line,
}

/// The instruction that a watcher returns to the block, and that the block then follows.
#[derive(Debug)]
pub(crate) enum Next {
    /// Continue the current thread.
    Continue,
    /// Run the block's other threads until each of them waits, polls or has exited. Then call
    /// [`Watcher::access_again`].
    LetOthersRun,
    /// Run the block's other threads as for `LetOthersRun`, but call [`Watcher::pause`] before they run and
    /// [`Watcher::resume`] afterwards. The thread could continue, so the pause does not count as waiting without
    /// progress.
    Pause,
    /// End the block with a fault of the current thread.
    Fault(Box<FaultKind>),
    /// End the block with a fault of the current thread, which an earlier access at the source line has caused.
    FaultAt(Box<FaultKind>, Line),
}

/// An access to the shared memory of a block, by a thread of another block.
#[derive(Debug)]
pub(crate) struct LateAccess {
    pub(crate) block: Dim3,
    pub(crate) thread: Thread,
    pub(crate) touch: Touch,
}

/// A watcher of one launch. Unless stated otherwise, a notification is about the block's current thread.
pub(crate) trait Watcher: AgentWatcher {
    /// Notifies the watcher that the block begins. None of its threads has started.
    fn begin_block(&self, block: &BlockContext);

    /// Notifies the watcher that the block has finished or ended early.
    fn end_block(&self, block: &BlockContext);

    /// Notifies the watcher that the thread is about to make the access `touch`.
    fn access(&self, block: &BlockContext, touch: &Touch) -> Next;

    /// Notifies the watcher again of the access `touch`, after other threads have run because of
    /// [`Next::LetOthersRun`].
    fn access_again(&self, _block: &BlockContext, _touch: &Touch) -> Next {
        Next::Continue
    }

    /// Notifies the watcher that the thread is about to make the access `touch` to the shared memory of `_owner`,
    /// another block of its cluster that has not ended. `touch.address` is an address there.
    fn remote_access(&self, block: &BlockContext, _owner: &BlockContext, touch: &Touch) -> Next {
        self.access(block, touch)
    }

    /// Notifies the watcher again of the access `touch`, like [`Watcher::access_again`].
    fn remote_access_again(&self, _block: &BlockContext, _owner: &BlockContext, _touch: &Touch) -> Next {
        Next::Continue
    }

    /// Returns an access by another block to the shared memory of this block, all of whose threads have exited, if
    /// nothing orders the access before the block's end.
    fn access_after_end(&self, _block: &BlockContext) -> Option<LateAccess> {
        None
    }

    /// Notifies the watcher that the thread executes a branch. The thread takes the branch if `_is_taken` is true.
    /// Called only in launches with [`EventMask::Everything`].
    fn branch(&self, _block: &BlockContext, _is_taken: bool, _at: Line) -> Next {
        Next::Continue
    }

    /// Notifies the watcher that the thread is about to pause because of [`Next::Pause`]. `_waiting` is the mask of the
    /// lanes of its warp that wait at a barrier or a warp operation.
    fn pause(&self, _block: &BlockContext, _waiting: u32) {}

    /// Notifies the watcher that the thread continues after its pause.
    fn resume(&self, _block: &BlockContext) {}

    /// Returns the threads that may reach one line of a block barrier by different calls or in different loop
    /// iterations.
    fn allowed_divergence(&self) -> BarrierDivergence {
        BarrierDivergence::Lanes
    }

    /// Notifies the watcher that all threads of the block have reached the barrier at `at`. None has continued.
    fn barrier(&self, block: &BlockContext, at: Line);

    /// Notifies the watcher that all blocks have reached a barrier of the grid. None has continued. `barrier` was
    /// called for each block before.
    fn grid_barrier(&self, _blocks: &[&BlockContext]) {}

    /// Notifies the watcher that `_thread` arrives at the barrier of its cluster. The arrival orders no accesses if
    /// `_is_relaxed` is true.
    fn cluster_arrival(&self, _block: &BlockContext, _thread: Thread, _is_relaxed: bool) {}

    /// Notifies the watcher that all threads of a cluster have arrived at its barrier. None has continued. `_blocks`
    /// are the cluster's blocks that have not ended. A block has a line if all its threads synchronise at the barrier:
    /// these arrivals and waits are not announced by `cluster_arrival` and `cluster_wait`.
    fn cluster_barrier(&self, _blocks: &[(&BlockContext, Option<Line>)]) {}

    /// Notifies the watcher that the thread has waited at the barrier of its cluster.
    fn cluster_wait(&self, _block: &BlockContext) {}

    /// Notifies the watcher that the lanes in the mask `lanes` of `warp` have all reached the operation `kind` at `at`.
    /// None has continued.
    fn warp_operation(&self, block: &BlockContext, warp: usize, lanes: u32, kind: SyncKind, at: Line);

    /// Notifies the watcher that a warp executes a product of tensor cores, whose name in PTX is `_name`. For a product
    /// of a warpgroup, it is notified by each of the four warps.
    fn product(&self, _block: &BlockContext, _name: &str, _at: Line) {}

    /// Notifies the watcher that the thread's arrival has ended a phase of the `mbarrier` at the shared address
    /// `_address`.
    fn end_phase(&self, _block: &BlockContext, _address: usize) {}

    /// Notifies the watcher that the thread has read the word of the `mbarrier` at the shared address `_address`.
    fn phase_read(&self, _block: &BlockContext, _address: usize, _read: PhaseRead) {}

    /// Returns the phase for which `_thread` waits, if it waits for one of the `mbarrier` at the shared address
    /// `_address`.
    fn phase_wait(&self, _block: &BlockContext, _thread: Thread, _address: usize) -> Option<PhaseWait> {
        None
    }

    /// Notifies the watcher that the thread arrives at the named barrier `_id`.
    fn named_arrival(&self, _block: &BlockContext, _id: usize) {}

    /// Notifies the watcher that the thread's arrival has ended a phase of the named barrier `_id`.
    fn end_named_phase(&self, _block: &BlockContext, _id: usize) {}

    /// Notifies the watcher that the thread has waited for the end of a phase of the named barrier `_id`.
    fn named_wait(&self, _block: &BlockContext, _id: usize) {}

    /// Notifies the watcher that the thread executes a fence of `scope`. All threads agree on one order of the
    /// sequentially consistent fences, for which `is_sequential` is true.
    fn fence(&self, block: &BlockContext, scope: Scope, is_sequential: bool);

    /// Returns true if the thread has to wait before the atomic access `_touch`, or before a fence if `_touch` is
    /// `None`. The block then runs other threads and calls this function again. `_is_over` is true if no other thread
    /// of the grid could continue since the previous call. Called only in launches with [`EventMask::WeakMemory`].
    fn must_wait(&self, _block: &BlockContext, _touch: Option<&Touch>, _is_over: bool) -> bool {
        false
    }

    /// Returns the value that the thread's atomic read returns. `newest` is the value in memory. Called only in
    /// launches with [`EventMask::WeakMemory`], directly after [`Watcher::access`].
    fn value_read(&self, _block: &BlockContext, newest: Value) -> Value {
        newest
    }

    /// Returns true if the memory takes the value `_new` that the thread writes atomically, and false if the value is
    /// overwritten at once. `_old` is the value in memory. Called only in launches with [`EventMask::WeakMemory`],
    /// directly after [`Watcher::access`] or [`Watcher::value_read`].
    fn value_written(&self, _block: &BlockContext, _old: Value, _new: Value) -> bool {
        true
    }

    /// Notifies the watcher that the thread waits for the previous launches, which have always ended in the simulator.
    fn dependencies(&self, _block: &BlockContext) -> Next {
        Next::Continue
    }

    /// Notifies the watcher that the thread has returned from the kernel.
    fn exit(&self, _block: &BlockContext) {}
}

/// The threads that may reach one line of a block barrier by different call paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarrierDivergence {
    /// All threads, including the lanes of one warp, may take different paths.
    Lanes,
    /// The warps of a block may take different paths, as GPUs allow. All lanes of a warp must take the same path.
    Warps,
    /// All threads of a block must take the same path.
    Forbidden,
}

/// The events of a launch of which the watcher is notified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventMask {
    /// No events: the launch has no watcher.
    Nothing,
    /// All events except branches.
    NoBranches,
    /// All events except branches, and the values of atomic accesses, which the watcher may change.
    WeakMemory,
    Everything,
}

thread_local! {
    /// The events of which the watcher is notified, for the launch that the calling OS thread runs.
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

/// Returns true if the calling OS thread runs a launch whose watcher chooses the values of atomic reads.
#[inline(always)]
pub(crate) fn has_weak_memory() -> bool {
    EVENTS.get() == EventMask::WeakMemory
}

/// Returns true if the calling OS thread runs a launch whose watcher is notified of branches.
#[inline(always)]
pub(crate) fn is_watching_branches() -> bool {
    EVENTS.get() == EventMask::Everything
}
