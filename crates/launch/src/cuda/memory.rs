//! Memory of a GPU.

use std::sync::Arc;

use super::gpu::Context;
use super::sys;
use crate::error::Error;

/// Bytes in a GPU's memory, at least one, freed when dropped.
pub(crate) struct DeviceMemory {
    address: u64,
    bytes: usize,
    context: Arc<Context>,
}

impl DeviceMemory {
    pub(super) fn new(context: &Arc<Context>, bytes: usize) -> Result<Self, Error> {
        context.enter()?;
        match sys::allocate(bytes) {
            Ok(address) => Ok(Self { address, bytes, context: context.clone() }),
            Err(sys::Code::OUT_OF_MEMORY) => Err(Error::OutOfMemory {
                requested_bytes: bytes as u64,
                free_bytes: sys::memory_info().map_or(0, |(free, _)| free as u64),
                device: context.device_name(),
            }),
            Err(code) => Err(context.error(code, || format!("allocate {bytes} bytes"), "")),
        }
    }

    /// The address on the device; a GPU's addresses fit those of its host.
    #[inline]
    pub(crate) fn address(&self) -> usize {
        self.address as usize
    }

    /// Copies `data`, which is as long as this, to the device.
    pub(crate) fn write(&self, data: &[u8]) -> Result<(), Error> {
        debug_assert_eq!(data.len(), self.bytes);
        self.context.enter()?;
        // SAFETY: this memory is of this context, has that many bytes, and lives.
        unsafe { sys::copy_to_device(self.address, data) }.map_err(|code| self.cannot("upload", code))
    }

    /// Copies all bytes to `target`.
    ///
    /// # Safety
    /// `target` must be valid for writes of as many bytes as this has.
    pub(crate) unsafe fn read(&self, target: *mut u8) -> Result<(), Error> {
        self.context.enter()?;
        // SAFETY: this memory is of this context, has that many bytes, and lives; `target` is the caller's word.
        unsafe { sys::copy_to_host(target, self.address, self.bytes) }.map_err(|code| self.cannot("download", code))
    }

    /// Sets all bytes to zero, after what was launched before.
    pub(crate) fn zero(&self) -> Result<(), Error> {
        self.context.enter()?;
        // SAFETY: this memory is of this context and has that many bytes; freeing it waits for the stream.
        unsafe { sys::zero(self.address, self.bytes, self.context.stream()) }.map_err(|code| self.cannot("clear", code))
    }

    /// Copies all bytes of `source`, which has as many and is in the same context, after what was launched before.
    pub(crate) fn copy_from(&self, source: &DeviceMemory) -> Result<(), Error> {
        debug_assert_eq!(source.bytes, self.bytes);
        self.context.enter()?;
        // SAFETY: both memories are of this context and have that many bytes; freeing either waits for the stream.
        unsafe { sys::copy_on_device(self.address, source.address, self.bytes, self.context.stream()) }
            .map_err(|code| self.cannot("copy", code))
    }

    fn cannot(&self, what: &str, code: sys::Code) -> Error {
        self.context.error(code, || format!("{what} {} bytes", self.bytes), "")
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        // An error can only be that of a launch made before, which the next call that waits tells: a failed context
        // stays so, and its memory goes with it.
        if self.context.enter().is_ok() {
            // SAFETY: the memory is of this context, was not freed before, and nobody has its address any more. Launches
            // that use it may still run: the driver waits for them before it frees.
            let _ = unsafe { sys::free(self.address) };
        }
    }
}
