//! Events of a GPU.

use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use cust::sys::{CUevent, CUstream};

use super::context::Context;
use super::sys::{self, Code};
use crate::backend::Moment;
use crate::error::Error;

/// A CUDA event. Dropping it destroys it.
pub(super) struct GpuEvent {
    event: CUevent,
    context: Arc<Context>,
}

// SAFETY: any thread in which the event's context is current may use its handle.
unsafe impl Send for GpuEvent {}
// SAFETY: the driver's functions may be called from several threads at once.
unsafe impl Sync for GpuEvent {}

impl GpuEvent {
    /// Records an event that completes when everything enqueued in `stream`, which must be of this context, is done.
    pub(super) fn record(context: &Arc<Context>, stream: CUstream) -> Result<Moment, Error> {
        Self::recorded(context, stream, sys::create_event)
    }

    /// Like [`record`](Self::record), for an event without a time.
    pub(super) fn record_order(context: &Arc<Context>, stream: CUstream) -> Result<Moment, Error> {
        Self::recorded(context, stream, sys::create_ordering_event)
    }

    fn recorded(
        context: &Arc<Context>,
        stream: CUstream,
        create: fn() -> Result<CUevent, Code>,
    ) -> Result<Moment, Error> {
        context.enter()?;
        let cannot = |code| context.error(code, || "record an event".to_owned(), "");
        let event = create().map_err(cannot)?;
        let moment = Self::owned(context, event);
        // SAFETY: `event` was created in this context, and the callers pass a stream of this context.
        unsafe { sys::record_event(event, stream) }.map_err(cannot)?;
        Ok(moment)
    }

    /// Returns a value that stands for `event`, which must be of this context, and destroys it when dropped.
    pub(super) fn owned(context: &Arc<Context>, event: CUevent) -> Moment {
        Moment::new(event.addr() as u64, Self { event, context: context.clone() })
    }
}

impl Drop for GpuEvent {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: the event is of this context, and `self` was its only owner.
            let _ = unsafe { sys::destroy_event(self.event) };
        }
    }
}

/// Returns the handle of the event that `moment`, which must be of this back end, stands for.
pub(super) fn event(moment: &Moment) -> CUevent {
    ptr::without_provenance_mut(moment.number as usize)
}

/// Makes the later work of `stream` wait for `moment`.
///
/// # Safety
/// The stream must be of this context. The event must be of this back end, but may be of another context.
pub(super) unsafe fn wait(context: &Context, stream: CUstream, moment: &Moment) -> Result<(), Error> {
    context.enter()?;
    // SAFETY: the caller guarantees that the stream and the event exist.
    unsafe { sys::wait_in_stream(stream, event(moment)) }
        .map_err(|code| context.error(code, || "wait for an event".to_owned(), ""))
}

/// Waits until `moment` has completed.
///
/// # Safety
/// The event must be of this context, which must be current.
pub(super) unsafe fn finish(context: &Context, moment: &Moment) -> Result<(), Error> {
    // SAFETY: the caller guarantees that the event is of the current context.
    unsafe { sys::wait_for_event(event(moment)) }
        .map_err(|code| context.error(code, || "wait for a copy".to_owned(), ""))
}

/// Waits for both events and returns the device's time between them, or zero if `to` completed first.
///
/// # Safety
/// Both events must be of this context.
pub(super) unsafe fn elapsed(context: &Context, from: &Moment, to: &Moment) -> Result<Duration, Error> {
    context.enter()?;
    // SAFETY: the caller guarantees that both events are of this context.
    let milliseconds = unsafe {
        sys::wait_for_event(event(from))
            .and_then(|()| sys::wait_for_event(event(to)))
            .and_then(|()| sys::elapsed(event(from), event(to)))
    };
    let milliseconds = milliseconds.map_err(|code| context.error(code, || "read an event's time".to_owned(), ""))?;
    Ok(Duration::try_from_secs_f64(f64::from(milliseconds) / 1000.0).unwrap_or_default())
}
