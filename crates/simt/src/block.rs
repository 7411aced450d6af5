//! A block that runs on one OS thread: which of its threads may run, and the thread that runs now.
//!
//! All of a block's state is in `Cell`s: the scheduler and the block's threads take turns on one OS thread.

use std::cell::{Cell, RefCell};
use std::ptr;

use corosensei::Yielder;

use crate::arena::Arena;
use crate::fault::{Fault, FaultKind, Line, SourceLocation};
use crate::geometry::Dim3;
use crate::grid::Grid;
use crate::lanes::{Extent, Thread};
use crate::noting::Noted;
use crate::observe::{Watch, is_watching};
use crate::panic::unwind;
use crate::polling::{FurthestPolls, LastSeen};
use crate::preemption::Preemption;
use crate::rendezvous::{Met, Rendezvous};
use crate::schedule::Schedule;

/// How often a thread polls before others run.
pub(crate) const POLLS_IN_A_ROW: u32 = 8;

/// How a fibre hands control back to the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// The current thread waits; the fibre is its own until it is resumed.
    Waiting,
    /// As `Waiting`, and another block is to go on.
    Leaving,
    /// There is no thread to start; the fibre can be used for any other.
    Idle,
}

/// Runs the block's threads from the current one on, until none is left to start or another is to be resumed.
pub(crate) type Entry<'a> = dyn Fn(&Block) + Sync + 'a;

/// A block barrier in the making.
#[derive(Default)]
pub(crate) struct Barrier {
    pub(crate) arrived: Cell<u32>,
    pub(crate) votes: Cell<u32>,
    /// The votes of the last barrier that completed.
    pub(crate) result: Cell<u32>,
    /// Where the first thread waits.
    pub(crate) at: Cell<Option<(Line, Thread)>>,
}

/// What the block has done so far.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) barriers: Cell<u64>,
    pub(crate) operations: Cell<u64>,
    /// Whatever could let another thread go on: exits, barriers, warp operations, writes that synchronise.
    pub(crate) progress: Cell<u64>,
}

/// The large parts of a block, which are kept for other blocks.
#[derive(Default)]
pub(crate) struct Parts {
    arena: Arena,
    furthest_polls: FurthestPolls,
    last_seen: LastSeen,
    rendezvous: Rendezvous,
}

/// A block in execution.
pub(crate) struct Block {
    pub(crate) thread: Cell<Thread>,
    pub(crate) index: Cell<Dim3>,
    pub(crate) extent: Extent,

    grid: *const Grid<'static>,
    entry: *const Entry<'static>,
    watch: *const Watch,
    worker: usize,
    position: Cell<u64>,
    /// For whoever checks the launch.
    pub(crate) checker_index: Cell<u32>,
    has_turn: Cell<bool>,
    /// Waits for other blocks; has passed its turn on.
    pub(crate) is_stalled: Cell<bool>,

    pub(crate) schedule: Schedule,
    yielder: Cell<*const Yielder<(), Pause>>,
    /// A suspended thread that a fibre has chosen to run next.
    next: Cell<Option<u32>>,
    pub(crate) preemption: Preemption,
    pub(crate) polls_left: Cell<u32>,
    pub(crate) polls_in_a_row: Cell<u32>,
    pub(crate) furthest_polls: FurthestPolls,
    pub(crate) last_seen: LastSeen,
    pub(crate) last_poll: Cell<Option<(Line, Thread)>>,

    pub(crate) barrier: Barrier,
    pub(crate) rendezvous: Rendezvous,
    pub(crate) arena: Arena,
    pub(crate) counts: Counts,

    /// Whether somebody wants to know which synchronisations the launch comes to.
    pub(crate) is_noting: bool,
    pub(crate) noted: Noted,

    /// The block has ended early: its threads unwind instead of waiting.
    is_abandoned: Cell<bool>,
    pub(crate) fault: RefCell<Option<Fault>>,
}

