//! A block that runs on one OS thread: which of its threads may run, and the thread that runs now.
//!
//! All of a block's state is in `Cell`s: the scheduler and the block's threads take turns on one OS thread.

use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::ptr;

use corosensei::Yielder;

use crate::arena::Arena;
use crate::fault::{Fault, FaultKind, SourceLocation};
use crate::geometry::Dim3;
use crate::grid::Grid;
use crate::order::Chooser;
use crate::panic::unwind;
use crate::rendezvous::Rendezvous;

/// Lanes of a warp.
pub(crate) const LANES: u32 = 32;
/// The most threads a block may have.
pub(crate) const MAX_THREADS: usize = 1024;
/// The most warps of a block.
pub(crate) const MAX_WARPS: usize = MAX_THREADS / LANES as usize;
/// How often a thread polls before others run.
const POLLS_IN_A_ROW: u32 = 8;

/// How a fibre hands control back to the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// The current thread waits; the fibre is its own until it is resumed.
    Waiting,
    /// There is no thread to start; the fibre can be used for any other.
    Idle,
}

/// A source line in the kernel, as `#[track_caller]` gives it.
pub(crate) type Line = &'static Location<'static>;

/// Runs the block's threads from the current one on, until none is left to start or another is to be resumed.
pub(crate) type Entry<'a> = dyn Fn(&Block) + Sync + 'a;

/// A thread of a block: its number, `x` fastest, and its index, in 16 bits each. As one word, because the scheduler
/// writes and reads the current thread all the time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thread(u64);

impl Thread {
    #[inline]
    fn new(linear: u32, index: Dim3) -> Self {
        Self(u64::from(linear) | u64::from(index.x) << 16 | u64::from(index.y) << 32 | u64::from(index.z) << 48)
    }

    /// The index as one number, `x` fastest.
    #[inline]
    pub(crate) fn linear(self) -> u32 {
        self.0 as u32 & 0xFFFF
    }

    #[inline]
    pub(crate) fn index(self) -> Dim3 {
        Dim3 { x: (self.0 >> 16) as u32 & 0xFFFF, y: (self.0 >> 32) as u32 & 0xFFFF, z: (self.0 >> 48) as u32 }
    }

    #[inline]
    pub(crate) fn warp(self) -> usize {
        (self.linear() / LANES) as usize % MAX_WARPS
    }

    #[inline]
    pub(crate) fn lane(self) -> u32 {
        self.linear() % LANES
    }

    /// The bit of this thread's lane.
    #[inline]
    pub(crate) fn bit(self) -> u32 {
        1 << self.lane()
    }
}

/// The states of a warp's lanes, a bit a lane. A lane is in one of: pending, at_barrier, at_operation, polling,
/// exited; or it runs.
#[derive(Default)]
pub(crate) struct Warp {
    /// May run: not started yet, or woken.
    pub(crate) pending: Cell<u32>,
    /// Have been started.
    pub(crate) started: Cell<u32>,
    pub(crate) at_barrier: Cell<u32>,
    /// Wait at a warp operation.
    pub(crate) at_operation: Cell<u32>,
    pub(crate) polling: Cell<u32>,
    /// Have returned, or do not exist.
    pub(crate) exited: Cell<u32>,
}

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
    rendezvous: Rendezvous,
}

/// A block in execution.
pub(crate) struct Block {
    pub(crate) thread: Cell<Thread>,
    pub(crate) index: Cell<Dim3>,
    pub(crate) extent: Dim3,
    pub(crate) grid_extent: Dim3,
    pub(crate) threads: u32,
    /// `⌈2²⁰ / extent.x⌉` and the same for y: divides a thread's linear index by multiplication.
    inverse: [u32; 2],

    grid: *const Grid<'static>,
    entry: *const Entry<'static>,
    worker: usize,
    position: Cell<u64>,
    has_turn: Cell<bool>,
    /// Waits for other blocks; has passed its turn on.
    pub(crate) stalled: Cell<bool>,

