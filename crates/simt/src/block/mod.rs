//! A block that runs on one OS thread: its scheduling state and its current thread.
//!
//! The whole state of a block is in `Cell`s, because the scheduler and the block's threads take turns on one OS thread.

pub(crate) mod arena;
pub(crate) mod cluster;
pub(crate) mod context;
mod counts;
mod diagnosis;
mod gathering;
pub(crate) mod looping;
mod meeting;
pub(crate) mod named;
pub(crate) mod polling;
mod preemption;
mod reached;
pub(crate) mod rendezvous;
mod run_queue;
pub(crate) mod turn;
mod waiting;

use std::cell::{Cell, RefCell};
use std::ptr;

use corosensei::Yielder;

use self::arena::Arena;
use self::cluster::Membership;
use self::context::BlockContext;
use self::counts::{Barrier, Counts};
use self::gathering::Gathering;
use self::looping::Looping;
use self::named::NamedBarriers;
use self::polling::{POLLS_IN_A_ROW, PerThread, PlainLoads};
use self::preemption::Preemption;
use self::reached::ReachedSynchronisations;
use self::rendezvous::{CompletedGroup, Rendezvous};
use self::run_queue::RunQueue;
use self::turn::Turn;
use crate::call_paths::CallPaths;
use crate::faults::{Fault, FaultKind};
use crate::grid::Grid;
use crate::lanes::Thread;
use crate::panic::unwind;
use crate::raw::guard::reported::ReportedAccesses;
use crate::raw::retained::Retained;
use crate::raw::strays::Strays;
use crate::region::Space;
use crate::source::{Line, SourceLocation};
use crate::synchronisations::SyncKind;
use crate::watch::{Watcher, is_watching};
use crate::wgmma::Warpgroups;

/// The reason why a fibre returns control to the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// The current thread waits. The thread keeps the fibre until the scheduler resumes it.
    Waiting,
    /// The current thread waits, and the scheduler continues another block.
    Leaving,
    /// No thread is left for this fibre to start. The fibre can be reused for any thread.
    Idle,
}

/// A function that runs a block's threads one after the other, beginning with the current thread. The function returns
/// when no thread is left to start, or when the next thread to run is a suspended one.
pub(crate) type Entry<'a> = dyn Fn(&Block) + Sync + 'a;

/// The large data structures of a block, which later blocks reuse.
#[derive(Default)]
pub(crate) struct Parts {
    arena: Arena,
    furthest_polls: PerThread<usize>,
    plain_loads: PlainLoads,
    last_seen: PerThread<Option<Line>>,
    last_polled: PerThread<Option<(Space, usize)>>,
    rendezvous: Rendezvous,
    call_paths: CallPaths,
}

/// A block that is being executed.
pub(crate) struct Block {
    pub(crate) context: BlockContext,

    grid: *const Grid<'static>,
    entry: *const Entry<'static>,
    watcher: Option<*const dyn Watcher>,
    worker: usize,
    has_turn: Cell<bool>,
    /// True if the block polls for a write of another block, so that the worker runs other blocks in the meantime.
    pub(crate) is_stalled: Cell<bool>,

    pub(crate) run_queue: RunQueue,
    yielder: Cell<*const Yielder<(), Pause>>,
    /// A suspended thread that a fibre has chosen to run next.
    next: Cell<Option<u32>>,
    preemption: Preemption,
    turn: Turn,
    polls_left: Cell<u32>,
    polls_in_a_row: Cell<u32>,
    /// The highest address that each thread has polled.
    furthest_polls: PerThread<usize>,
    plain_loads: PlainLoads,
    /// The source line of each thread's last poll. In a watched launch, memory accesses and waits count too.
    last_seen: PerThread<Option<Line>>,
    last_poll: Cell<Option<(Line, Thread)>>,
    /// The memory that the current thread has polled last.
    polled: Cell<(Space, usize)>,
    /// In a watched launch, the memory that each thread polls.
    last_polled: PerThread<Option<(Space, usize)>>,
    /// The number of times that a thread has waited, and in a watched launch also of memory accesses.
    pub(crate) activity: Cell<u64>,
    pub(crate) looping: Cell<Option<Looping>>,
    /// The calls and loops that each thread is in.
    pub(crate) call_paths: CallPaths,
    /// The pointers that the block's threads have offset beyond the bounds of their buffers.
    pub(crate) strays: Strays,
    /// The pointers that the block's threads have stored in values whose types do not show that they contain pointers.
    pub(crate) retained: Retained,
    /// In a guarded launch, the accesses that the instrumented code of the threads has reported to the guard.
    pub(crate) reported: ReportedAccesses,

    pub(crate) barrier: Barrier,
    named: NamedBarriers,
    gathering: Gathering,
    pub(crate) rendezvous: Rendezvous,
    pub(crate) warpgroups: Warpgroups,
    pub(crate) membership: Box<Membership>,
    pub(crate) counts: Counts,

    /// True if the launch records the synchronisation points that it reaches.
    records_synchronisations: bool,
    reached: ReachedSynchronisations,
    /// True if the block ends early: its threads unwind instead of waiting.
    is_abandoned: Cell<bool>,
    pub(crate) fault: RefCell<Option<Fault>>,
}

