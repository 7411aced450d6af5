//! Page-locked memory of the host that kernels access in place.

use std::marker::PhantomData;
use std::{fmt, slice};

use cuda_std::{DeviceCopy, Global, GlobalMut};

use crate::backend::PageLock;
use crate::buffer::check_zeros;
use crate::device::Device;
use crate::error::Error;
use crate::host_memory::HostMemory;
use crate::memory::{MemoryId, byte_len};

/// `len` elements of the host's memory that kernels read and write in place ("zero-copy"), freed when dropped.
///
/// Each access of a kernel crosses the link between GPU and host, so that it pays for what is read or written once.
/// Made by [`Device::mapped`].
///
/// The host sees the elements through [`as_slice`](Self::as_slice) and [`as_mut_slice`](Self::as_mut_slice), which wait
/// for the kernels launched before. No other can then be writing: a kernel writes through a [`GlobalMut`], which
/// borrows the buffer mutably, as long as it is launched from [`Device::launch`], or until the end of the scope where
/// it is launched in a [`Stream`](crate::Stream), which waits for it too.
pub struct MappedBuffer<T: DeviceCopy> {
    memory: HostMemory,
    len: usize,
    elements: PhantomData<T>,
}

impl Device {
    /// `len` elements of page-locked host memory that kernels access in place, whose bytes are all zero. Zeros must be
    /// an element, else it does not compile.
    ///
    /// # Errors
    ///
    /// As for [`pinned`](Self::pinned).
    pub fn mapped<T: DeviceCopy>(&self, len: usize) -> Result<MappedBuffer<T>, Error> {
        const { check_zeros::<T>() };
        let memory = HostMemory::zeroed(self, byte_len::<T>(len)?, PageLock::Mapping)?;
        Ok(MappedBuffer { memory, len, elements: PhantomData })
    }
}

impl<T: DeviceCopy> MappedBuffer<T> {
    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device whose kernels access it.
    pub fn device(&self) -> &Device {
        self.memory.device()
    }

    pub(crate) fn memory_id(&self) -> MemoryId {
        self.memory.id()
    }

    /// The elements, for kernels to read.
    pub fn view(&self) -> Global<'_, T> {
        // SAFETY: the pointer is the device's for `len` initialised elements, aligned, and they stay while `self`
        // lives, which the view's lifetime borrows; dropping waits for the kernels.
        unsafe { Global::from_raw_parts(self.memory.device_pointer(), self.len, self.device().id()) }
    }

    /// The elements, for kernels to read and write.
    pub fn view_mut(&mut self) -> GlobalMut<'_, T> {
        // SAFETY: as in `view`; the view's lifetime borrows `self` mutably.
        unsafe { GlobalMut::from_raw_parts(self.memory.device_pointer(), self.len, self.device().id()) }
    }

    /// The elements on the host. Waits for the launches made before.
    ///
    /// # Errors
    ///
    /// [`Error::ContextLost`] when a launch made before failed.
    pub fn as_slice(&self) -> Result<&[T], Error> {
        self.device().synchronize()?;
        // SAFETY: the memory has `len` elements, aligned and initialised. No kernel writes them: those launched before
        // have ended, and another would need a view that borrows `self` mutably.
        Ok(unsafe { slice::from_raw_parts(self.memory.pointer().as_ptr(), self.len) })
    }

    /// The elements on the host, to be changed. Waits for the launches made before.
    ///
    /// # Errors
    ///
    /// As for [`as_slice`](Self::as_slice).
    pub fn as_mut_slice(&mut self) -> Result<&mut [T], Error> {
        self.device().synchronize()?;
        // SAFETY: as above; and none reads them, which would need a view that borrows `self`.
        Ok(unsafe { slice::from_raw_parts_mut(self.memory.pointer().as_ptr(), self.len) })
    }
}

impl<T: DeviceCopy> fmt::Debug for MappedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MappedBuffer").field("len", &self.len).field("device", &self.device().name()).finish()
    }
}
