//! A piece of a device's memory, in bytes.

use std::ptr;

use simt::memory::Allocation;

use crate::cuda::DeviceMemory;
use crate::device::{Backend, Device};
use crate::error::Error;
use crate::resources::MemoryId;

/// Bytes in a device's memory, freed when dropped. None at all takes no memory.
pub(crate) struct Memory {
    place: Place,
    bytes: usize,
    id: MemoryId,
    /// Last, so that the device outlives what is in its memory.
    device: Device,
}

enum Place {
    Nowhere,
    Simulated(Allocation),
    Gpu(DeviceMemory),
}

/// The bytes of `len` elements, if any memory holds so many.
pub(crate) fn byte_len<T>(len: usize) -> Result<usize, Error> {
    len.checked_mul(size_of::<T>())
        .filter(|&bytes| isize::try_from(bytes).is_ok())
        .ok_or(Error::TooLarge { len, element_bytes: size_of::<T>() })
}

impl Memory {
    /// Room for `bytes` bytes on `device`, with unspecified contents.
    pub(crate) fn new(device: &Device, bytes: usize) -> Result<Self, Error> {
        let place = match device.backend() {
            _ if bytes == 0 => Place::Nowhere,
            Backend::Simulated(simulated) => Place::Simulated(simulated.allocate(bytes)?),
            Backend::Gpu(gpu) => Place::Gpu(gpu.allocate(bytes)?),
        };
        Ok(Self { place, bytes, id: MemoryId::new(), device: device.clone() })
    }

    #[inline]
    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn id(&self) -> MemoryId {
        self.id
    }

    /// The address on the device, aligned to 256 bytes; `None` for no bytes.
    #[inline]
    pub(crate) fn address(&self) -> Option<*mut u8> {
        match &self.place {
            Place::Nowhere => None,
            Place::Simulated(allocation) => Some(allocation.as_ptr()),
            Place::Gpu(memory) => Some(ptr::without_provenance_mut(memory.address())),
        }
    }

    /// Copies `data`, which is as long as this, to the device.
    pub(crate) fn write(&mut self, data: &[u8]) -> Result<(), Error> {
        assert_eq!(data.len(), self.bytes);
        match &self.place {
            Place::Nowhere => Ok(()),
            Place::Simulated(allocation) => {
                // SAFETY: the allocation has as many bytes as `data`, is no part of it, and, as this is borrowed
                // mutably, no view of it exists that a kernel could be using.
                unsafe { ptr::copy_nonoverlapping(data.as_ptr(), allocation.as_ptr(), self.bytes) };
                allocation.note_written(0, self.bytes);
                Ok(())
            }
            Place::Gpu(memory) => memory.write(data),
        }
    }

    /// Copies all bytes to `target`.
    ///
    /// # Safety
    /// `target` must be valid for writes of as many bytes as this has.
    pub(crate) unsafe fn read(&self, target: *mut u8) -> Result<(), Error> {
        match &self.place {
            Place::Nowhere => Ok(()),
            Place::Simulated(allocation) => {
                // SAFETY: the allocation has that many bytes, all initialised; so has `target`, says the caller. A
                // kernel that writes them would need a mutable borrow of this, which is borrowed here.
                unsafe { ptr::copy_nonoverlapping(allocation.as_ptr(), target, self.bytes) };
                Ok(())
            }
            // SAFETY: the caller's word.
            Place::Gpu(memory) => unsafe { memory.read(target) },
        }
    }

    /// Sets all bytes to zero.
    pub(crate) fn zero(&mut self) -> Result<(), Error> {
        match &self.place {
            Place::Nowhere => Ok(()),
            Place::Simulated(allocation) => {
                // SAFETY: the allocation has that many bytes, and no view of it exists, as in `write`.
                unsafe { ptr::write_bytes(allocation.as_ptr(), 0, self.bytes) };
                allocation.note_written(0, self.bytes);
                Ok(())
            }
            Place::Gpu(memory) => memory.zero(),
        }
    }

    /// Copies all bytes of `source`, which has as many and is on the same device.
    pub(crate) fn copy_from(&mut self, source: &Memory) -> Result<(), Error> {
        assert_eq!(source.bytes, self.bytes);
        match (&self.place, &source.place) {
            (Place::Simulated(to), Place::Simulated(from)) => {
                // SAFETY: both have that many bytes; they differ, as one is borrowed mutably; nobody writes either.
                unsafe { ptr::copy_nonoverlapping(from.as_ptr(), to.as_ptr(), self.bytes) };
                to.note_copied(from);
                Ok(())
            }
            (Place::Gpu(to), Place::Gpu(from)) => to.copy_from(from),
            // No bytes: two devices' memories are never asked to copy.
            _ => Ok(()),
        }
    }
}
