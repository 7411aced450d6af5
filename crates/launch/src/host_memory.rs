//! Memory of the host that a device knows, in bytes.

use std::ptr::{self, NonNull};

use simt::memory::Allocation;

use crate::cuda::{PageLock, PageLockedMemory};
use crate::device::{Backend, Device};
use crate::error::Error;
use crate::resources::MemoryId;

/// Where each kind of host memory begins at the least.
pub(crate) const ALIGNMENT: usize = 256;

/// Bytes of the host's memory, all initialised, freed when dropped. None at all takes no memory.
pub(crate) struct HostMemory {
    place: Place,
    id: MemoryId,
    /// Last, so that the device outlives what it knows.
    device: Device,
}

enum Place {
    Nowhere,
    Simulated(Allocation),
    Gpu(PageLockedMemory),
}

impl HostMemory {
    /// `bytes` bytes, all zero, that `device` may use in the way of `lock`.
    pub(crate) fn zeroed(device: &Device, bytes: usize, lock: PageLock) -> Result<Self, Error> {
        let place = match device.backend() {
            _ if bytes == 0 => Place::Nowhere,
            Backend::Simulated(_) => Allocation::new(bytes)
                .map(Place::Simulated)
                .map_err(|_| Error::OutOfPageLockedMemory { requested_bytes: bytes as u64 })?,
            Backend::Gpu(gpu) => Place::Gpu(gpu.page_lock(bytes, lock)?),
        };
        let memory = Self { place, id: MemoryId::new(), device: device.clone() };
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
        match &self.place {
            Place::Nowhere => ptr::dangling_mut(),
            Place::Simulated(allocation) => allocation.as_ptr().cast(),
            // Memory that is not mapped has no view.
            Place::Gpu(memory) => memory.address().map_or(ptr::dangling_mut(), ptr::without_provenance_mut),
        }
    }

    fn start(&self) -> Option<NonNull<u8>> {
        match &self.place {
            Place::Nowhere => None,
            Place::Simulated(allocation) => NonNull::new(allocation.as_ptr()),
            Place::Gpu(memory) => Some(memory.start()),
        }
    }
}
