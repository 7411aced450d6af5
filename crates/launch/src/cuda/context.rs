//! A GPU's context. The memory, streams and graphs of the GPU keep it alive.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::pool::Pool;
use super::primary::Primary;
use super::sys::{self, CUcontext, CUdevice, CUstream, Code};
use crate::completion::Completion;
use crate::error::{Error, Launched};
use crate::objects::Owner;
use crate::properties::Gpu;
use crate::version::CudaVersion;

/// The context of a device, usually its primary one, and the stream in which all work of the device itself is enqueued.
/// Synchronous copies wait for this stream.
pub(super) struct Context {
    pub(super) gpu: Gpu,
    pub(super) driver: CudaVersion,
    pub(super) device: CUdevice,
    last_launch: Mutex<Option<Launched>>,
    lost: OnceLock<(Code, Option<Launched>)>,
    /// True if memory has been copied between this context and another.
    has_peer_copies: AtomicBool,
    /// Freed memory of this context, kept for reuse.
    pub(super) pool: Pool,
    /// The last field, so that everything else of the context is destroyed before.
    base: Base,
}

/// The driver's context, and the device's own stream in it.
pub(super) enum Base {
    Primary(Primary),
    Foreign(ForeignContext),
}

/// Another library's context, with a stream of this crate. Dropping the value destroys the stream and then drops the
/// owner.
pub(super) struct ForeignContext {
    pub(super) context: CUcontext,
    pub(super) stream: CUstream,
    pub(super) _owner: Owner,
}

// SAFETY: any thread may use the handles in which the context is current.
unsafe impl Send for ForeignContext {}
// SAFETY: the driver's functions may be called from several threads at once.
unsafe impl Sync for ForeignContext {}

impl Drop for ForeignContext {
    fn drop(&mut self) {
        // SAFETY: the stream was created with this value, and its context still exists.
        let _ = unsafe { sys::destroy_stream(self.stream) };
    }
}

impl Context {
    /// Makes the context current in the calling thread, or returns an error if the context is lost.
    #[inline]
    pub(super) fn enter(&self) -> Result<(), Error> {
        if let Some(&(code, launch)) = self.lost.get() {
            return Err(context_lost(code, launch));
        }
        self.set_current().map_err(|code| self.error(code, || format!("use {}", self.gpu.name), ""))
    }

    /// Makes the value for `base`, a context of `device`, which must be current.
    pub(super) fn new(gpu: Gpu, driver: CudaVersion, device: CUdevice, base: Base) -> Self {
        let (last_launch, lost) = (Mutex::new(None), OnceLock::new());
        let (has_peer_copies, pool) = (AtomicBool::new(false), Pool::default());
        Self { gpu, driver, device, last_launch, lost, has_peer_copies, pool, base }
    }

    /// Makes the context current in the calling thread. Other users of the driver may have changed the thread's
    /// context, so this function queries it each time. A query costs less than setting the context.
    pub(super) fn set_current(&self) -> Result<(), Code> {
        match sys::current_context() {
            Ok(current) if current == self.raw() => Ok(()),
            // SAFETY: `self` keeps the context.
            _ => unsafe { sys::set_context(self.raw()) },
        }
    }

    pub(super) fn raw(&self) -> CUcontext {
        match &self.base {
            Base::Primary(primary) => primary.context(),
            Base::Foreign(foreign) => foreign.context,
        }
    }

    /// Records that memory may be copied between this context and another.
    pub(super) fn note_peer_copy(&self) {
        self.has_peer_copies.store(true, Ordering::Relaxed);
    }

    /// Waits for copies between this context and others. According to the driver's documentation, freeing memory waits
    /// only for work of the memory's own context. The context must be current.
    pub(super) fn wait_for_peers(&self) {
        if self.has_peer_copies.load(Ordering::Relaxed) {
            // SAFETY: the stream lives as long as `self`. The next call that waits returns the error.
            let _ = unsafe { sys::synchronize(self.stream()) };
        }
    }

    /// Frees the memory in the pool. The driver first waits for all launches. The context must be current.
    pub(super) fn empty_pool(&self) {
        for address in self.pool.take_all() {
            // SAFETY: only the pool had the address.
            let _ = unsafe { sys::free(address) };
        }
    }

    pub(super) fn stream(&self) -> CUstream {
        match &self.base {
            Base::Primary(primary) => primary.stream(),
            Base::Foreign(foreign) => foreign.stream,
        }
    }

    /// Completes `completion` when everything enqueued in `stream`, a stream of this context, is done.
    pub(super) fn notify(&self, stream: CUstream, completion: Arc<Completion>) -> Result<(), Error> {
        self.enter()?;
        // SAFETY: the stream exists in this context, which is current.
        unsafe { sys::notify(stream, completion) }
            .map_err(|code| self.error(code, || "report the end of the work".to_owned(), ""))
    }

    /// Waits for everything enqueued in the device's own stream.
    pub(super) fn synchronize(&self) -> Result<(), Error> {
        self.enter()?;
        // SAFETY: the stream lives as long as `self`.
        unsafe { sys::synchronize(self.stream()) }.map_err(|code| self.error(code, || "synchronize".to_owned(), ""))
    }

    /// Returns the ordinal and the name of the GPU: "GPU 0, NVIDIA H200".
    pub(super) fn device_name(&self) -> String {
        format!("GPU {}, {}", self.gpu.ordinal, self.gpu.name)
    }

    pub(super) fn note(&self, launch: Launched) {
        *self.last_launch.lock().unwrap_or_else(PoisonError::into_inner) = Some(launch);
    }

    /// Returns the error for a driver's code. The code may be the result of this call or of an earlier launch.
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
        // The stream is destroyed next, in the thread's current context.
        if self.set_current().is_ok() && self.lost.get().is_none() {
            self.empty_pool();
        }
    }
}

fn context_lost(code: Code, launch: Option<Launched>) -> Error {
    let (name, text) = code.explain();
    Error::ContextLost { launch, code: code.0, name, text }
}
