//! A future for the work of a queue.
//!
//! # Design
//!
//! The driver calls a function of this crate when the work is done, and that function wakes the task. The future and
//! the driver share the [`Completion`], so that either may be dropped first. The driver must call the function also
//! when a kernel has failed; `cuLaunchHostFunc` would not, so the GPU back end uses `cuStreamAddCallback`.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::device::Device;
use crate::error::Error;
use crate::ordering::{self, Clock};

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
    fn poll(&self, waker: &Waker) -> Option<u32> {
        let mut progress = self.progress();
        if progress.code.is_some() || progress.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            return progress.code;
        }
        let former = progress.waker.replace(waker.clone());
        drop(progress);
        drop(former);
        None
    }
}

/// A future that is ready when everything that was enqueued in a queue before
/// [`Queue::finished`](crate::Queue::finished) is done. It works with every executor: on a GPU the driver wakes the
/// task, from a thread of its own; in the simulator the future is ready at once.
///
/// The output is [`Error::ContextLost`] when a launch failed. The future borrows nothing and can be sent to another
/// thread. Dropping it cancels nothing.
///
/// The driver's thread calls the waker of the task. A waker must not call the driver, for example by using a device;
/// those of executors only schedule the task.
#[must_use = "a future does nothing unless it is awaited"]
pub struct Finished {
    completion: Arc<Completion>,
    /// The error of asking the device to report the end of the work.
    error: Option<Error>,
    /// The accesses that are then done, if the device checks streams.
    clock: Option<Clock>,
    /// The last field, so that the device outlives the others.
    device: Device,
}

impl Finished {
    /// Makes a future. `notify` lets the device complete the passed value when the work is done. `clock` is that of the
    /// work.
    pub(crate) fn new(
        device: &Device,
        clock: Option<Clock>,
        notify: impl FnOnce(Arc<Completion>) -> Result<(), Error>,
    ) -> Self {
        let completion = Arc::<Completion>::default();
        let error = notify(completion.clone()).err();
        Self { completion, error, clock, device: device.clone() }
    }
}

impl Future for Finished {
    type Output = Result<(), Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(error) = self.error.take() {
            return Poll::Ready(Err(error));
        }
        let Some(code) = self.completion.poll(context.waker()) else { return Poll::Pending };
        let result = self.device.backend().outcome(code);
        if result.is_ok() {
            self.clock.iter().for_each(ordering::host_waited_for);
        }
        Poll::Ready(result)
    }
}

impl Drop for Finished {
    fn drop(&mut self) {
        let waker = self.completion.progress().waker.take();
        drop(waker);
    }
}

impl fmt::Debug for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Finished").field("device", &self.device.name()).finish_non_exhaustive()
    }
}
