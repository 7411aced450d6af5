//! The way by which a thread came to where it is: the calls and loops of the source that it is in.
//!
//! Each step of it stands on the thread's own stack, and the block knows the innermost one of each thread. In a launch that
//! nobody watches no step is noted.

use std::cell::Cell;
use std::ops::Deref;
use std::panic::Location;
use std::ptr;

use crate::current::current;
use crate::lanes::{MAX_THREADS, Thread};
use crate::source::{Line, is_same_line};
use crate::watch::is_watching;
use crate::way::{Way, WayStep};

/// A call or a loop that a thread is in, from [`enter`](Self::enter) on, until it is left. It must not be moved in between,
/// and steps are left in the reverse order: `#[kernel]` sees to both. A thread that ends within, by a fault, need not leave it.
#[doc(hidden)]
#[derive(Debug)]
pub struct Step {
    at: Line,
    /// Which time the loop's body runs, from 1; 0 in a call.
    iteration: Cell<u64>,
    outer: Cell<*const Step>,
    is_noted: Cell<bool>,
}

impl Step {
    /// The call, or the loop, at the caller's line.
    #[inline(always)]
    #[track_caller]
    #[expect(clippy::new_without_default, reason = "a step is its caller's")]
    pub fn new() -> Self {
        Self {
            at: Location::caller(),
            iteration: Cell::new(0),
            outer: Cell::new(ptr::null()),
            is_noted: Cell::new(false),
        }
    }

    /// Notes that the thread is in it, where somebody watches.
    #[inline(always)]
    pub fn enter(&self) -> &Self {
        if is_watching() {
            self.note();
        }
        self
    }

    /// The loop's body begins.
    #[inline(always)]
    pub fn again(&self) {
        self.iteration.set(self.iteration.get() + 1);
    }

    /// Leaves the call, which has given `value`.
    #[inline(always)]
    pub fn leave<T>(&self, value: T) -> T {
        if self.is_noted.get() {
            self.forget();
        }
        value
    }

    #[cold]
    #[inline(never)]
    fn note(&self) {
        if let Some(block) = current() {
            self.outer.set(block.ways.replace(block.thread(), self));
            self.is_noted.set(true);
        }
    }

    #[cold]
    #[inline(never)]
    fn forget(&self) {
        self.is_noted.set(false);
        if let Some(block) = current() {
            block.ways.replace(block.thread(), self.outer.get());
        }
    }
}

/// A step that is left when it is dropped, if not before: one that other statements than its last may end.
#[doc(hidden)]
#[derive(Debug)]
pub struct StepGuard(Step);

impl StepGuard {
    /// As [`Step::new`].
    #[inline(always)]
    #[track_caller]
    #[expect(clippy::new_without_default, reason = "a step is its caller's")]
    pub fn new() -> Self {
        Self(Step::new())
    }
}

impl Deref for StepGuard {
    type Target = Step;

    #[inline(always)]
    fn deref(&self) -> &Step {
        &self.0
    }
}

impl Drop for StepGuard {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.leave(());
    }
}

/// The innermost step of each thread of a block.
pub(crate) struct Ways {
    innermost: Box<[Cell<*const Step>]>,
    /// Whether any is not null.
    is_used: Cell<bool>,
}

impl Default for Ways {
    fn default() -> Self {
        Self { innermost: vec![Cell::new(ptr::null()); MAX_THREADS].into(), is_used: Cell::new(false) }
    }
}

impl Ways {
    /// For threads that have not begun.
    pub(crate) fn begin(&self) {
        if self.is_used.replace(false) {
            self.innermost.iter().for_each(|step| step.set(ptr::null()));
        }
    }

    fn replace(&self, thread: Thread, step: *const Step) -> *const Step {
        self.is_used.set(true);
        self.innermost[thread.linear() as usize % MAX_THREADS].replace(step)
    }

    /// The steps of `thread`, the innermost first.
    ///
    /// # Safety
    /// The thread has begun, and neither ended nor been abandoned, and does not run on while the steps are used.
    unsafe fn of<'a>(&self, thread: Thread) -> impl Iterator<Item = &'a Step> {
        let mut next = self.innermost[thread.linear() as usize % MAX_THREADS].get();
        std::iter::from_fn(move || {
            // SAFETY: a step that is noted stands on the thread's stack, which the caller vouches for: it is forgotten, here
            // and by the steps inside of it, before it ends.
            let step = unsafe { next.as_ref() }?;
            next = step.outer.get();
            Some(step)
        })
    }

    /// Where two threads that are at the same line came there by different ways, both of them.
    ///
    /// # Safety
    /// As for [`Ways::of`], of both.
    #[inline]
    pub(crate) unsafe fn apart(&self, threads: [Thread; 2]) -> Option<[Way; 2]> {
        if !self.is_used.get() {
            return None;
        }
        // SAFETY: the caller's word.
        let [one, other] = threads.map(|thread| unsafe { self.of(thread) });
        // SAFETY: the caller's word.
        (!are_same(one, other)).then(|| threads.map(|thread| unsafe { self.way(thread) }))
    }

    /// # Safety
    /// As for [`Ways::of`].
    #[cold]
    unsafe fn way(&self, thread: Thread) -> Way {
        // SAFETY: the caller's word.
        let steps = unsafe { self.of(thread) };
        let mut steps: Vec<WayStep> = steps
            .map(|step| match step.iteration.get() {
                0 => WayStep::Call(step.at.into()),
                iteration => WayStep::Loop { at: step.at.into(), iteration },
            })
            .collect();
        steps.reverse();
        Way(steps)
    }
}

/// Whether both are the same steps, as often gone through.
fn are_same<'a>(mut one: impl Iterator<Item = &'a Step>, mut other: impl Iterator<Item = &'a Step>) -> bool {
    loop {
        match (one.next(), other.next()) {
            (None, None) => return true,
            (Some(one), Some(other))
                if one.iteration.get() == other.iteration.get() && is_same_line(one.at, other.at) => {}
            _ => return false,
        }
    }
}
