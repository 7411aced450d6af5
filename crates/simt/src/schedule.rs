//! Which threads of a block may run, and which runs next.

use std::cell::Cell;

use crate::lanes::{LANES, MAX_WARPS, Thread};
use crate::order::Chooser;

/// The states of a warp's lanes, a bit a lane. A lane is in one of: pending, at_barrier, at_operation, polling,
/// exited; or it runs.
#[derive(Default)]
pub(crate) struct Warp {
    /// May run: not started yet, or woken.
    pending: Cell<u32>,
    started: Cell<u32>,
    pub(crate) at_barrier: Cell<u32>,
    /// Wait at a warp operation.
    pub(crate) at_operation: Cell<u32>,
    polling: Cell<u32>,
    /// Have returned, or do not exist.
    exited: Cell<u32>,
}

impl Warp {
    #[inline]
    pub(crate) fn exited(&self) -> u32 {
        self.exited.get()
    }
}

/// The lane masks of a block's warps, and where among them the scheduler is. Nothing here takes time in proportion to
/// the number of threads.
pub(crate) struct Schedule {
    chooser: Cell<Chooser>,
    warps: [Warp; MAX_WARPS],
    /// How many warps the block has.
    count: Cell<usize>,
    current: Cell<usize>,
    /// Warps with pending lanes, a bit a warp.
    pending: Cell<u32>,
    /// Warps with polling lanes, a bit a warp.
    polling: Cell<u32>,
    exited: Cell<u32>,
}

impl Default for Schedule {
    fn default() -> Self {
        Self {
            chooser: Cell::new(Chooser::new(0, 0)),
            warps: Default::default(),
            count: Cell::new(0),
            current: Cell::new(0),
            pending: Cell::new(0),
            polling: Cell::new(0),
            exited: Cell::new(0),
        }
    }
}

impl Schedule {
    /// Begins a block of `threads` threads, none of them started.
    pub(crate) fn begin(&self, threads: u32, chooser: Chooser) {
        let warps = threads.div_ceil(LANES);
        for (warp, state) in (0..warps).zip(&self.warps) {
            let existing = u32::MAX >> (LANES - (threads - warp * LANES).min(LANES));
            state.pending.set(existing);
            state.started.set(0);
            state.at_barrier.set(0);
            state.at_operation.set(0);
            state.polling.set(0);
            state.exited.set(!existing);
        }
        self.chooser.set(chooser);
        self.count.set(warps as usize);
        self.pending.set(u32::MAX >> (LANES - warps));
        self.polling.set(0);
        self.exited.set(0);
        self.choose_warp();
    }

    /// The warps that the block has.
    pub(crate) fn warps(&self) -> &[Warp] {
        &self.warps[..self.count.get()]
    }

    /// The warp of `thread`.
    #[inline]
    pub(crate) fn warp_of(&self, thread: Thread) -> &Warp {
        &self.warps[thread.warp()]
    }

    /// Takes the number of the next thread that may run. Lanes of one warp come one after the other, as long as any
    /// may run.
    #[inline]
    pub(crate) fn pick(&self) -> Option<u32> {
        if self.warps[self.current.get() % MAX_WARPS].pending.get() == 0 {
            if self.pending.get() == 0 {
                return None;
            }
            self.choose_warp();
        }
        let warp = self.current.get() % MAX_WARPS;
        let mut chooser = self.chooser.get();
        let pending = self.warps[warp].pending.get();
        let lane = chooser.choose(pending);
        self.chooser.set(chooser);
        let rest = pending & !(1 << lane);
        self.warps[warp].pending.set(rest);
        if rest == 0 {
            self.pending.set(self.pending.get() & !(1 << warp));
        }
        Some(warp as u32 * LANES + lane)
    }

    /// Goes to another warp with pending lanes; there must be one.
    #[inline]
    pub(crate) fn choose_warp(&self) {
        let mut chooser = self.chooser.get();
        self.current.set(chooser.choose(self.pending.get()) as usize);
        self.chooser.set(chooser);
    }

    /// Lets `lanes` of `warp` run.
    #[inline]
    pub(crate) fn wake(&self, warp: usize, lanes: u32) {
        let state = &self.warps[warp];
        state.pending.set(state.pending.get() | lanes);
        self.pending.set(self.pending.get() | 1 << warp);
    }

    /// `thread`, which was picked, is started.
    #[inline]
    pub(crate) fn start(&self, thread: Thread) {
        let warp = self.warp_of(thread);
        warp.started.set(warp.started.get() | thread.bit());
    }

    #[inline]
    pub(crate) fn is_started(&self, linear: u32) -> bool {
        self.warps[(linear / LANES) as usize % MAX_WARPS].started.get() & (1 << (linear % LANES)) != 0
    }

    /// `thread` has returned from the kernel.
    #[inline]
    pub(crate) fn exit(&self, thread: Thread) {
        let warp = self.warp_of(thread);
        warp.exited.set(warp.exited.get() | thread.bit());
        self.exited.set(self.exited.get() + 1);
    }

    /// How many threads have returned.
    #[inline]
    pub(crate) fn exited(&self) -> u32 {
        self.exited.get()
    }

    /// `thread` polls.
    pub(crate) fn poll(&self, thread: Thread) {
        let warp = self.warp_of(thread);
        warp.polling.set(warp.polling.get() | thread.bit());
        self.polling.set(self.polling.get() | 1 << thread.warp());
    }

    /// How many threads poll.
    pub(crate) fn polling(&self) -> u32 {
        if self.polling.get() == 0 {
            return 0;
        }
        self.warps().iter().map(|warp| warp.polling.get().count_ones()).sum()
    }

    /// Lets all polling threads run.
    pub(crate) fn wake_polling(&self) {
        let mut warps = self.polling.replace(0);
        while warps != 0 {
            let warp = warps.trailing_zeros() as usize;
            warps &= warps - 1;
            self.wake(warp, self.warps[warp].polling.replace(0));
        }
        self.choose_warp();
    }

    /// Lets all threads run that wait at the block barrier.
    pub(crate) fn wake_at_barrier(&self) {
        for (warp, state) in self.warps().iter().enumerate() {
            self.wake(warp, state.at_barrier.replace(0));
        }
        self.choose_warp();
    }
}
