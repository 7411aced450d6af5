//! The run queue of a block: the threads that may run, and the choice of the next one.

use std::cell::Cell;

use crate::lanes::{LANES, MAX_WARPS, Thread};
use crate::order::{Chooser, scramble};
use crate::schedule::Schedule;

/// The states of a warp's lanes, one bit per lane. A lane that does not run is in one of these states: pending, at a
/// barrier, at an operation, polling or exited.
#[derive(Default)]
pub(crate) struct Warp {
    /// Lanes that may run, because they are not started yet or were woken.
    pending: Cell<u32>,
    started: Cell<u32>,
    pub(crate) at_barrier: Cell<u32>,
    /// Lanes that wait at a warp operation.
    pub(crate) at_operation: Cell<u32>,
    polling: Cell<u32>,
    /// Lanes that wait for a phase of a barrier in shared memory, and do nothing else. They poll, or may run.
    pub(crate) waits_for_phase: Cell<u32>,
    /// Lanes that have returned from the kernel, and lanes that the block does not have.
    exited: Cell<u32>,
    /// The mask of the lane that runs ahead of the others or behind them, if the schedule chooses such a lane.
    chosen: Cell<u32>,
}

/// The rule by which the scheduler chooses the next thread of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Preference {
    /// Chooses the first lane of the current warp that may run. If no lane of the warp may run, the first warp with
    /// such a lane becomes current.
    #[default]
    First,
    /// Chooses a random lane of the current warp. If none of its lanes may run, a random warp becomes current.
    OneWarp,
    /// Chooses like `OneWarp`, but one chosen warp always runs before all other warps, and in each warp one chosen lane
    /// runs before all other lanes.
    Ahead,
    /// Chooses like `OneWarp`, but one chosen warp runs only when no other warp may run, and in each warp one chosen
    /// lane runs only when no other lane may run.
    Behind,
    /// Chooses a random lane of any warp.
    AnyWarp,
}

impl From<Schedule> for Preference {
    fn from(schedule: Schedule) -> Self {
        match schedule {
            Schedule::Natural | Schedule::Chosen(_) => Self::First,
            Schedule::Random(_) | Schedule::LastFirst | Schedule::Held(..) => Self::OneWarp,
            Schedule::OneAhead(_) => Self::Ahead,
            Schedule::OneBehind(_) => Self::Behind,
            Schedule::EveryAccess(_) | Schedule::Interleaved(_) | Schedule::BlocksInTurn(_) => Self::AnyWarp,
        }
    }
}

impl Warp {
    #[inline]
    pub(crate) fn exited(&self) -> u32 {
        self.exited.get()
    }
}

/// The threads of a block that may run, as lane masks per warp, and the warp whose lanes run now. No method loops over
/// single threads.
#[derive(Default)]
pub(crate) struct RunQueue {
    chooser: Cell<Chooser>,
    preference: Cell<Preference>,
    /// The mask of the warp that runs ahead of the others or behind them, if the schedule chooses such a warp.
    chosen: Cell<u32>,
    warps: [Warp; MAX_WARPS],
    /// The number of warps of the block.
    count: Cell<usize>,
    current: Cell<usize>,
    /// The warps with pending lanes, one bit per warp.
    pending: Cell<u32>,
    /// The warps with polling lanes, one bit per warp.
    polling: Cell<u32>,
    exited: Cell<u32>,
}

impl RunQueue {
    /// Resets the queue for block number `block` with `threads` threads, under `schedule`.
    pub(crate) fn begin(&self, threads: u32, schedule: Schedule, block: u64) {
        let warps = threads.div_ceil(LANES);
        for (warp, state) in (0..warps).zip(&self.warps) {
            let existing = u32::MAX >> (LANES - (threads - warp * LANES).min(LANES));
            state.pending.set(existing);
            state.started.set(0);
            state.at_barrier.set(0);
            state.at_operation.set(0);
            state.polling.set(0);
            state.waits_for_phase.set(0);
            state.exited.set(!existing);
        }
        self.chooser.set(Chooser::new(schedule, block));
        self.preference.set(schedule.into());
        self.count.set(warps as usize);
        self.choose_favourites(threads, scramble(schedule.seed() ^ block));
        self.pending.set(u32::MAX >> (LANES - warps));
        self.polling.set(0);
        self.exited.set(0);
        self.choose_warp();
    }

    /// Chooses the warp and lanes that run ahead of the others or behind them.
    fn choose_favourites(&self, threads: u32, random: u64) {
        if !matches!(self.preference.get(), Preference::Ahead | Preference::Behind) {
            return;
        }
        self.chosen.set(1 << (random % self.count.get() as u64));
        for (warp, state) in (0..).zip(self.warps()) {
            let lanes = (threads - warp * LANES).min(LANES);
            state.chosen.set(1 << (scramble(random ^ u64::from(warp)) % u64::from(lanes)));
        }
    }

    /// Returns the block's warps.
    pub(crate) fn warps(&self) -> &[Warp] {
        &self.warps[..self.count.get()]
    }

    /// Returns the warp of `thread`.
    #[inline]
    pub(crate) fn warp_of(&self, thread: Thread) -> &Warp {
        &self.warps[thread.warp()]
    }

    /// Chooses the next thread to run, removes it from the pending threads and returns its number. Usually chooses
    /// lanes of the current warp as long as one of these lanes is pending.
    #[inline]
    pub(crate) fn pick(&self) -> Option<u32> {
        if self.preference.get() != Preference::First {
            return self.pick_preferred();
        }
        if self.warps[self.current.get() % MAX_WARPS].pending.get() == 0 {
            if self.pending.get() == 0 {
                return None;
            }
            self.current.set(self.pending.get().trailing_zeros() as usize);
        }
        let warp = self.current.get() % MAX_WARPS;
        let lane = self.warps[warp].pending.get().trailing_zeros() & (LANES - 1);
        Some(self.take(warp, lane))
    }

