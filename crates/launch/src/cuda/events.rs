//! Events of a GPU.

use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use super::context::Context;
use super::sys::{self, CUevent, CUstream};
use crate::error::Error;
use crate::objects::BackendEvent;

/// A CUDA event. Dropping the value destroys the event.
pub(super) struct GpuEvent {
    event: CUevent,
    context: Arc<Context>,
}

// SAFETY: any thread in which the event's context is current may use its handle.
unsafe impl Send for GpuEvent {}
// SAFETY: the driver's functions may be called from several threads at once.
unsafe impl Sync for GpuEvent {}

impl GpuEvent {
    /// Records an event in `stream`, which must belong to this context. The event completes when everything enqueued
    /// there is done.
    pub(super) fn record(context: &Arc<Context>, stream: CUstream) -> Result<BackendEvent, Error> {
        Self::recorded(context, stream, 0)
    }

    /// Records an event like [`record`](Self::record), but without a time.
    pub(super) fn record_order(context: &Arc<Context>, stream: CUstream) -> Result<BackendEvent, Error> {
        Self::recorded(context, stream, sys::DISABLE_TIMING)
    }

    fn recorded(context: &Arc<Context>, stream: CUstream, flags: u32) -> Result<BackendEvent, Error> {
        context.enter()?;
        let cannot = |code| context.error(code, || "record an event".to_owned(), "");
        let handle = sys::create_event(flags).map_err(cannot)?;
        let event = Self::owned(context, handle);
        // SAFETY: `handle` was created in this context, and the callers pass a stream of this context.
        unsafe { sys::record_event(handle, stream) }.map_err(cannot)?;
        Ok(event)
    }

    /// Returns an event that owns the driver's `event`, which must belong to this context.
    pub(super) fn owned(context: &Arc<Context>, event: CUevent) -> BackendEvent {
        BackendEvent::new(event.addr() as u64, Self { event, context: context.clone() })
    }
}

impl Drop for GpuEvent {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: the event belongs to this context, and `self` was its only owner.
            let _ = unsafe { sys::destroy_event(self.event) };
        }
    }
}

/// Returns the driver's handle of `event`, which must belong to the GPU back end.
pub(super) fn raw(event: &BackendEvent) -> CUevent {
    ptr::without_provenance_mut(event.number as usize)
}

/// Makes the later work of `stream` wait for `event`.
///
/// # Safety
/// The stream must belong to this context. The event must belong to the GPU back end, but may belong to another
/// context.
pub(super) unsafe fn wait(context: &Context, stream: CUstream, event: &BackendEvent) -> Result<(), Error> {
    context.enter()?;
    // SAFETY: the caller guarantees that the stream and the event exist.
    unsafe { sys::wait_in_stream(stream, raw(event)) }
        .map_err(|code| context.error(code, || "wait for an event".to_owned(), ""))
}

/// Waits until `event` has completed.
///
/// # Safety
/// The event must belong to this context, which must be current.
pub(super) unsafe fn finish(context: &Context, event: &BackendEvent) -> Result<(), Error> {
    // SAFETY: the caller guarantees that the event is of the current context.
    unsafe { sys::wait_for_event(raw(event)) }
        .map_err(|code| context.error(code, || "wait for an event".to_owned(), ""))
}

/// Waits for both events and returns the device's time between them, or zero if `to` completed first.
///
/// # Safety
/// Both events must belong to this context.
pub(super) unsafe fn elapsed(context: &Context, from: &BackendEvent, to: &BackendEvent) -> Result<Duration, Error> {
    context.enter()?;
    // SAFETY: the caller guarantees that both events belong to this context.
    let milliseconds = unsafe {
        sys::wait_for_event(raw(from))
            .and_then(|()| sys::wait_for_event(raw(to)))
            .and_then(|()| sys::elapsed(raw(from), raw(to)))
    };
    let milliseconds = milliseconds.map_err(|code| context.error(code, || "read an event's time".to_owned(), ""))?;
    Ok(Duration::try_from_secs_f64(f64::from(milliseconds) / 1000.0).unwrap_or_default())
}
