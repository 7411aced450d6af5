//! The call paths of a block's threads. A *step* of a path is a call or a loop that the thread is in. The steps are
//! linked values on the threads' stacks, and the block has a pointer to the innermost step of each thread.
//!
//! # Design
//!
//! At a barrier the checker compares the steps of a warp's lanes. A strict check also compares the steps of different
//! warps. Each step is a value on its thread's stack, so it costs nothing in a launch without a watcher.

use std::cell::Cell;
use std::ptr;

use crate::block::polling::PerThread;
use crate::call_path::{CallPath, CallStep};
use crate::lanes::Thread;
use crate::source::{Line, is_same_line};

/// A call or a loop that a thread is in, from [`enter`](Self::enter) until the thread leaves it. In between, the step
/// must not change its address. A thread must leave its steps in reverse order. Code that `#[kernel]` generates meets
/// both conditions. A thread that faults need not leave its steps.
#[doc(hidden)]
#[derive(Debug)]
pub struct Step {
    pub(crate) at: Line,
    /// The number of the loop's iteration, counted from 1, or 0 for a call.
    pub(crate) iteration: Cell<u64>,
    pub(crate) outer: Cell<*const Step>,
    /// True if the called function, and not its caller, records the call.
    pub(crate) is_of_function: bool,
    /// True if the step is linked into the block's call paths.
    pub(crate) is_noted: Cell<bool>,
}

/// A pointer to the innermost step of a thread, on the thread's stack, or null.
#[derive(Clone, Copy)]
struct Innermost(*const Step);

impl Default for Innermost {
    fn default() -> Self {
        Self(ptr::null())
    }
}

/// The innermost step of each thread of a block.
#[derive(Default)]
pub(crate) struct CallPaths(PerThread<Innermost>);

impl CallPaths {
    /// Resets the steps for a new block.
    pub(crate) fn begin(&self) {
        self.0.begin();
    }

    /// Returns the innermost step of `thread`.
    ///
    /// # Safety
    /// The caller must meet the conditions of [`CallPaths::of`].
    pub(crate) unsafe fn innermost<'a>(&self, thread: Thread) -> Option<&'a Step> {
        // SAFETY: the caller guarantees that the thread has started, has not ended, and does not run.
        unsafe { self.of(thread) }.next()
    }

    pub(crate) fn replace(&self, thread: Thread, step: *const Step) -> *const Step {
        let outer = self.0.get(thread).0;
        self.0.set(thread, Innermost(step));
        outer
    }

    /// Returns the steps of `thread`, the innermost first.
    ///
    /// # Safety
    /// The thread must have started, and neither have ended nor been abandoned. It must not run while the steps are
    /// used.
    unsafe fn of<'a>(&self, thread: Thread) -> impl Iterator<Item = &'a Step> {
        let mut next = self.0.get(thread).0;
        std::iter::from_fn(move || {
            // SAFETY: a noted step is on the thread's stack, which the caller guarantees to exist. Each step is
            // unlinked from the list before it is dropped.
            let step = unsafe { next.as_ref() }?;
            next = step.outer.get();
            Some(step)
        })
    }

    /// Returns the call paths of two threads that are at the same line, or `None` if the paths are equal.
    ///
    /// # Safety
    /// The caller must meet the conditions of [`CallPaths::of`] for both threads.
    #[inline]
    pub(crate) unsafe fn differing(&self, threads: [Thread; 2]) -> Option<[CallPath; 2]> {
        if !self.0.is_used() {
            return None;
        }
        // SAFETY: the caller guarantees that neither thread runs or ends.
        let [one, other] = threads.map(|thread| unsafe { self.of(thread) });
        // SAFETY: the caller guarantees that neither thread runs or ends.
        (!are_same(one, other)).then(|| threads.map(|thread| unsafe { self.path(thread) }))
    }

    /// Returns the call path of `thread`.
    ///
    /// # Safety
    /// The caller must meet the conditions of [`CallPaths::of`].
    #[cold]
    unsafe fn path(&self, thread: Thread) -> CallPath {
        // SAFETY: the caller guarantees that the thread does not run or end.
        let steps = unsafe { self.of(thread) };
        let mut steps: Vec<CallStep> = steps
            .map(|step| match step.iteration.get() {
                0 => CallStep::Call(step.at.into()),
                iteration => CallStep::Loop { at: step.at.into(), iteration },
            })
            .collect();
        steps.reverse();
        CallPath(steps)
    }
}

/// Returns true if `one` and `other` are the same steps in the same iterations.
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
