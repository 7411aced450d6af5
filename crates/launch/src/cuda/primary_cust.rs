//! A GPU's primary context with the stream of the device itself, made by `cust`.
//!
//! This module replaces `primary.rs` if the feature `cust` is on.

use cust::context::CurrentContext;
use cust::stream::StreamFlags;

use super::sys::{self, CUcontext, CUdevice, CUstream, Code};

impl From<cust::error::CudaError> for Code {
    fn from(error: cust::error::CudaError) -> Self {
        Self(error as u32)
    }
}

/// A reference to a primary context, and the device's own stream in it. Dropping the value destroys the stream and
/// releases the reference.
pub(super) struct Primary {
    stream: cust::stream::Stream,
    /// The last field, so that the stream is destroyed before the context.
    context: cust::context::Context,
}

impl Primary {
    /// Retains the primary context of `device`, makes it current, and creates a stream.
    pub(super) fn retain(device: CUdevice) -> Result<Self, Code> {
        // `cust` hides the cause if it cannot retain the context, so the driver is called directly first.
        sys::retain_context(device)?;
        let context = cust::device::Device::get_device(device.unsigned_abs()).and_then(cust::context::Context::new);
        // SAFETY: this releases the reference that `retain_context` took; `context` has one of its own. If releasing
        // fails, the context only lives longer.
        let _ = unsafe { sys::release_context(device) };
        let context = context?;
        CurrentContext::set_current(&context)?;
        Ok(Self { stream: cust::stream::Stream::new(StreamFlags::DEFAULT, None)?, context })
    }

    pub(super) fn context(&self) -> CUcontext {
        self.context.as_raw().cast()
    }

    /// Returns the device's own stream, for which synchronous copies wait.
    pub(super) fn stream(&self) -> CUstream {
        self.stream.as_inner().cast()
    }
}
