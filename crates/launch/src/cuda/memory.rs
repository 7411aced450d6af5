//! Memory of a GPU.

use std::any::TypeId;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use super::context::Context;
use super::pool::Size;
use super::sys;
use crate::error::Error;
use crate::objects::Allocated;

/// The maximum size of the pool is the GPU's memory size divided by this number.
const POOL_DIVISOR: u64 = 8;

/// A piece of a GPU's memory. Dropping it returns the memory to the context's pool.
pub(super) struct DeviceMemory {
    address: u64,
    size: Size,
    /// True if the pool may keep the memory when it is freed.
    is_pooled: bool,
    context: Arc<Context>,
}

impl DeviceMemory {
    /// Allocates `bytes` bytes, at least one. Also returns true if the memory is new, false if it comes from the pool.
    pub(super) fn allocate(
        context: &Arc<Context>,
        bytes: usize,
        workspace: Option<TypeId>,
    ) -> Result<(Allocated, bool), Error> {
        context.enter()?;
        let size = Size::new(bytes, workspace);
        let allocated = |address: u64| {
            // A GPU's addresses fit into the host's `usize`.
            let on_device = std::ptr::without_provenance_mut(address as usize);
            Allocated::new(Some(on_device), None, Self { address, size, is_pooled: true, context: context.clone() })
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

impl DeviceMemory {
    /// Takes the `bytes` bytes at `address`.
    ///
    /// # Safety
    /// The memory must be an allocation of this context without another owner.
    pub(super) unsafe fn adopt(context: &Arc<Context>, address: u64, bytes: usize) -> Self {
        // The allocation may be smaller than those of the pool.
        Self { address, size: Size::new(bytes, None), is_pooled: false, context: context.clone() }
    }

    /// Gives up the memory without freeing it.
    pub(super) fn release(self) {
        let memory = ManuallyDrop::new(self);
        // SAFETY: `memory` is not used again and does not drop its context.
        drop(unsafe { std::ptr::read(&memory.context) });
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        // If this fails, an earlier launch has failed, and the next call that waits returns the error. A failed context
        // stays failed, and its memory is released with it.
        if self.context.enter().is_ok() {
            self.context.wait_for_peers();
            let max = usize::try_from(self.context.gpu.memory_bytes / POOL_DIVISOR).unwrap_or(usize::MAX);
            if self.is_pooled && self.context.pool.keep(self.size, self.address, max) {
                return;
            }
            if !self.is_pooled {
                // The driver frees memory of `cuMemAllocAsync` without waiting for its work.
                // SAFETY: the stream lives as long as the context. The next call that waits returns the error.
                let _ = unsafe { sys::synchronize(self.context.stream()) };
            }
            // SAFETY: the memory is of this context and was not freed before, and `self` was its only owner. The driver
            // waits for launches that use it before it frees.
            let _ = unsafe { sys::free(self.address) };
        }
    }
}
