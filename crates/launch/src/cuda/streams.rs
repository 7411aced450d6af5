//! Streams of a GPU.

use std::ffi::c_void;
use std::io::Write;
use std::sync::Arc;

use cuda_std::{Call, LaunchConfig, Params};

use super::context::Context;
use super::events::{self, GpuEvent};
use super::gpu::GpuDevice;
use super::peers;
use super::sys::{self, CUstream, Code};
use crate::backend::{Backend, BackendStream};
use crate::completion::Completion;
use crate::error::Error;
use crate::objects::{BackendEvent, Owner};

/// A stream in addition to the device's own one. Dropping the value destroys the stream, whose work continues. The
/// caller must first call `finish`, or make the device's own stream wait for an event of it.
pub(super) struct GpuStream {
    stream: CUstream,
    context: Arc<Context>,
    /// The owner of the stream, if another library made it.
    owner: Option<Owner>,
}

// SAFETY: any thread in which the context is current may use the stream's handle.
unsafe impl Send for GpuStream {}
// SAFETY: the driver's functions may be called from several threads at once.
unsafe impl Sync for GpuStream {}

impl GpuStream {
    /// Creates a stream of `context`, which must be current.
    pub(super) fn new(context: &Arc<Context>) -> Result<Self, Error> {
        let stream = sys::create_stream(sys::NON_BLOCKING)
            .map_err(|code| context.error(code, || "create a stream".to_owned(), ""))?;
        Ok(Self { stream, context: context.clone(), owner: None })
    }

    /// Uses another library's stream of `context`.
    ///
    /// # Safety
    /// The stream must live as long as `owner`.
    pub(super) unsafe fn foreign(context: &Arc<Context>, stream: CUstream, owner: Owner) -> Self {
        Self { stream, context: context.clone(), owner: Some(owner) }
    }

    pub(super) fn raw(&self) -> CUstream {
        self.stream
    }

    fn cannot(&self, code: Code, what: impl FnOnce() -> String) -> Error {
        self.context.error(code, what, "")
    }
}

impl BackendStream for GpuStream {
    unsafe fn upload(&self, to: *mut u8, from: *const u8, bytes: usize, _element: usize) -> Result<(), Error> {
        if bytes == 0 {
            return Ok(());
        }
        self.context.enter()?;
        // SAFETY: `BackendStream::upload` requires that both addresses are valid until the copy is done.
        unsafe { sys::copy_to_device_in(self.stream, to.addr() as u64, from, bytes) }
            .map_err(|code| self.cannot(code, || format!("upload {bytes} bytes")))
    }

    unsafe fn download(&self, to: *mut u8, from: *const u8, bytes: usize, _element: usize) -> Result<(), Error> {
        if bytes == 0 {
            return Ok(());
        }
        self.context.enter()?;
        // SAFETY: `BackendStream::download` requires that both addresses are valid until the copy is done.
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
        let gpu = |device| GpuDevice::of_backend(device, &self.context);
        let (target, source) = (&gpu(target)?.context, &gpu(source)?.context);
        if bytes == 0 {
            return Ok(());
        }
        self.context.enter()?;
        if !Arc::ptr_eq(source, target) {
            source.note_peer_copy();
            target.note_peer_copy();
        }
        // SAFETY: `BackendStream::copy` requires that the bytes live until the copy is done, and that the stream is of
        // one of these contexts, which is current.
        unsafe { peers::copy_in(self.stream, (to, target), (from, source), bytes) }
            .map_err(|code| self.cannot(code, || format!("copy {bytes} bytes")))
    }

    unsafe fn zero(&self, start: *mut u8, bytes: usize) -> Result<(), Error> {
        self.context.enter()?;
        // SAFETY: `BackendStream::zero` requires that the bytes live until they are zero.
        unsafe { sys::zero(start.addr() as u64, bytes, self.stream) }
            .map_err(|code| self.cannot(code, || format!("clear {bytes} bytes")))
    }

    unsafe fn copy_buffer(&self, to: *mut u8, from: *const u8, bytes: usize) -> Result<(), Error> {
        self.context.enter()?;
        // SAFETY: `BackendStream::copy_buffer` requires that the bytes live until the copy is done.
        unsafe { sys::copy_on_device(to.addr() as u64, from.addr() as u64, bytes, self.stream) }
            .map_err(|code| self.cannot(code, || format!("copy {bytes} bytes")))
    }

    unsafe fn launch(
        &self,
        device: &dyn Backend,
        config: LaunchConfig,
        call: &Call<'_>,
        params: &Params,
    ) -> Result<(), Error> {
        let gpu = GpuDevice::of_backend(device, &self.context)?;
        // SAFETY: `BackendStream::launch` requires memory of this device, which is the device of the stream.
        unsafe { gpu.launch_in(self.stream, call.info(), config, params) }
    }

    fn record(&self) -> Result<BackendEvent, Error> {
        GpuEvent::record(&self.context, self.stream)
    }

    fn record_order(&self) -> Result<BackendEvent, Error> {
        GpuEvent::record_order(&self.context, self.stream)
    }

    fn notify(&self, completion: Arc<Completion>) -> Result<(), Error> {
        self.context.notify(self.stream, completion)
    }

    unsafe fn wait(&self, event: &BackendEvent) -> Result<(), Error> {
        // SAFETY: `BackendStream::wait` requires an event of this back end; the stream is of this context.
        unsafe { events::wait(&self.context, self.stream, event) }
    }

    fn raw(&self) -> *mut c_void {
        self.stream.cast()
    }

    fn synchronize(&self) -> Result<(), Error> {
        self.context.enter()?;
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
        // The GPU may still write to the host's memory, and the driver cannot report when it stops.
        let _ =
            writeln!(std::io::stderr(), "fatal: {error}; the GPU may still access memory that is about to be freed");
        std::process::abort()
    }
}

impl Drop for GpuStream {
    fn drop(&mut self) {
        if self.owner.is_none() && self.context.enter().is_ok() {
            // SAFETY: the stream is of this context, and `self` was its only owner.
            let _ = unsafe { sys::destroy_stream(self.stream) };
        }
    }
}
