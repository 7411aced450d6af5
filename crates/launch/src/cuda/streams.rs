//! Streams and events of a GPU.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use cust::sys::{CUevent, CUstream};

use super::gpu::Context;
use super::sys::{self, Code};
use crate::error::Error;

/// A stream beside the device's own, destroyed when dropped. It must have been finished before.
pub(crate) struct GpuStream {
    stream: CUstream,
    context: Arc<Context>,
}

// SAFETY: a stream is a handle that any thread may use in which its context is current.
unsafe impl Send for GpuStream {}
// SAFETY: as above; the driver takes calls from several threads at once.
unsafe impl Sync for GpuStream {}

impl GpuStream {
    /// A new stream. The context must be current.
    pub(super) fn new(context: &Arc<Context>) -> Result<Self, Error> {
        let stream = sys::create_stream().map_err(|code| context.error(code, || "create a stream".to_owned(), ""))?;
        Ok(Self { stream, context: context.clone() })
    }

    pub(super) fn raw(&self) -> CUstream {
        self.stream
    }

    /// Copies `bytes` bytes to the device.
    ///
    /// # Safety
    /// At `address` must be that many bytes of this device's memory. Both they and `source` must stay until the copy is
    /// done, and `source` unchanged.
    pub(crate) unsafe fn upload(&self, address: usize, source: *const u8, bytes: usize) -> Result<(), Error> {
        if bytes == 0 {
            return Ok(());
        }
        self.context.enter()?;
        // SAFETY: the caller's word.
        unsafe { sys::copy_to_device_in(self.stream, address as u64, source, bytes) }
            .map_err(|code| self.cannot(code, || format!("upload {bytes} bytes")))
    }

    /// Copies `bytes` bytes to the host.
    ///
    /// # Safety
    /// At `address` must be that many bytes of this device's memory. Both they and `target` must stay until the copy is
    /// done, and nobody else may access `target`.
    pub(crate) unsafe fn download(&self, target: *mut u8, address: usize, bytes: usize) -> Result<(), Error> {
        if bytes == 0 {
            return Ok(());
        }
        self.context.enter()?;
        // SAFETY: the caller's word.
        unsafe { sys::copy_to_host_in(self.stream, target, address as u64, bytes) }
            .map_err(|code| self.cannot(code, || format!("download {bytes} bytes")))
    }

    pub(crate) fn record(&self) -> Result<GpuEvent, Error> {
        self.context.enter()?;
        let cannot = |code| self.cannot(code, || "record an event".to_owned());
        let event = GpuEvent { event: sys::create_event().map_err(cannot)?, context: self.context.clone() };
        // SAFETY: both exist in this context.
        unsafe { sys::record_event(event.event, self.stream) }.map_err(cannot)?;
        Ok(event)
    }

    /// Lets what comes later wait for `event`, which is of the same device.
    pub(crate) fn wait(&self, event: &GpuEvent) -> Result<(), Error> {
        self.context.enter()?;
        // SAFETY: both exist in this context.
        unsafe { sys::wait_in_stream(self.stream, event.event) }
            .map_err(|code| self.cannot(code, || "wait for an event".to_owned()))
    }

    pub(crate) fn synchronize(&self) -> Result<(), Error> {
        self.context.enter()?;
        // SAFETY: the stream exists in this context.
        unsafe { sys::synchronize(self.stream) }.map_err(|code| self.cannot(code, || "wait for a stream".to_owned()))
    }

    /// Waits until nothing runs in the stream any more. Only then does it return, also with an error: what the stream
    /// used may then go.
    pub(crate) fn finish(&self) -> Result<(), Error> {
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

    fn cannot(&self, code: Code, what: impl FnOnce() -> String) -> Error {
        self.context.error(code, what, "")
    }
}

impl Drop for GpuStream {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: the stream is of this context, and nobody has it any more.
            let _ = unsafe { sys::destroy_stream(self.stream) };
        }
    }
}

/// A point in a stream, destroyed when dropped.
pub(crate) struct GpuEvent {
    event: CUevent,
    context: Arc<Context>,
}

// SAFETY: an event is a handle that any thread may use in which its context is current.
unsafe impl Send for GpuEvent {}
// SAFETY: as above; the driver takes calls from several threads at once.
unsafe impl Sync for GpuEvent {}

impl GpuEvent {
    /// The device's time from `earlier`, of the same device, to this; nothing if it is the other way round. Waits for
    /// both.
    pub(crate) fn elapsed_since(&self, earlier: &GpuEvent) -> Result<Duration, Error> {
        self.context.enter()?;
        // SAFETY: both exist in this context.
        let milliseconds = unsafe {
            sys::wait_for_event(earlier.event)
                .and_then(|()| sys::wait_for_event(self.event))
                .and_then(|()| sys::elapsed(earlier.event, self.event))
        };
        let milliseconds =
            milliseconds.map_err(|code| self.context.error(code, || "read an event's time".to_owned(), ""))?;
        Ok(Duration::try_from_secs_f64(f64::from(milliseconds) / 1000.0).unwrap_or_default())
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
