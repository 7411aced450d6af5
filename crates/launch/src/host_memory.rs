//! Page-locked host memory, in bytes. For the simulator it is ordinary memory.

use std::ptr::{self, NonNull};

use crate::device::Device;
use crate::error::Error;
use crate::memory::{ALIGNMENT, MemoryId};
use crate::objects::{Allocated, PageLock};
use crate::ordering;

/// A piece of initialised host memory. Dropping it frees the memory. No memory is allocated for zero bytes.
pub(crate) struct HostMemory {
    allocated: Option<Allocated>,
    bytes: usize,
    id: MemoryId,
    /// The device. This is the last field, so that the device is dropped after the memory.
    device: Device,
}

impl HostMemory {
    /// Allocates `bytes` bytes, all zero, that `device` may use for the purpose `lock`.
    pub(crate) fn zeroed(device: &Device, bytes: usize, lock: PageLock) -> Result<Self, Error> {
        let allocated = if bytes == 0 { None } else { Some(device.backend().page_lock(bytes, lock)?) };
        let memory = Self { allocated, bytes, id: MemoryId::new(), device: device.clone() };
        if let Some(start) = memory.start() {
            // SAFETY: the memory was just allocated with `bytes` bytes.
            unsafe { start.write_bytes(0, bytes) };
        }
        Ok(memory)
    }

    pub(crate) fn id(&self) -> MemoryId {
        self.id
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the pointer by which the host accesses the first byte, aligned to [`ALIGNMENT`] bytes. The pointer is
    /// dangling if the memory has no bytes.
    pub(crate) fn pointer<T>(&self) -> NonNull<T> {
        const { assert!(align_of::<T>() <= ALIGNMENT, "elements must not be aligned to more than 256 bytes") };
        self.start().map_or(NonNull::dangling(), NonNull::cast)
    }

    /// Returns the pointer by which kernels access the first byte. It is dangling if the memory has no bytes. The
    /// memory must be mapped.
    pub(crate) fn device_pointer<T>(&self) -> *mut T {
        let start = self.allocated.as_ref().and_then(|allocated| allocated.on_device);
        start.map_or(ptr::dangling_mut(), <*mut u8>::cast)
    }

    fn start(&self) -> Option<NonNull<u8>> {
        self.allocated.as_ref()?.on_host
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        if self.allocated.is_some() {
            self.device.queues().join_streams_to_free();
        }
        // The address may be allocated again, as for a device's memory.
        if let (Some(start), Some(_)) = (self.start(), self.device.queue_actor()) {
            ordering::forget(&(start.addr().get()..start.addr().get() + self.bytes));
        }
    }
}
