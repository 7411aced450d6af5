//! Makes threads wait: for other threads of the block, for the block's turn, or because the schedule makes them yield.

use super::{Block, Pause};
use crate::panic::unwind;
use crate::region::Space;
use crate::source::Line;
use crate::watch::{Touch, Watcher, has_weak_memory, is_watching};

impl Block {
    /// Suspends the current thread and returns control to the scheduler until the thread is woken.
    ///
    /// This function and its callers are inlined into the kernel. After a switch of threads the processor predicts
    /// returns wrongly, so fewer returns are faster.
    #[inline(always)]
    pub(crate) fn suspend(&self) {
        self.suspend_as(Pause::Waiting);
    }

    /// Suspends the current thread like [`Block::suspend`] and returns `pause`, which must not be `Idle`, to the
    /// scheduler.
    #[inline(always)]
    pub(crate) fn suspend_as(&self, pause: Pause) {
        let thread = self.thread();
        let yielder = self.yielder.get();
        // SAFETY: the yielder belongs to the running fibre: `run` sets it for a new thread, and the line below sets it
        // for a resumed one. A fibre's yielder lives as long as the fibre runs.
        unsafe { (*yielder).suspend(pause) };
        self.context.thread.set(thread);
        self.yielder.set(yielder);
        self.activity.set(self.activity.get() + 1);
        self.polls_left.set(self.polls_in_a_row.get());
        if self.is_abandoned.get() {
            unwind();
        }
    }

    /// Lets the block's other threads run until each of them waits, polls or has exited.
    #[cold]
    pub(crate) fn let_others_run(&self) {
        if !self.is_unwinding() {
            self.run_queue.poll(self.thread());
            self.suspend();
        }
    }

    /// Lets the block's other threads run like [`Block::let_others_run`], because `watcher` has requested a pause.
    /// Notifies the watcher when the thread pauses and when it resumes. The pause counts as progress, because the
    /// thread could have continued.
    #[cold]
    pub(crate) fn pause(&self, watcher: &dyn Watcher) {
        if self.is_unwinding() {
            return;
        }
        let thread = self.thread();
        let warp = self.run_queue.warp_of(thread);
        let at_cluster = self.membership.waiting_lanes(thread.warp());
        watcher.pause(&self.context, warp.at_barrier.get() | warp.at_operation.get() | at_cluster);
        self.note_progress();
        self.run_queue.poll(thread);
        self.suspend();
        watcher.resume(&self.context);
    }

    /// Returns true if the current thread unwinds and must not wait any more. Unwinds the thread again if the kernel
    /// has caught the panic by which the thread was unwinding.
    #[inline]
    pub(crate) fn is_unwinding(&self) -> bool {
        let panicking = std::thread::panicking();
        if self.is_abandoned.get() && !panicking {
            unwind();
        }
        panicking
    }

    /// Waits until all earlier blocks have finished. Other blocks then see the thread's writes in a deterministic
    /// order.
    #[inline]
    pub(crate) fn take_turn(&self) {
        if !self.has_turn.get() {
            self.wait_for_turn();
        }
    }

    #[cold]
    fn wait_for_turn(&self) {
        match self.grid().wait_for_turn(self.worker, self.position()) {
            Ok(()) => self.has_turn.set(true),
            Err(_cancelled) => {
                self.abandon();
                // A thread that already unwinds does not wait for its turn, because its effects are not observed.
                if !self.is_unwinding() {
                    unwind();
                }
            }
        }
    }

    /// Returns true if no thread that has not exited does anything but wait: at a barrier, at a warp operation, or for
    /// a phase of a barrier in shared memory. If a watcher chooses the values of reads, a thread may read an older
    /// value for some time, and the result is false.
    pub(crate) fn only_waits(&self) -> bool {
        !has_weak_memory()
            && self.run_queue.warps().iter().enumerate().all(|(number, warp)| {
                let at_meetings =
                    warp.at_barrier.get() | warp.at_operation.get() | self.membership.waiting_lanes(number);
                (warp.exited() | at_meetings | warp.waits_for_phase.get()) == u32::MAX
            })
    }