    yielder: Cell<*const Yielder<(), Pause>>,
    chooser: Cell<Chooser>,
    current_warp: Cell<usize>,
    pub(crate) warps: [Warp; MAX_WARPS],
    /// Warps with pending lanes, a bit a warp.
    pending_warps: Cell<u32>,
    /// Warps with polling lanes, a bit a warp.
    polling_warps: Cell<u32>,
    pub(crate) exited: Cell<u32>,
    /// A suspended thread that a fibre has chosen to run next.
    pub(crate) next: Cell<Option<u32>>,
    polls_left: Cell<u32>,
    pub(crate) last_poll: Cell<Option<(Line, Thread)>>,

    pub(crate) barrier: Barrier,
    pub(crate) rendezvous: Rendezvous,
    pub(crate) counts: Counts,
    pub(crate) arena: Arena,

    /// The block has ended early: its threads unwind instead of waiting.
    abandoned: Cell<bool>,
    pub(crate) fault: RefCell<Option<Fault>>,
}

thread_local! {
    static CURRENT: Cell<*const Block> = const { Cell::new(ptr::null()) };
}

/// The block whose thread the calling OS thread simulates now.
#[inline]
pub(crate) fn current<'a>() -> Option<&'a Block> {
    let block = CURRENT.get();
    // SAFETY: CURRENT is set by `Block::as_current` alone, for the time in which a fibre of that block runs, and the
    // caller is such a fibre: a suspended fibre is resumed with CURRENT set to the same block again. So the block
    // outlives every use that a simulated thread makes of it, and being neither Sync nor moved it is not aliased
    // mutably.
    unsafe { block.as_ref() }
}

/// Whether the calling OS thread simulates a thread.
#[inline]
pub(crate) fn is_simulated() -> bool {
    !CURRENT.get().is_null()
}

/// [`current`], for what makes sense in a kernel alone.
#[inline]
#[track_caller]
pub(crate) fn expect_current<'a>(function: &str) -> &'a Block {
    match current() {
        Some(block) => block,
        None => outside(function),
    }
}

#[cold]
#[track_caller]
fn outside(function: &str) -> ! {
    panic!("simt::{function} called outside of a kernel")
}

impl Block {
    /// A block of `grid`, for [`Block::begin`].
    ///
    /// # Safety
    /// `grid` and `entry` must outlive every use of the block.
    pub(crate) unsafe fn new(grid: &Grid<'_>, entry: &Entry<'_>, worker: usize, parts: Parts) -> Self {
        let extent = grid.config.block;
        Self {
            thread: Cell::new(Thread::new(0, Dim3::new(0, 0, 0))),
            index: Cell::new(Dim3::new(0, 0, 0)),
            extent,
            grid_extent: grid.config.grid,
            threads: extent.count() as u32,
            inverse: [extent.x, extent.y].map(|extent| (1_u32 << 20).div_ceil(extent)),
            grid: ptr::from_ref(grid).cast(),
            // SAFETY: only the lifetime changes, and the caller vouches for that.
            entry: unsafe { std::mem::transmute::<*const Entry<'_>, *const Entry<'static>>(entry) },
            worker,
            position: Cell::new(0),
            has_turn: Cell::new(true),
            stalled: Cell::new(false),
            yielder: Cell::new(ptr::null()),
            chooser: Cell::new(Chooser::new(0, 0)),
            current_warp: Cell::new(0),
            warps: Default::default(),
            pending_warps: Cell::new(0),
            polling_warps: Cell::new(0),
            exited: Cell::new(0),
            next: Cell::new(None),
            polls_left: Cell::new(0),
            last_poll: Cell::new(None),
            barrier: Barrier::default(),
            rendezvous: parts.rendezvous,
            counts: Counts::default(),
            arena: parts.arena,
            abandoned: Cell::new(false),
            fault: RefCell::new(None),
        }
    }

    /// What other blocks can use again.
    pub(crate) fn into_parts(self) -> Parts {
        Parts { arena: self.arena, rendezvous: self.rendezvous }
    }