impl Block {
    /// A block of `grid`, for [`Block::begin`].
    ///
    /// # Safety
    /// `grid`, `entry` and `watch` must outlive every use of the block.
    pub(crate) unsafe fn new(grid: &Grid<'_>, entry: &Entry<'_>, watch: &Watch, worker: usize, parts: Parts) -> Self {
        Self {
            thread: Cell::new(Thread::FIRST),
            index: Cell::new(Dim3::new(0, 0, 0)),
            extent: Extent::new(grid.config.block),
            grid: ptr::from_ref(grid).cast(),
            // SAFETY: only the lifetime changes, and the caller vouches for that.
            entry: unsafe { std::mem::transmute::<*const Entry<'_>, *const Entry<'static>>(entry) },
            watch: ptr::from_ref(watch),
            worker,
            position: Cell::new(0),
            checker_index: Cell::new(0),
            has_turn: Cell::new(true),
            is_stalled: Cell::new(false),
            schedule: Schedule::default(),
            yielder: Cell::new(ptr::null()),
            next: Cell::new(None),
            preemption: Preemption::default(),
            polls_left: Cell::new(0),
            polls_in_a_row: Cell::new(POLLS_IN_A_ROW),
            furthest_polls: parts.furthest_polls,
            last_seen: parts.last_seen,
            last_poll: Cell::new(None),
            barrier: Barrier::default(),
            rendezvous: parts.rendezvous,
            arena: parts.arena,
            counts: Counts::default(),
            is_noting: grid.synchronisations.is_some(),
            noted: Noted::default(),
            is_abandoned: Cell::new(false),
            fault: RefCell::new(None),
        }
    }

    /// What other blocks can use again.
    pub(crate) fn into_parts(self) -> Parts {
        let Self { arena, furthest_polls, last_seen, rendezvous, .. } = self;
        Parts { arena, furthest_polls, last_seen, rendezvous }
    }

    /// Makes this the block at `position` of the grid's order, none of its threads started.
    pub(crate) fn begin(&self, position: u64) {
        let grid = self.grid();
        let (linear, index) = grid.block_at(position);
        self.index.set(index);
        self.position.set(position);
        self.has_turn.set(grid.is_sequential());
        self.is_stalled.set(false);
        self.schedule.begin(self.extent.threads, grid.schedule, linear);
        self.preemption.begin(grid.schedule, linear);
        self.polls_in_a_row.set(self.preemption.polls_in_a_row());
        self.next.set(None);
        self.last_poll.set(None);
        self.furthest_polls.begin();
        self.last_seen.begin();
        self.barrier.arrived.set(0);
        self.barrier.votes.set(0);
        self.arena.begin(grid.config.shared_bytes, grid.schedule.seed());
        self.is_abandoned.set(false);
        self.tell_begin();
    }

    /// On a fibre: runs threads from the current one on.
    pub(crate) fn run(&self, yielder: &Yielder<(), Pause>) {
        self.yielder.set(yielder);
        // SAFETY: whoever made the block vouches that its entry outlives it.
        unsafe { (*self.entry)(self) }
    }

    /// Who watches the launch.
    #[inline]
    pub(crate) fn watch(&self) -> &Watch {
        // SAFETY: whoever made the block vouches that the watch outlives it.
        unsafe { &*self.watch }
    }

