//! A GPU's context: what memory, streams and graphs of it need.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use cust::context::CurrentContext;
use cust::stream::{Stream, StreamFlags};
use cust::sys::{CUcontext, CUstream};

use super::pool::Pool;
use super::sys::{self, Code};
use crate::error::{Error, Launched};
use crate::properties::Gpu;
use crate::version::CudaVersion;

/// What a GPU's memory needs to outlive the rest: the primary context of the device, and the stream in which everything
/// is done. The stream is one that the synchronous copies wait for.
pub(super) struct Context {
    pub(super) gpu: Gpu,
    pub(super) driver: CudaVersion,
    pub(super) device: cust::device::Device,
    last_launch: Mutex<Option<Launched>>,
    lost: OnceLock<(Code, Option<Launched>)>,
    /// Whether memory has been copied to or from another context.
    has_peer_copies: AtomicBool,
    /// Freed memory of this context.
    pub(super) pool: Pool,
    stream: Stream,
    /// Last, so that the stream is destroyed before.
    context: cust::context::Context,
}

impl Context {
    /// Makes the context that of the calling thread, unless it is lost.
    #[inline]
    pub(super) fn enter(&self) -> Result<(), Error> {
        if let Some(&(code, launch)) = self.lost.get() {
            return Err(context_lost(code, launch));
        }
        self.set_current().map_err(|code| self.error(code, || format!("use {}", self.gpu.name), ""))
    }

    /// The context of `device`, which is current then.
    pub(super) fn new(gpu: Gpu, driver: CudaVersion, device: cust::device::Device) -> Result<Self, Code> {
        // `cust` does not say exactly what is wrong if it cannot have the context: ask for it first.
        sys::retain_context(device.as_raw())?;
        let context = cust::context::Context::new(device);
        // SAFETY: `context` has retained it, or is none. A failure to release only keeps it longer.
        let _ = unsafe { sys::release_context(device.as_raw()) };
        let context = context?;
        CurrentContext::set_current(&context)?;
        let stream = Stream::new(StreamFlags::DEFAULT, None)?;
        let (last_launch, lost) = (Mutex::new(None), OnceLock::new());
        let (has_peer_copies, pool) = (AtomicBool::new(false), Pool::default());
        Ok(Self { gpu, driver, device, last_launch, lost, has_peer_copies, pool, stream, context })
    }

    /// The thread's context may have been changed by whoever else uses the driver, so that the driver is asked; that
    /// costs less than setting it.
    pub(super) fn set_current(&self) -> Result<(), Code> {
        match sys::current_context() {
            Ok(current) if current == self.context.as_raw() => Ok(()),
            _ => CurrentContext::set_current(&self.context).map_err(Code::from),
        }
    }

    pub(super) fn raw(&self) -> CUcontext {
        self.context.as_raw()
    }

    /// Notes that another context's stream may use memory of this one, or this one's stream another's.
    pub(super) fn note_peer_copy(&self) {
        self.has_peer_copies.store(true, Ordering::Relaxed);
    }

    /// Waits for copies between this context and others. That the driver waits before it frees memory is said of its
    /// own context's work. The context must be current.
    pub(super) fn wait_for_peers(&self) {
        if self.has_peer_copies.load(Ordering::Relaxed) {
            // SAFETY: the stream lives as long as this. An error is told by the next call that waits.
            let _ = unsafe { sys::synchronize(self.stream()) };
        }
    }

    /// Gives what the pool keeps back to the driver, after all launches. The context must be current.
    pub(super) fn empty_pool(&self) {
        for address in self.pool.take_all() {
            // SAFETY: the pool alone had it.
            let _ = unsafe { sys::free(address) };
        }
    }

    pub(super) fn stream(&self) -> CUstream {
        self.stream.as_inner()
    }

    /// Waits for everything in the device's own stream.
    pub(super) fn synchronize(&self) -> Result<(), Error> {
        self.enter()?;
        // SAFETY: the stream lives as long as this.
        unsafe { sys::synchronize(self.stream()) }.map_err(|code| self.error(code, || "synchronize".to_owned(), ""))
    }

    /// "GPU 0, NVIDIA H200".
    pub(super) fn device_name(&self) -> String {
        format!("GPU {}, {}", self.gpu.ordinal, self.gpu.name)
    }

    pub(super) fn note(&self, launch: Launched) {
        *self.last_launch.lock().unwrap_or_else(PoisonError::into_inner) = Some(launch);
    }

    /// The error that is the driver's answer to what it was asked, or to a launch made before.
    pub(super) fn error(&self, code: Code, what: impl FnOnce() -> String, remedy: &'static str) -> Error {
        if code.loses_context() {
            let launch = *self.last_launch.lock().unwrap_or_else(PoisonError::into_inner);
            let &(code, launch) = self.lost.get_or_init(|| (code, launch));
            return context_lost(code, launch);
        }
        let (name, text) = code.explain();
        Error::Driver { what: what(), code: code.0, name, text, remedy }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // The stream is destroyed next, in the thread's context.
        if self.set_current().is_ok() && self.lost.get().is_none() {
            self.empty_pool();
        }
    }
}

fn context_lost(code: Code, launch: Option<Launched>) -> Error {
    let (name, text) = code.explain();
    Error::ContextLost { launch, code: code.0, name, text }
}