    /// Makes this the block at `position` of the grid's order, none of its threads started.
    pub(crate) fn begin(&self, position: u64) {
        let grid = self.grid();
        let (linear, index) = grid.block_at(position);
        self.index.set(index);
        self.position.set(position);
        self.has_turn.set(grid.is_sequential());
        self.stalled.set(false);
        self.chooser.set(Chooser::new(grid.seed, linear));
        let warps = self.threads.div_ceil(LANES);
        for (warp, state) in self.warps.iter().enumerate().take(warps as usize) {
            let lanes = (self.threads - warp as u32 * LANES).min(LANES);
            let existing = u32::MAX >> (LANES - lanes);
            state.pending.set(existing);
            state.started.set(0);
            state.at_barrier.set(0);
            state.at_operation.set(0);
            state.polling.set(0);
            state.exited.set(!existing);
        }
        self.pending_warps.set(u32::MAX >> (LANES - warps));
        self.polling_warps.set(0);
        self.choose_warp();
        self.exited.set(0);
        self.next.set(None);
        self.last_poll.set(None);
        self.barrier.arrived.set(0);
        self.barrier.votes.set(0);
        self.arena.begin(grid.config.shared_bytes, grid.seed);
        self.abandoned.set(false);
    }

    /// Runs `resume`, which resumes a fibre of this block, with this as the current block.
    #[inline]
    pub(crate) fn as_current<R>(&self, resume: impl FnOnce() -> R) -> R {
        CURRENT.set(self);
        let result = resume();
        CURRENT.set(ptr::null());
        result
    }

    /// On a fibre: runs threads from the current one on.
    pub(crate) fn run(&self, yielder: &Yielder<(), Pause>) {
        self.yielder.set(yielder);
        // SAFETY: whoever made the block vouches that its entry outlives it.
        unsafe { (*self.entry)(self) }
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

    /// The thread with the number `linear`.
    #[inline]
    pub(crate) fn thread_at(&self, linear: u32) -> Thread {
        let Dim3 { x, y, .. } = self.extent;
        let index = if x == self.threads {
            Dim3 { x: linear, y: 0, z: 0 }
        } else {
            // Exact, as `linear · extent < 2²⁰` for up to 1024 threads.
            let rows = (linear * self.inverse[0]) >> 20;
            let layers = (rows * self.inverse[1]) >> 20;
            Dim3 { x: linear - rows * x, y: rows - layers * y, z: layers }
        };
        Thread::new(linear, index)
    }

    /// Takes the next thread that may run off the pending ones.
    #[inline]
    pub(crate) fn pick(&self) -> Option<u32> {
        if self.warps[self.current_warp.get() % MAX_WARPS].pending.get() == 0 {
            if self.pending_warps.get() == 0 {
                return None;
            }
            self.choose_warp();
        }
        let warp = self.current_warp.get() % MAX_WARPS;
        let mut chooser = self.chooser.get();
        let pending = self.warps[warp].pending.get();
        let lane = chooser.choose(pending);
        self.chooser.set(chooser);
        let rest = pending & !(1 << lane);
        self.warps[warp].pending.set(rest);
        if rest == 0 {
            self.pending_warps.set(self.pending_warps.get() & !(1 << warp));
        }
        Some(warp as u32 * LANES + lane)
    }

    /// Goes to another warp with pending lanes; there must be one.
    #[inline]
    pub(crate) fn choose_warp(&self) {
        let mut chooser = self.chooser.get();
        self.current_warp.set(chooser.choose(self.pending_warps.get()) as usize);
        self.chooser.set(chooser);
    }

    /// Lets `lanes` of `warp` run.
    #[inline]
    pub(crate) fn wake(&self, warp: usize, lanes: u32) {
        let state = &self.warps[warp];
        state.pending.set(state.pending.get() | lanes);
        self.pending_warps.set(self.pending_warps.get() | 1 << warp);
    }

    /// Lets all polling threads run.
    pub(crate) fn wake_polling(&self) {
        let mut warps = self.polling_warps.replace(0);
        while warps != 0 {
            let warp = warps.trailing_zeros() as usize;
            warps &= warps - 1;
            self.wake(warp, self.warps[warp].polling.replace(0));
        }
        self.choose_warp();
    }

    /// How many threads poll.
    pub(crate) fn polling(&self) -> u32 {
        if self.polling_warps.get() == 0 {
            return 0;
        }
        self.warps_in_use().iter().map(|warp| warp.polling.get().count_ones()).sum()
    }

    pub(crate) fn warps_in_use(&self) -> &[Warp] {
        &self.warps[..self.threads.div_ceil(LANES) as usize]
    }

    #[inline]
    pub(crate) fn is_started(&self, linear: u32) -> bool {
        self.warps[(linear / LANES) as usize % MAX_WARPS].started.get() & (1 << (linear % LANES)) != 0
    }

    /// Makes the thread `linear`, which has not been started, the current one.
    #[inline]
    pub(crate) fn start(&self, linear: u32) {
        let thread = self.thread_at(linear);
        let warp = &self.warps[thread.warp()];
        warp.started.set(warp.started.get() | thread.bit());
        self.thread.set(thread);
        self.polls_left.set(POLLS_IN_A_ROW);
    }

    /// The current thread has returned. Makes the next one current and gives true, if that one has not been started
    /// yet, so that this fibre can run it.
    #[inline]
    pub(crate) fn exit_and_start_next(&self) -> bool {
        if self.abandoned.get() {
            return false;
        }
        let thread = self.thread.get();
        let warp = &self.warps[thread.warp()];
        warp.exited.set(warp.exited.get() | thread.bit());
        self.exited.set(self.exited.get() + 1);
        self.note_progress();
        if warp.at_operation.get() != 0 {
            self.complete_after_exit(thread.warp());
        }
        match self.pick() {
            Some(next) if !self.is_started(next) => {
                self.start(next);
                true
            }
            next => {
                self.next.set(next);
                false
            }
        }
    }

    /// Hands control to the scheduler until the current thread is woken.
    ///
    /// Inlined, as its callers are, into the kernel: the processor predicts where a function returns to from the
    /// calls that it has seen, and those have been another thread's. The fewer returns follow, the faster.
    #[inline(always)]
    pub(crate) fn suspend(&self) {
        let thread = self.thread.get();
        let yielder = self.yielder.get();
        // SAFETY: the yielder is that of the fibre that runs now: `run` sets it for a new thread, and the line below
        // does for one that goes on. A fibre's yielder lives as long as the fibre runs.
        unsafe { (*yielder).suspend(Pause::Waiting) };
        self.thread.set(thread);
        self.yielder.set(yielder);
        self.polls_left.set(POLLS_IN_A_ROW);
        if self.abandoned.get() {
            unwind();
        }
    }

    /// Whether the current thread must not wait any more, as it unwinds. A thread that has caught its own unwinding
    /// is unwound again.
    #[inline]
    pub(crate) fn is_unwinding(&self) -> bool {
        let panicking = std::thread::panicking();
        if self.abandoned.get() && !panicking {
            unwind();
        }
        panicking
    }

    #[inline]
    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandoned.get()
    }

