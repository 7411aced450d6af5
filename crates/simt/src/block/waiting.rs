//! How a thread waits: for other threads of its block, for its block's turn, or because it must give way.

use super::{Block, Pause};
use crate::panic::unwind;
use crate::source::Line;
use crate::watch::{Touch, Watcher};

impl Block {
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
        let thread = self.thread();
        let yielder = self.yielder.get();
        // SAFETY: the yielder is that of the fibre that runs now: `run` sets it for a new thread, and the line below
        // does for one that goes on. A fibre's yielder lives as long as the fibre runs.
        unsafe { (*yielder).suspend(pause) };
        self.context.thread.set(thread);
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
            self.run_queue.poll(self.thread());
            self.suspend();
        }
    }

    /// As [`Block::let_others_run`], at the wish of `watcher`, which is told when the thread pauses and when it goes
    /// on. The thread could go on, so this counts as progress.
    #[cold]
    pub(crate) fn pause(&self, watcher: &dyn Watcher) {
        if self.is_unwinding() {
            return;
        }
        let thread = self.thread();
        let warp = self.run_queue.warp_of(thread);
        watcher.pause(&self.context, warp.at_barrier.get() | warp.at_operation.get());
        self.note_progress();
        self.run_queue.poll(thread);
        self.suspend();
        watcher.resume(&self.context);
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
        match self.grid().wait_for_turn(self.worker, self.position()) {
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

    /// As [`Block::poll`], of `address` in global memory. A thread that has come further than ever is reading its way
    /// through memory, and not waiting: as there is an end to memory, that cannot go on for ever.
    #[inline]
    pub(crate) fn poll_at(&self, address: usize, at: Line) {
        if self.furthest_polls.advance(self.thread(), address) {
            self.note_progress();
        }
        self.poll(at);
    }

    /// The current thread is about to make a plain load, in a launch that is watched: one that it makes again and again
    /// is a poll.
    #[inline]
    pub(crate) fn note_load(&self, address: usize, at: Line) {
        if self.plain_loads.is_poll(self.thread(), address, at) {
            self.poll(at);
        }
    }

    #[cold]
    fn wait_polling(&self, at: Line) {
        if self.is_unwinding() {
            self.polls_left.set(self.polls_in_a_row.get());
            return;
        }
        let thread = self.thread();
        self.run_queue.poll(thread);
        self.last_poll.set(Some((at, thread)));
        self.last_seen.note(thread, at);
        self.suspend();
    }

    /// Before an access at `at`: lets another thread run first, where the schedule wants that. Not for a thread that
    /// panics.
    #[inline]
    pub(crate) fn preempt(&self, at: Line) {
        self.last_seen.note(self.thread(), at);
        match self.preemption.left.get() {
            0 => {}
            1 => self.give_way(),
            left => self.preemption.left.set(left - 1),
        }
    }

    /// Before an atomic access: waits where the schedule holds the thread, and notes the access where the launch is
    /// traced.
    pub(crate) fn come_to(&self, touch: &Touch) {
        let grid = self.grid();
        let Some(director) = &grid.director else { return };
        let (block, _) = grid.block_at(self.position());
        let arrival = director.come_to((block as u32, self.thread().linear()), touch);
        if let Some(hold) = arrival.at {
            while !director.has_ended(hold) {
                self.let_others_run();
            }
        }
        director.note(&arrival, touch.access);
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
            // Chosen before the current thread counts as one that may run.
            let Some(next) = self.run_queue.pick() else { return };
            self.go_on_with(next);
            Pause::Waiting
        };
        self.run_queue.wake(thread.warp(), thread.bit());
        // What the thread has polled in vain stays so: otherwise threads that poll would go on for ever.
        let polls_left = self.polls_left.get();
        self.suspend_as(pause);
        self.polls_left.set(polls_left);
    }
}