    /// Counts a poll in which the current thread read no new value. After some polls, lets other threads run.
    #[inline]
    pub(crate) fn poll(&self, at: Line) {
        let left = self.polls_left.get() - 1;
        let is_slice_over = self.turn.count();
        if is_slice_over {
            self.end_slice(at);
        }
        if left > 0 && !is_slice_over {
            self.polls_left.set(left);
        } else {
            self.wait_polling(at);
        }
    }

    /// Counts a poll of `address` in global memory, like [`Block::poll`]. A poll of a higher address than before counts
    /// as progress, because the thread scans memory and does not wait.
    #[inline]
    pub(crate) fn poll_at(&self, address: usize, at: Line) {
        if address > self.furthest_polls.get(self.thread()) {
            self.furthest_polls.set(self.thread(), address);
            self.note_progress();
        }
        self.poll_for(Space::Global, address, at);
    }

    /// Counts a poll of `address` in `space`, like [`Block::poll`].
    #[inline]
    pub(crate) fn poll_for(&self, space: Space, address: usize, at: Line) {
        self.polled.set((space, address));
        self.poll(at);
    }

    /// Notes that the current thread is about to make a plain load, in a watched launch. A load that is repeated often
    /// counts as a poll.
    #[inline]
    pub(crate) fn note_load(&self, address: usize, at: Line) {
        if self.plain_loads.is_poll(self.thread(), address, at) {
            self.poll_for(Space::Global, address, at);
        }
    }

    #[cold]
    pub(super) fn wait_polling(&self, at: Line) {
        if self.is_unwinding() {
            self.polls_left.set(self.polls_in_a_row.get());
            return;
        }
        let thread = self.thread();
        self.run_queue.poll(thread);
        self.last_poll.set(Some((at, thread)));
        if is_watching() {
            self.last_polled.set(thread, Some(self.polled.get()));
        }
        self.last_seen.set(thread, Some(at));
        self.suspend();
    }

    /// Lets another thread run before an access at the source line `at`, if the schedule requires this switch. Must not
    /// be called while the thread panics.
    #[inline]
    pub(crate) fn preempt(&self, at: Line, is_atomic: bool) {
        self.last_seen.set(self.thread(), Some(at));
        self.activity.set(self.activity.get() + 1);
        match self.preemption.left.get() {
            0 if is_atomic && self.preemption.is_before_atomics() => self.give_way(),
            0 => {}
            1 => self.give_way(),
            left => self.preemption.left.set(left - 1),
        }
    }

    /// Makes the thread wait before an atomic access if the schedule has a hold for this access. Records the access if
    /// the launch is traced.
    pub(crate) fn wait_at_hold(&self, touch: &Touch) {
        let grid = self.grid();
        let Some(director) = &grid.director else { return };
        let (block, _) = grid.block_at(self.position());
        let arrival = director.arrive((block as u32, self.thread().linear()), touch);
        if let Some(hold) = arrival.at {
            while !director.has_ended(hold) {
                self.let_others_run();
            }
        }
        director.note(&arrival, touch.access);
    }

    /// Makes the thread wait before an atomic access, or before a fence if `touch` is `None`, as long as the watcher
    /// chooses so. Called only in launches that explore weak memory.
    #[cold]
    pub(crate) fn wait_by_choice(&self, touch: Option<&Touch>) {
        if let Some(watcher) = self.watcher() {
            let mut is_over = false;
            while !self.is_unwinding() && watcher.must_wait(&self.context, touch, is_over) {
                is_over = self.grid().wait_by_choice(|| self.let_others_run());
            }
        }
    }

    #[inline(never)]
    fn give_way(&self) {
        if self.is_abandoned() {
            unwind();
        }
        let thread = self.thread();
        let pause = if self.preemption.draw() {
            Pause::Leaving
        } else {
            // The next thread is chosen before the current one becomes runnable, so the two differ.
            let Some(next) = self.run_queue.pick() else { return };
            self.run_next(next);
            Pause::Waiting
        };
        self.run_queue.wake(thread.warp(), thread.bit());
        // The count of polls survives the pause. Otherwise polling threads would run for ever.
        let polls_left = self.polls_left.get();
        self.suspend_as(pause);
        self.polls_left.set(polls_left);
    }
}