    /// Has the block end early: every thread unwinds as soon as it runs.
    pub(crate) fn abandon(&self) {
        self.abandoned.set(true);
    }

    /// Something happened that could let another thread go on.
    #[inline]
    pub(crate) fn note_progress(&self) {
        self.counts.progress.set(self.counts.progress.get() + 1);
        if self.stalled.get() {
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

    /// The current thread found nothing new: now and then lets others run.
    #[inline]
    pub(crate) fn poll(&self, at: Line) {
        let left = self.polls_left.get() - 1;
        if left > 0 {
            self.polls_left.set(left);
        } else {
            self.wait_polling(at);
        }
    }

    #[cold]
    fn wait_polling(&self, at: Line) {
        if self.is_unwinding() {
            self.polls_left.set(POLLS_IN_A_ROW);
            return;
        }
        let thread = self.thread.get();
        let warp = &self.warps[thread.warp()];
        warp.polling.set(warp.polling.get() | thread.bit());
        self.polling_warps.set(self.polling_warps.get() | 1 << thread.warp());
        self.last_poll.set(Some((at, thread)));
        self.suspend();
    }

    /// A fault of `kind` in `thread`.
    pub(crate) fn fault_of(&self, thread: Thread, location: Option<SourceLocation>, kind: FaultKind) -> Fault {
        let (kernel, block) = (self.grid().kernel.name, self.index.get());
        Fault { kernel, block: Some(block), thread: Some(thread.index()), location, kind }
    }

    /// Ends the block with `fault`, unless it has ended already.
    pub(crate) fn record(&self, fault: Fault) {
        if !self.abandoned.replace(true) {
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
