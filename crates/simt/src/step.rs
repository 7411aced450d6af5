//! The steps of a call path: the calls and loops in the source that a thread is in.
//!
//! Only watched launches record steps.

use std::cell::Cell;
use std::ops::Deref;
use std::panic::Location;
use std::ptr;

pub use crate::call_paths::Step;
use crate::current::current;
use crate::watch::is_watching;

impl Step {
    /// Makes a step for the call or the loop at the caller's source line.
    #[inline(always)]
    #[track_caller]
    #[expect(clippy::new_without_default, reason = "a step is its caller's")]
    pub fn new() -> Self {
        Self {
            at: Location::caller(),
            iteration: Cell::new(0),
            outer: Cell::new(ptr::null()),
            is_of_function: false,
            is_noted: Cell::new(false),
        }
    }

    /// Makes the step for the call of the enclosing function, which must be `#[track_caller]`.
    #[inline(always)]
    #[track_caller]
    pub fn of_function() -> Self {
        Self { is_of_function: true, ..Self::new() }
    }

    /// Records that the thread has entered this step, if the launch is watched.
    #[inline(always)]
    pub fn enter(&self) -> &Self {
        if is_watching() {
            self.note();
        }
        self
    }

    /// Increments the loop's iteration number. Called at the start of each iteration.
    #[inline(always)]
    pub fn again(&self) {
        self.iteration.set(self.iteration.get() + 1);
    }

    /// Records that the thread has left this step, and returns `value`, which is the result of the call.
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
            // SAFETY: the current thread has started, and stays in this function while the step is used.
            let outer = unsafe { block.call_paths.innermost(block.thread()) };
            if outer.is_some_and(|outer| self.is_noted_by_caller(outer)) {
                return;
            }
            self.outer.set(block.call_paths.replace(block.thread(), self));
            self.is_noted.set(true);
        }
    }

    /// Returns true if `outer` is the step by which the caller has recorded the same call.
    fn is_noted_by_caller(&self, outer: &Self) -> bool {
        let is_same_place = || (self.at.file(), self.at.line()) == (outer.at.file(), outer.at.line());
        self.is_of_function && !outer.is_of_function && outer.iteration.get() == 0 && is_same_place()
    }

    #[cold]
    #[inline(never)]
    fn forget(&self) {
        self.is_noted.set(false);
        if let Some(block) = current() {
            block.call_paths.replace(block.thread(), self.outer.get());
        }
    }
}

/// A guard that leaves a step when it is dropped, for statements that may end early.
#[doc(hidden)]
#[derive(Debug)]
pub struct StepGuard(Step);

impl StepGuard {
    /// Makes a step for the call or the loop at the caller's source line. The thread leaves the step when the guard is
    /// dropped.
    #[inline(always)]
    #[track_caller]
    #[expect(clippy::new_without_default, reason = "a step is its caller's")]
    pub fn new() -> Self {
        Self(Step::new())
    }

    /// Makes a guard with the step [`Step::of_function`].
    #[inline(always)]
    #[track_caller]
    pub fn of_function() -> Self {
        Self(Step::of_function())
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
