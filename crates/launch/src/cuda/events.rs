//! Events of a GPU.

use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use cust::sys::{CUevent, CUstream};

use super::context::Context;
use super::sys::{self, Code};
use crate::backend::Moment;
use crate::error::Error;

/// A point in a stream, destroyed when dropped.
pub(super) struct GpuEvent {
    event: CUevent,
    context: Arc<Context>,
}

// SAFETY: an event is a handle that any thread may use in which its context is current.
unsafe impl Send for GpuEvent {}
// SAFETY: as above; the driver takes calls from several threads at once.
unsafe impl Sync for GpuEvent {}

impl GpuEvent {
    /// A moment when everything asked of `stream`, which is of this context, is done.
    pub(super) fn record(context: &Arc<Context>, stream: CUstream) -> Result<Moment, Error> {
        Self::recorded(context, stream, sys::create_event)
    }

    /// As [`record`](Self::record), without a time.
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
        // SAFETY: both exist in this context.
        unsafe { sys::record_event(event, stream) }.map_err(cannot)?;
        Ok(moment)
    }

    /// The moment that `event`, of this context, stands for, which is destroyed with it.
    pub(super) fn owned(context: &Arc<Context>, event: CUevent) -> Moment {
        Moment::new(event.addr() as u64, Self { event, context: context.clone() })
    }
}

impl Drop for GpuEvent {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: the event is of this context, and nobody has it any more.
            let _ = unsafe { sys::destroy_event(self.event) };
        }
    }
}

/// The event that `moment`, of this back end, stands for: a handle, behind which only the driver looks.
pub(super) fn event(moment: &Moment) -> CUevent {
    ptr::without_provenance_mut(moment.number as usize)
}

/// Makes what comes later in `stream` wait for `moment`.
///
/// # Safety
/// The stream must be of this context, and the moment of this back end, though it may be of another context.
pub(super) unsafe fn wait(context: &Context, stream: CUstream, moment: &Moment) -> Result<(), Error> {
    context.enter()?;
    // SAFETY: both exist.
    unsafe { sys::wait_in_stream(stream, event(moment)) }
        .map_err(|code| context.error(code, || "wait for an event".to_owned(), ""))
}

/// Waits until `moment` has come.
///
/// # Safety
/// It must be of this context, which must be current.
pub(super) unsafe fn finish(context: &Context, moment: &Moment) -> Result<(), Error> {
    // SAFETY: the caller's word.
    unsafe { sys::wait_for_event(event(moment)) }
        .map_err(|code| context.error(code, || "wait for a copy".to_owned(), ""))
}

/// The device's time between two moments; nothing if it is the other way round. Waits for both.
///
/// # Safety
/// Both must be of this context.
pub(super) unsafe fn elapsed(context: &Context, from: &Moment, to: &Moment) -> Result<Duration, Error> {
    context.enter()?;
    // SAFETY: both exist in this context.
    let milliseconds = unsafe {
        sys::wait_for_event(event(from))
            .and_then(|()| sys::wait_for_event(event(to)))
            .and_then(|()| sys::elapsed(event(from), event(to)))
    };
    let milliseconds = milliseconds.map_err(|code| context.error(code, || "read an event's time".to_owned(), ""))?;
    Ok(Duration::try_from_secs_f64(f64::from(milliseconds) / 1000.0).unwrap_or_default())
}