    /// Does what [`RunQueue::pick`] does, for every preference but `First`.
    #[inline(never)]
    fn pick_preferred(&self) -> Option<u32> {
        let warps = self.pending.get();
        if warps == 0 {
            return None;
        }
        let preference = self.preference.get();
        let prefer = |from: u32, chosen: u32| match preference {
            Preference::Ahead if from & chosen != 0 => chosen,
            Preference::Behind if from & !chosen != 0 => from & !chosen,
            _ => from,
        };
        let candidates = prefer(warps, self.chosen.get());
        let current = self.current.get() % MAX_WARPS;
        if preference == Preference::AnyWarp || candidates & 1 << current == 0 {
            self.choose_warp_of(candidates);
        }
        let warp = self.current.get() % MAX_WARPS;
        let state = &self.warps[warp];
        let mut chooser = self.chooser.get();
        let lane = chooser.choose(prefer(state.pending.get(), state.chosen.get()));
        self.chooser.set(chooser);
        Some(self.take(warp, lane))
    }

    /// Removes `lane` from the pending lanes of `warp` and returns the number of its thread. The lane must be pending.
    #[inline]
    fn take(&self, warp: usize, lane: u32) -> u32 {
        let rest = self.warps[warp].pending.get() & !(1 << lane);
        self.warps[warp].pending.set(rest);
        if rest == 0 {
            self.pending.set(self.pending.get() & !(1 << warp));
        }
        warp as u32 * LANES + lane
    }

    /// Makes a warp with pending lanes the current one. At least one warp must have pending lanes.
    #[inline]
    pub(crate) fn choose_warp(&self) {
        self.choose_warp_of(self.pending.get());
    }

    /// Makes one of the warps in the mask `warps` the current warp. The mask must not be 0.
    #[inline]
    fn choose_warp_of(&self, warps: u32) {
        let mut chooser = self.chooser.get();
        self.current.set(chooser.choose(warps) as usize);
        self.chooser.set(chooser);
    }

    /// Makes `lanes` of `warp` runnable.
    #[inline]
    pub(crate) fn wake(&self, warp: usize, lanes: u32) {
        let state = &self.warps[warp];
        state.pending.set(state.pending.get() | lanes);
        self.pending.set(self.pending.get() | 1 << warp);
    }

    /// Marks `thread`, which must have been picked, as started.
    #[inline]
    pub(crate) fn start(&self, thread: Thread) {
        let warp = self.warp_of(thread);
        warp.started.set(warp.started.get() | thread.bit());
    }

    #[inline]
    pub(crate) fn is_started(&self, linear: u32) -> bool {
        self.warps[(linear / LANES) as usize % MAX_WARPS].started.get() & (1 << (linear % LANES)) != 0
    }

    /// Marks `thread` as exited: it has returned from the kernel.
    #[inline]
    pub(crate) fn exit(&self, thread: Thread) {
        let warp = self.warp_of(thread);
        warp.exited.set(warp.exited.get() | thread.bit());
        self.exited.set(self.exited.get() + 1);
    }

    /// Returns the number of threads that have returned from the kernel.
    #[inline]
    pub(crate) fn exited(&self) -> u32 {
        self.exited.get()
    }

    /// Returns true if no thread may run or polls.
    pub(crate) fn is_idle(&self) -> bool {
        (self.pending.get() | self.polling.get()) == 0
    }

    /// Marks `thread` as polling.
    pub(crate) fn poll(&self, thread: Thread) {
        let warp = self.warp_of(thread);
        warp.polling.set(warp.polling.get() | thread.bit());
        self.polling.set(self.polling.get() | 1 << thread.warp());
    }

    /// Notes that `thread` begins or ends a wait for a phase of a barrier in shared memory.
    #[inline]
    pub(crate) fn set_waits_for_phase(&self, thread: Thread, waits: bool) {
        let lanes = &self.warp_of(thread).waits_for_phase;
        lanes.set(if waits { lanes.get() | thread.bit() } else { lanes.get() & !thread.bit() });
    }

    /// Returns the number of polling threads.
    pub(crate) fn polling(&self) -> u32 {
        if self.polling.get() == 0 { 0 } else { self.count_polling() }
    }

    #[inline(never)]
    fn count_polling(&self) -> u32 {
        self.warps().iter().map(|warp| warp.polling.get().count_ones()).sum()
    }

    /// Returns the number of threads that wait at a block barrier or a warp operation.
    pub(crate) fn waiting(&self) -> u32 {
        self.warps().iter().map(|warp| (warp.at_barrier.get() | warp.at_operation.get()).count_ones()).sum()
    }

    /// Makes all polling threads runnable.
    pub(crate) fn wake_polling(&self) {
        let mut warps = self.polling.replace(0);
        while warps != 0 {
            let warp = warps.trailing_zeros() as usize;
            warps &= warps - 1;
            self.wake(warp, self.warps[warp].polling.replace(0));
        }
        self.choose_warp();
    }

    /// Makes all threads that wait at the block barrier runnable.
    pub(crate) fn wake_at_barrier(&self) {
        for (warp, state) in self.warps().iter().enumerate() {
            self.wake(warp, state.at_barrier.replace(0));
        }
        self.choose_warp();
    }
}
