//! Memory of the host that a device knows, in bytes.

use std::ptr::{self, NonNull};

use crate::backend::{Allocated, PageLock};
use crate::device::Device;
use crate::error::Error;
use crate::memory::MemoryId;
use crate::ordering;

/// Where each kind of host memory begins at the least.
pub(crate) const ALIGNMENT: usize = 256;

/// Bytes of the host's memory, all initialised, freed when dropped. None at all takes no memory.
pub(crate) struct HostMemory {
    allocated: Option<Allocated>,
    bytes: usize,
    id: MemoryId,
    /// Last, so that the device outlives what it knows.
    device: Device,
}

impl HostMemory {
    /// `bytes` bytes, all zero, that `device` may use in the way of `lock`.
    pub(crate) fn zeroed(device: &Device, bytes: usize, lock: PageLock) -> Result<Self, Error> {
        let allocated = if bytes == 0 { None } else { Some(device.backend().page_lock(bytes, lock)?) };
        let memory = Self { allocated, bytes, id: MemoryId::new(), device: device.clone() };
        if let Some(start) = memory.start() {
            // SAFETY: it was just allocated with that many bytes.
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

    /// The first byte for the host, or what stands for it where there is none; aligned to [`ALIGNMENT`] bytes.
    pub(crate) fn pointer<T>(&self) -> NonNull<T> {
        const { assert!(align_of::<T>() <= ALIGNMENT, "an element is aligned to at most 256 bytes") };
        self.start().map_or(NonNull::dangling(), NonNull::cast)
    }

    /// The first byte for kernels, or what stands for it where there is none. Only of memory that is mapped.
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
        // As for a device's memory.
        if let (Some(start), Some(_)) = (self.start(), self.device.queue_actor()) {
            ordering::forget(&(start.addr().get()..start.addr().get() + self.bytes));
        }
    }
}
