//! The end of work, which the driver reports and for which a future waits.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// The state of work that a future waits for.
#[derive(Default)]
pub(crate) struct Completion(Mutex<Progress>);

#[derive(Default)]
struct Progress {
    /// The driver's code, 0 for success, once the work is done.
    code: Option<u32>,
    /// The task that waits for the work.
    waker: Option<Waker>,
}

impl Completion {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that the work has ended with the driver's `code`, and wakes the task that waits for it.
    pub(crate) fn complete(&self, code: u32) {
        let mut progress = self.progress();
        progress.code = Some(code);
        let waker = progress.waker.take();
        // The waker is other people's code, so it runs without the lock.
        drop(progress);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Returns the driver's code if the work is done. Otherwise `waker` is woken when it is.
    pub(crate) fn poll(&self, waker: &Waker) -> Option<u32> {
        let mut progress = self.progress();
        if progress.code.is_some() || progress.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            return progress.code;
        }
        let former = progress.waker.replace(waker.clone());
        drop(progress);
        drop(former);
        None
    }

    /// Wakes no task when the work is done.
    pub(crate) fn forget_task(&self) {
        let waker = self.progress().waker.take();
        drop(waker);
    }
}
