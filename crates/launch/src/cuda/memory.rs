//! Memory of a GPU.

use std::any::TypeId;
use std::sync::Arc;

use super::context::Context;
use super::pool::Size;
use super::sys;
use crate::backend::Allocated;
use crate::error::Error;

/// The share of a GPU's memory that its pool keeps at most.
const KEPT: u64 = 8;

/// Bytes in a GPU's memory, which go to the context's pool when dropped.
pub(super) struct DeviceMemory {
    address: u64,
    size: Size,
    context: Arc<Context>,
}

impl DeviceMemory {
    /// Memory of `bytes` bytes, at least one; whether it is new, and not what a workspace of that type has left.
    pub(super) fn allocate(
        context: &Arc<Context>,
        bytes: usize,
        workspace: Option<TypeId>,
    ) -> Result<(Allocated, bool), Error> {
        context.enter()?;
        let size = Size::new(bytes, workspace);
        let allocated = |address: u64| {
            // A GPU's addresses fit those of its host.
            let on_device = std::ptr::without_provenance_mut(address as usize);
            Allocated::new(Some(on_device), None, Self { address, size, context: context.clone() })
        };
        if let Some(address) = context.pool.take(size) {
            return Ok((allocated(address), false));
        }
        let mut address = sys::allocate(size.bytes());
        if address == Err(sys::Code::OUT_OF_MEMORY) && context.pool.bytes() > 0 {
            context.empty_pool();
            address = sys::allocate(size.bytes());
        }
        match address {
            Ok(address) => Ok((allocated(address), true)),
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
            let most = usize::try_from(self.context.gpu.memory_bytes / KEPT).unwrap_or(usize::MAX);
            if self.context.pool.keep(self.size, self.address, most) {
                return;
            }
            // SAFETY: the memory is of this context, was not freed before, and nobody has its address any more.
            // Launches that use it may still run: the driver waits for them before it frees.
            let _ = unsafe { sys::free(self.address) };
        }
    }
}
