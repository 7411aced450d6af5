//! A future for the work of a queue.
//!
//! # Design
//!
//! The driver calls a function of this crate when the work is done, and that function wakes the task. The future and
//! the driver share the [`Completion`], so that either may be dropped first. The driver must call the function also
//! when a kernel has failed; `cuLaunchHostFunc` would not, so the GPU back end uses `cuStreamAddCallback`.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::completion::Completion;
use crate::device::Device;
use crate::error::Error;
use crate::ordering::{self, Clock};

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
        self.completion.forget_task();
    }
}

impl fmt::Debug for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Finished").field("device", &self.device.name()).finish_non_exhaustive()
    }
}
