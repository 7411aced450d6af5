//! The steps that the threads of a block are in: each stands on its thread's own stack, and the block knows the innermost one.

use std::cell::Cell;
use std::ptr;

use crate::call_path::{CallPath, CallStep};
use crate::lanes::{MAX_THREADS, Thread};
use crate::source::{Line, is_same_line};

/// A call or a loop that a thread is in, from [`enter`](Self::enter) on, until it is left. It must not be moved in between,
/// and steps are left in the reverse order: `#[kernel]` sees to both. A thread that ends within, by a fault, need not leave it.
#[doc(hidden)]
#[derive(Debug)]
pub struct Step {
    pub(crate) at: Line,
    /// Which time the loop's body runs, from 1; 0 in a call.
    pub(crate) iteration: Cell<u64>,
    pub(crate) outer: Cell<*const Step>,
    /// Whether the function that is called notes the call, and not the caller.
    pub(crate) is_of_function: bool,
    /// Whether the block knows of it.
    pub(crate) is_noted: Cell<bool>,
}

/// The innermost step of each thread of a block.
pub(crate) struct CallPaths {
    innermost: Box<[Cell<*const Step>]>,
    /// Whether any is not null.
    is_used: Cell<bool>,
}

impl Default for CallPaths {
    fn default() -> Self {
        Self { innermost: vec![Cell::new(ptr::null()); MAX_THREADS].into(), is_used: Cell::new(false) }
    }
}

impl CallPaths {
    /// For threads that have not begun.
    pub(crate) fn begin(&self) {
        if self.is_used.replace(false) {
            self.innermost.iter().for_each(|step| step.set(ptr::null()));
        }
    }

    /// The innermost step of `thread`.
    ///
    /// # Safety
    /// As for [`CallPaths::of`].
    pub(crate) unsafe fn innermost<'a>(&self, thread: Thread) -> Option<&'a Step> {
        // SAFETY: the caller's word.
        unsafe { self.of(thread) }.next()
    }

    pub(crate) fn replace(&self, thread: Thread, step: *const Step) -> *const Step {
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
    /// As for [`CallPaths::of`], of both.
    #[inline]
    pub(crate) unsafe fn apart(&self, threads: [Thread; 2]) -> Option<[CallPath; 2]> {
        if !self.is_used.get() {
            return None;
        }
        // SAFETY: the caller's word.
        let [one, other] = threads.map(|thread| unsafe { self.of(thread) });
        // SAFETY: the caller's word.
        (!are_same(one, other)).then(|| threads.map(|thread| unsafe { self.way(thread) }))
    }

    /// # Safety
    /// As for [`CallPaths::of`].
    #[cold]
    unsafe fn way(&self, thread: Thread) -> CallPath {
        // SAFETY: the caller's word.
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