    #[inline]
    pub(crate) fn grid(&self) -> &Grid<'_> {
        // SAFETY: whoever made the block vouches that its grid outlives it.
        unsafe { &*self.grid.cast() }
    }

    #[inline]
    pub(crate) fn position(&self) -> u64 {
        self.position.get()
    }

    /// The number of the thread that runs next.
    #[inline]
    pub(crate) fn take_next(&self) -> Option<u32> {
        self.next.take().or_else(|| self.schedule.pick())
    }

    /// Has the thread `linear`, which was picked, run as soon as the current one pauses.
    #[inline]
    pub(crate) fn go_on_with(&self, linear: u32) {
        self.next.set(Some(linear));
    }

    /// Makes the thread `linear`, which has not been started, the current one.
    #[inline]
    pub(crate) fn start(&self, linear: u32) {
        let thread = self.extent.thread(linear);
        self.schedule.start(thread);
        self.thread.set(thread);
        self.polls_left.set(self.polls_in_a_row.get());
    }

    /// The current thread has returned. Makes the next one current and gives true, if that one has not been started
    /// yet, so that this fibre can run it.
    #[inline]
    pub(crate) fn exit_and_start_next(&self) -> bool {
        if self.is_abandoned.get() {
            return false;
        }
        let thread = self.thread.get();
        if is_watching() {
            self.tell_exit(thread);
        }
        self.schedule.exit(thread);
        self.note_progress();
        if self.schedule.warp_of(thread).at_operation.get() != 0 {
            self.complete_operations(thread.warp());
        }
        match self.schedule.pick() {
            Some(next) if !self.schedule.is_started(next) => {
                self.start(next);
                true
            }
            next => {
                self.next.set(next);
                false
            }
        }
    }

    /// A lane of `warp` has exited: groups of lanes that waited for it alone go on.
    #[cold]
    fn complete_operations(&self, warp: usize) {
        let exited = self.schedule.warps()[warp].exited();
        while let Some(met) = self.rendezvous.take_complete(warp, exited) {
            self.complete_operation(warp, met);
        }
    }

    /// Lanes of `warp` have met.
    pub(crate) fn complete_operation(&self, warp: usize, met: Met) {
        let Met { lanes, operation, at } = met;
        self.counts.operations.set(self.counts.operations.get() + 1);
        self.note_progress();
        let state = &self.schedule.warps()[warp];
        state.at_operation.set(state.at_operation.get() & !lanes);
        if is_watching() && !self.leaves_out(operation.into(), at) {
            self.tell_operation(warp, lanes, operation, at);
        }
        self.schedule.wake(warp, lanes);
    }

    /// Hands control to the scheduler until the current thread is woken.
    ///
    /// Inlined, as its callers are, into the kernel: the processor predicts where a function returns to from the
    /// calls that it has seen, and those have been another thread's. The fewer returns follow, the faster.
    #[inline(always)]
    pub(crate) fn suspend(&self) {
        self.suspend_as(Pause::Waiting);
    }

    /// As [`Block::suspend`], and tells the scheduler `pause`, which must not be `Idle`.
    #[inline(always)]
    pub(crate) fn suspend_as(&self, pause: Pause) {
        let thread = self.thread.get();
        let yielder = self.yielder.get();
        // SAFETY: the yielder is that of the fibre that runs now: `run` sets it for a new thread, and the line below
        // does for one that goes on. A fibre's yielder lives as long as the fibre runs.
        unsafe { (*yielder).suspend(pause) };
        self.thread.set(thread);
        self.yielder.set(yielder);
        self.polls_left.set(self.polls_in_a_row.get());
        if self.is_abandoned.get() {
            unwind();
        }
    }

    /// Lets the block's other threads run until each of them waits, polls or has exited.
    #[cold]
    pub(crate) fn let_others_run(&self) {
        if !self.is_unwinding() {
            self.schedule.poll(self.thread.get());
            self.suspend();
        }
    }

    /// Whether the current thread must not wait any more, as it unwinds. A thread that has caught its own unwinding
    /// is unwound again.
    #[inline]
    pub(crate) fn is_unwinding(&self) -> bool {
        let panicking = std::thread::panicking();
        if self.is_abandoned.get() && !panicking {
            unwind();
        }
        panicking
    }

    #[inline]
    pub(crate) fn is_abandoned(&self) -> bool {
        self.is_abandoned.get()
    }

    /// Has the block end early: every thread unwinds as soon as it runs.
    pub(crate) fn abandon(&self) {
        self.is_abandoned.set(true);
    }

    /// Something happened that could let another thread go on.
    #[inline]
    pub(crate) fn note_progress(&self) {
        self.counts.progress.set(self.counts.progress.get() + 1);
        if self.is_stalled.get() {
            self.grid().note_activity();
        }
    }

    /// Waits until all earlier blocks have finished, so that what the current thread does next, and other blocks can
    /// see, is in a determined order.
    #[inline]
    pub(crate) fn take_turn(&self) {
        if !self.has_turn.get() {
            self.wait_for_turn();
        }
    }

    #[cold]
    fn wait_for_turn(&self) {
        match self.grid().wait_for_turn(self.worker, self.position.get()) {
            Ok(()) => self.has_turn.set(true),
            Err(_cancelled) => {
                self.abandon();
                // A thread that unwinds already goes on without order: nobody will see what it does.
                if !self.is_unwinding() {
                    unwind();
                }
            }
        }
    }

    /// A fault of `kind` in `thread`.
    pub(crate) fn fault_of(&self, thread: Thread, location: Option<SourceLocation>, kind: FaultKind) -> Fault {
        let (kernel, block) = (self.grid().kernel.name, self.index.get());
        Fault { kernel, block: Some(block), thread: Some(thread.index()), location, kind }
    }

    /// Ends the block with `fault`, unless it has ended already.
    pub(crate) fn record(&self, fault: Fault) {
        if !self.is_abandoned.replace(true) {
            *self.fault.borrow_mut() = Some(fault);
        }
    }

    /// Ends the block with a fault of the current thread, which unwinds.
    #[cold]
    pub(crate) fn raise(&self, kind: FaultKind, at: Line) -> ! {
        self.record(self.fault_of(self.thread.get(), Some(at.into()), kind));
        unwind()
    }
}
