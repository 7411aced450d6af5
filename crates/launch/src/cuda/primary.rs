//! A GPU's primary context with the stream of the device itself, made by the driver's functions.
//!
//! With the feature `cust`, `primary_cust.rs` replaces this module: `cust` then makes the context and the stream.

use super::sys::{self, CUcontext, CUdevice, CUstream, Code};

/// A reference to a primary context, and the device's own stream in it. Dropping the value destroys the stream and
/// releases the reference.
pub(super) struct Primary {
    device: CUdevice,
    context: CUcontext,
    stream: CUstream,
}

// SAFETY: any thread may use the handles in which the context is current.
unsafe impl Send for Primary {}
// SAFETY: the driver's functions may be called from several threads at once.
unsafe impl Sync for Primary {}

impl Primary {
    /// Retains the primary context of `device`, makes it current, and creates a stream.
    pub(super) fn retain(device: CUdevice) -> Result<Self, Code> {
        let mut primary = Self { device, context: sys::retain_context(device)?, stream: sys::DEFAULT_STREAM };
        // SAFETY: `primary` keeps the context.
        unsafe { sys::set_context(primary.context) }?;
        primary.stream = sys::create_stream(sys::BLOCKING)?;
        Ok(primary)
    }

    pub(super) fn context(&self) -> CUcontext {
        self.context
    }

    /// Returns the device's own stream, for which synchronous copies wait.
    pub(super) fn stream(&self) -> CUstream {
        self.stream
    }
}

impl Drop for Primary {
    fn drop(&mut self) {
        if self.stream != sys::DEFAULT_STREAM {
            // SAFETY: `self` was the only owner of the stream. Its context still exists.
            let _ = unsafe { sys::destroy_stream(self.stream) };
        }
        // SAFETY: all objects of the context that this device made are destroyed or have references of their own.
        let _ = unsafe { sys::release_context(self.device) };
    }
}