impl Block {
    /// Makes a block of `grid`. The caller must start the block with [`Block::begin`].
    ///
    /// # Safety
    /// `grid`, `entry` and `watcher` must outlive every use of the block.
    pub(crate) unsafe fn new(
        grid: &Grid<'_>,
        entry: &Entry<'_>,
        watcher: Option<&dyn Watcher>,
        worker: usize,
        parts: Parts,
    ) -> Self {
        Self {
            context: BlockContext::new(grid.config.block, parts.arena),
            grid: ptr::from_ref(grid).cast(),
            // SAFETY: only the lifetime changes; the caller guarantees that `entry` outlives the block.
            entry: unsafe { std::mem::transmute::<*const Entry<'_>, *const Entry<'static>>(entry) },
            // SAFETY: only the lifetime changes; the caller guarantees that the watcher outlives the block.
            watcher: watcher
                .map(|watcher| unsafe { std::mem::transmute::<*const dyn Watcher, *const dyn Watcher>(watcher) }),
            worker,
            has_turn: Cell::new(true),
            is_stalled: Cell::new(false),
            run_queue: RunQueue::default(),
            yielder: Cell::new(ptr::null()),
            next: Cell::new(None),
            preemption: Preemption::default(),
            turn: Turn::default(),
            polls_left: Cell::new(0),
            polls_in_a_row: Cell::new(POLLS_IN_A_ROW),
            furthest_polls: parts.furthest_polls,
            plain_loads: parts.plain_loads,
            last_seen: parts.last_seen,
            last_poll: Cell::new(None),
            polled: Cell::new((Space::Global, 0)),
            last_polled: parts.last_polled,
            activity: Cell::new(0),
            looping: Cell::new(None),
            call_paths: parts.call_paths,
            strays: Strays::default(),
            retained: Retained::default(),
            reported: ReportedAccesses::default(),
            barrier: Barrier::default(),
            named: NamedBarriers::default(),
            gathering: Gathering::default(),
            rendezvous: parts.rendezvous,
            warpgroups: Warpgroups::default(),
            membership: Box::default(),
            counts: Counts::default(),
            records_synchronisations: grid.synchronisations.is_some(),
            reached: ReachedSynchronisations::default(),
            is_abandoned: Cell::new(false),
            fault: RefCell::new(None),
        }
    }

    /// Returns the data structures that other blocks can reuse.
    pub(crate) fn into_parts(self) -> Parts {
        let Self { context, furthest_polls, plain_loads, last_seen, last_polled, rendezvous, call_paths, .. } = self;
        Parts { arena: context.arena, furthest_polls, plain_loads, last_seen, last_polled, rendezvous, call_paths }
    }

    /// Resets this object for the block at `position` in the order of the grid's blocks. Starts no thread.
    pub(crate) fn begin(&self, position: u64) {
        let grid = self.grid();
        let (linear, index) = grid.block_at(position);
        self.context.begin((index, position), grid.config.shared_bytes, grid.schedule.seed());
        self.has_turn.set(grid.is_sequential());
        self.is_stalled.set(false);
        self.run_queue.begin(self.context.extent.threads, grid.schedule, linear);
        self.preemption.begin(grid.schedule, linear);
        self.polls_in_a_row.set(self.preemption.polls_in_a_row());
        self.begin_turn();
        self.next.set(None);
        self.last_poll.set(None);
        self.furthest_polls.begin();
        self.plain_loads.begin(self.context.extent.threads);
        self.last_seen.begin();
        self.last_polled.begin();
        self.call_paths.begin();
        self.strays.begin();
        self.retained.begin();
        self.reported.begin();
        self.barrier.arrived.set(0);
        self.named.begin();
        self.gathering.begin();
        self.warpgroups.begin();
        self.membership.begin();
        self.barrier.votes.set(0);
        self.barrier.waits_for_grid.set(false);
        self.is_abandoned.set(false);
        self.notify(|watcher, block| watcher.begin_block(block));
    }

    /// Runs the block's threads on the fibre of `yielder`, beginning with the current thread.
    pub(crate) fn run(&self, yielder: &Yielder<(), Pause>) {
        self.yielder.set(yielder);
        // SAFETY: `Block::new` requires that the entry outlives the block.
        unsafe { (*self.entry)(self) }
    }

    /// Returns the watcher of the launch, if there is one.
    #[inline]
    pub(crate) fn watcher(&self) -> Option<&dyn Watcher> {
        // SAFETY: `Block::new` requires that the watcher outlives the block.
        self.watcher.map(|watcher| unsafe { &*watcher })
    }

    /// Calls `what` with the watcher of the launch, if there is one.
    #[inline]
    pub(crate) fn notify(&self, what: impl FnOnce(&dyn Watcher, &BlockContext)) {
        if let Some(watcher) = self.watcher() {
            what(watcher, &self.context);
        }
    }

