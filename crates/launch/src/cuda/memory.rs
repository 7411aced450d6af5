//! Memory of a GPU.

use std::sync::Arc;

use super::context::Context;
use super::sys;
use crate::backend::Allocated;
use crate::error::Error;

/// Bytes in a GPU's memory, freed when dropped.
pub(super) struct DeviceMemory {
    address: u64,
    context: Arc<Context>,
}

impl DeviceMemory {
    /// Memory of `bytes` bytes, at least one.
    pub(super) fn allocate(context: &Arc<Context>, bytes: usize) -> Result<Allocated, Error> {
        context.enter()?;
        match sys::allocate(bytes) {
            Ok(address) => {
                // A GPU's addresses fit those of its host.
                let on_device = std::ptr::without_provenance_mut(address as usize);
                Ok(Allocated::new(Some(on_device), None, Self { address, context: context.clone() }))
            }
            Err(sys::Code::OUT_OF_MEMORY) => Err(Error::OutOfMemory {
                requested_bytes: bytes as u64,
                free_bytes: sys::memory_info().map_or(0, |(free, _)| free as u64),
                device: context.device_name(),
            }),
            Err(code) => Err(context.error(code, || format!("allocate {bytes} bytes"), "")),
        }
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        // An error can only be that of a launch made before, which the next call that waits tells: a failed context
        // stays so, and its memory goes with it.
        if self.context.enter().is_ok() {
            self.context.wait_for_peers();
            // SAFETY: the memory is of this context, was not freed before, and nobody has its address any more. Launches
            // that use it may still run: the driver waits for them before it frees.
            let _ = unsafe { sys::free(self.address) };
        }
    }
}
