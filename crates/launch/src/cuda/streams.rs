//! Streams of a GPU.

use std::io::Write;

use cuda_std::{Call, LaunchConfig, Params};

use super::events::{self, GpuEvent};
use super::gpu::GpuDevice;
use super::peers;
use super::sys::{self, CUstream, Code};
use crate::backend::{Backend, BackendEvent, BackendStream};
use crate::error::Error;

/// A stream in addition to the device's own one. Dropping the value destroys the stream; the caller must call `finish`
/// first.
pub(super) struct GpuStream<'d> {
    stream: CUstream,
    gpu: &'d GpuDevice,
}

// SAFETY: any thread in which the context is current may use the stream's handle.
unsafe impl Send for GpuStream<'_> {}
// SAFETY: the driver's functions may be called from several threads at once.
unsafe impl Sync for GpuStream<'_> {}

impl<'d> GpuStream<'d> {
    /// Creates a stream. The context must be current.
    pub(super) fn new(gpu: &'d GpuDevice) -> Result<Self, Error> {
        let stream = sys::create_stream(sys::NON_BLOCKING)
            .map_err(|code| gpu.context.error(code, || "create a stream".to_owned(), ""))?;
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
        // SAFETY: `BackendStream::upload` requires that both addresses are valid until the copy is done.
        unsafe { sys::copy_to_device_in(self.stream, to.addr() as u64, from, bytes) }
            .map_err(|code| self.cannot(code, || format!("upload {bytes} bytes")))
    }

    unsafe fn download(&self, to: *mut u8, from: *const u8, bytes: usize, _element: usize) -> Result<(), Error> {
        if bytes == 0 {
            return Ok(());
        }
        self.gpu.context.enter()?;
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
        let (target, source) = (&self.gpu.same_kind(target)?.context, &self.gpu.same_kind(source)?.context);
        if bytes == 0 {
            return Ok(());
        }
        self.gpu.context.enter()?;
        // SAFETY: `BackendStream::copy` requires that the bytes live until the copy is done, and that the stream is of
        // one of these contexts, which is current.
        unsafe { peers::copy_in(self.stream, (to, target), (from, source), bytes) }
            .map_err(|code| self.cannot(code, || format!("copy {bytes} bytes")))
    }

    unsafe fn launch(&self, config: LaunchConfig, call: &Call<'_>, params: &Params) -> Result<(), Error> {
        // SAFETY: `BackendStream::launch` requires memory of this device; the stream is of this device.
        unsafe { self.gpu.launch_in(self.stream, call.info(), config, params) }
    }

    fn record(&self) -> Result<BackendEvent, Error> {
        GpuEvent::record(&self.gpu.context, self.stream)
    }

    unsafe fn wait(&self, event: &BackendEvent) -> Result<(), Error> {
        // SAFETY: `BackendStream::wait` requires an event of this back end; the stream is of this context.
        unsafe { events::wait(&self.gpu.context, self.stream, event) }
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
        // The GPU may still write to the host's memory, and the driver cannot report when it stops.
        let _ =
            writeln!(std::io::stderr(), "fatal: {error}; the GPU may still access memory that is about to be freed");
        std::process::abort()
    }
}

impl Drop for GpuStream<'_> {
    fn drop(&mut self) {
        if self.gpu.context.enter().is_ok() {
            // SAFETY: the stream is of this context, and `self` was its only owner.
            let _ = unsafe { sys::destroy_stream(self.stream) };
        }
    }
}
