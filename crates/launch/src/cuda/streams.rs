//! Streams and events of a GPU.

use std::io::Write;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use cuda_std::{Call, LaunchConfig, Params};
use cust::sys::{CUevent, CUstream};

use super::context::Context;
use super::gpu::GpuDevice;
use super::peers;
use super::sys::{self, Code};
use crate::backend::{Backend, BackendStream, Moment};
use crate::error::Error;

/// A stream beside the device's own, destroyed when dropped. It must have been finished before.
pub(super) struct GpuStream<'d> {
    stream: CUstream,
    gpu: &'d GpuDevice,
}

// SAFETY: a stream is a handle that any thread may use in which its context is current.
unsafe impl Send for GpuStream<'_> {}
// SAFETY: as above; the driver takes calls from several threads at once.
unsafe impl Sync for GpuStream<'_> {}

impl<'d> GpuStream<'d> {
    /// A new stream. The context must be current.
    pub(super) fn new(gpu: &'d GpuDevice) -> Result<Self, Error> {
        let stream =
            sys::create_stream().map_err(|code| gpu.context.error(code, || "create a stream".to_owned(), ""))?;
        Ok(Self { stream, gpu })
    }

    pub(super) fn raw(&self) -> CUstream {
        self.stream
    }

    fn cannot(&self, code: Code, what: impl FnOnce() -> String) -> Error {
        self.gpu.context.error(code, what, "")
    }
}

impl BackendStream for GpuStream<'_> {
    unsafe fn upload(&self, to: *mut u8, from: *const u8, bytes: usize, _element: usize) -> Result<(), Error> {
        if bytes == 0 {
            return Ok(());
        }
        self.gpu.context.enter()?;
        // SAFETY: the caller's word.
        unsafe { sys::copy_to_device_in(self.stream, to.addr() as u64, from, bytes) }
            .map_err(|code| self.cannot(code, || format!("upload {bytes} bytes")))
    }

    unsafe fn download(&self, to: *mut u8, from: *const u8, bytes: usize, _element: usize) -> Result<(), Error> {
        if bytes == 0 {
            return Ok(());
        }
        self.gpu.context.enter()?;
        // SAFETY: the caller's word.
        unsafe { sys::copy_to_host_in(self.stream, to, from.addr() as u64, bytes) }
            .map_err(|code| self.cannot(code, || format!("download {bytes} bytes")))
    }

    unsafe fn copy(
        &self,
        (to, target): (*mut u8, &dyn Backend),
        (from, source): (*const u8, &dyn Backend),
        bytes: usize,
        _element: usize,
    ) -> Result<(), Error> {
        let (target, source) = (&self.gpu.same_kind(target)?.context, &self.gpu.same_kind(source)?.context);
        if bytes == 0 {
            return Ok(());
        }
        self.gpu.context.enter()?;
        // SAFETY: the caller's word; the stream is of one of these contexts, which is current.
        unsafe { peers::copy_in(self.stream, (to, target), (from, source), bytes) }
            .map_err(|code| self.cannot(code, || format!("copy {bytes} bytes")))
    }

    unsafe fn launch(&self, config: LaunchConfig, call: &Call<'_>, params: &Params) -> Result<(), Error> {
        // SAFETY: the caller's word; the stream is of this device.
        unsafe { self.gpu.launch_in(self.stream, call.info(), config, params) }
    }

    fn record(&self) -> Result<Moment, Error> {
        GpuEvent::record(&self.gpu.context, self.stream)
    }

    unsafe fn wait(&self, moment: &Moment) -> Result<(), Error> {
        // SAFETY: the caller's word; the stream is of this context.
        unsafe { wait(&self.gpu.context, self.stream, moment) }
    }

    fn synchronize(&self) -> Result<(), Error> {
        self.gpu.context.enter()?;
        // SAFETY: the stream exists in this context.
        unsafe { sys::synchronize(self.stream) }.map_err(|code| self.cannot(code, || "wait for a stream".to_owned()))
    }

    fn finish(&self) -> Result<(), Error> {
        let Err(error) = self.synchronize() else { return Ok(()) };
        let has_ended = match error {
            Error::ContextLost { .. } => true,
            Error::Driver { code, .. } if Code(code).ends_all_work() => true,
            _ => sys::synchronize_context().is_ok(),
        };
        if has_ended {
            return Err(error);
        }
        // The GPU may still write to the host's memory, and the driver gives no way to know when it stops.
        let _ =
            writeln!(std::io::stderr(), "fatal: {error}; the GPU may still access memory that is about to be freed");
        std::process::abort()
    }
}

impl Drop for GpuStream<'_> {
    fn drop(&mut self) {
        if self.gpu.context.enter().is_ok() {
            // SAFETY: the stream is of this context, and nobody has it any more.
            let _ = unsafe { sys::destroy_stream(self.stream) };
        }
    }
}

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