    #[inline]
    pub(crate) fn grid(&self) -> &Grid<'_> {
        // SAFETY: `Block::new` requires that the grid outlives the block.
        unsafe { &*self.grid.cast() }
    }

    /// Returns the thread that runs now.
    #[inline(always)]
    pub(crate) fn thread(&self) -> Thread {
        self.context.thread()
    }

    /// Returns the block's position in the order in which the grid's blocks run.
    #[inline]
    pub(crate) fn position(&self) -> u64 {
        self.context.position()
    }

    /// Removes the thread that runs next from the run queue and returns its number.
    #[inline]
    pub(crate) fn take_next(&self) -> Option<u32> {
        self.next.take().or_else(|| self.run_queue.pick())
    }

    /// Makes thread `linear` run as soon as the current thread pauses. The run queue must have picked that thread.
    #[inline]
    pub(crate) fn run_next(&self, linear: u32) {
        self.next.set(Some(linear));
    }

    /// Starts the thread with the linear index `linear` and makes it the current one. The thread must not be started
    /// yet.
    #[inline]
    pub(crate) fn start(&self, linear: u32) {
        let thread = self.context.extent.thread(linear);
        self.run_queue.start(thread);
        self.context.thread.set(thread);
        self.activity.set(self.activity.get() + 1);
        self.polls_left.set(self.polls_in_a_row.get());
    }

    /// Notes that the current thread has returned. If the next thread is not started yet, makes the next thread the
    /// current one and returns true, so that this fibre can run it.
    #[inline]
    pub(crate) fn exit_and_start_next(&self) -> bool {
        if self.is_abandoned.get() {
            return false;
        }
        let thread = self.thread();
        if is_watching() {
            self.notify(|watcher, block| watcher.exit(block));
        }
        self.run_queue.exit(thread);
        self.note_progress();
        if self.run_queue.warp_of(thread).at_operation.get() != 0 {
            self.complete_operations(thread.warp());
        }
        match self.run_queue.pick() {
            Some(next) if !self.run_queue.is_started(next) => {
                self.start(next);
                true
            }
            next => {
                self.next.set(next);
                false
            }
        }
    }

    /// Completes those operations of `warp` whose lanes have all arrived or exited.
    #[cold]
    fn complete_operations(&self, warp: usize) {
        let exited = self.run_queue.warps()[warp].exited();
        while let Some(completed) = self.rendezvous.take_complete(warp, exited) {
            self.complete_operation(warp, completed);
        }
    }

    /// Makes the lanes in `completed` runnable. These are lanes of `warp` whose operation is complete.
    pub(crate) fn complete_operation(&self, warp: usize, completed: CompletedGroup) {
        let CompletedGroup { lanes, operation, at } = completed;
        self.counts.operations.set(self.counts.operations.get() + 1);
        self.note_progress();
        let state = &self.run_queue.warps()[warp];
        state.at_operation.set(state.at_operation.get() & !lanes);
        let kind = operation.into();
        if is_watching() && !self.leaves_out(kind, at) {
            self.notify(|watcher, block| watcher.warp_operation(block, warp, lanes, kind, at));
        }
        self.run_queue.wake(warp, lanes);
    }

    /// Records `at` as the line at which the current thread was last seen.
    pub(crate) fn note_seen(&self, at: Line) {
        self.last_seen.set(self.thread(), Some(at));
    }

    /// Returns the line at which `thread` was last seen, if known.
    pub(crate) fn seen(&self, thread: Thread) -> Option<Line> {
        self.last_seen.get(thread)
    }

    /// Returns true if the launch must skip the synchronisation at `at`, as a test has requested. The first call also
    /// records that the launch has reached the synchronisation.
    #[inline(always)]
    pub(crate) fn leaves_out(&self, kind: SyncKind, at: Line) -> bool {
        self.records_synchronisations && self.look_up(kind, at)
    }

    #[cold]
    #[inline(never)]
    fn look_up(&self, kind: SyncKind, at: Line) -> bool {
        let synchronisations = self.grid().synchronisations;
        synchronisations.is_some_and(|synchronisations| self.reached.leaves_out(synchronisations, kind, at))
    }

    #[inline]
    pub(crate) fn is_abandoned(&self) -> bool {
        self.is_abandoned.get()
    }

    /// Ends the block early: every thread unwinds as soon as it runs.
    pub(crate) fn abandon(&self) {
        self.is_abandoned.set(true);
    }

    /// Makes a fault of `kind` in `thread`.
    pub(crate) fn fault_of(&self, thread: Thread, location: Option<SourceLocation>, kind: FaultKind) -> Fault {
        let (kernel, block) = (self.grid().kernel.name, self.context.index());
        Fault { kernel, block: Some(block), thread: Some(thread.index()), location, kind, older: None }
    }

    /// Ends the block early with `fault`, unless the block has already ended early.
    pub(crate) fn record(&self, fault: Fault) {
        if !self.is_abandoned.replace(true) {
            *self.fault.borrow_mut() = Some(fault);
        }
    }

    /// Ends the block with a fault of the current thread, and unwinds that thread.
    #[cold]
    pub(crate) fn raise(&self, kind: FaultKind, at: Line) -> ! {
        self.record(self.fault_of(self.thread(), Some(at.into()), kind));
        unwind()
    }
}
