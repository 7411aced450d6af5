//! Page-locked host memory that kernels access in place.

use std::marker::PhantomData;
use std::{fmt, slice};

use cuda_std::{DeviceCopy, Global, GlobalMut};

use crate::buffer::check_zeros;
use crate::device::Device;
use crate::error::Error;
use crate::host_memory::HostMemory;
use crate::memory::{MemoryId, byte_len};
use crate::objects::PageLock;

/// A buffer of `len` elements in host memory that kernels read and write in place ("zero-copy"). Dropping the buffer
/// frees the memory.
///
/// Each access of a kernel crosses the link between GPU and host, so mapped memory is worthwhile for data that is read
/// or written once. [`Device::mapped`] makes such a buffer.
///
/// The host accesses the elements through [`as_slice`](Self::as_slice) and [`as_mut_slice`](Self::as_mut_slice), which
/// wait for the earlier launches. No kernel can write the elements while such a slice exists: a kernel writes through a
/// [`GlobalMut`], which borrows the buffer mutably. That borrow lasts for the call of [`Device::launch`], or for a
/// [`Stream`](crate::Stream) until the end of the scope, which waits for the kernel.
pub struct MappedBuffer<T: DeviceCopy> {
    memory: HostMemory,
    len: usize,
    elements: PhantomData<T>,
}

impl Device {
    /// Allocates `len` elements of page-locked host memory that kernels access in place. All bytes are zero. The call
    /// does not compile if zero bytes are not a valid `T`.
    ///
    /// # Errors
    ///
    /// The same errors as [`pinned`](Self::pinned).
    pub fn mapped<T: DeviceCopy>(&self, len: usize) -> Result<MappedBuffer<T>, Error> {
        const { check_zeros::<T>() };
        let memory = HostMemory::zeroed(self, byte_len::<T>(len)?, PageLock::Mapping)?;
        Ok(MappedBuffer { memory, len, elements: PhantomData })
    }
}

impl<T: DeviceCopy> MappedBuffer<T> {
    /// Returns the number of elements in the buffer.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the device whose kernels access the buffer.
    pub fn device(&self) -> &Device {
        self.memory.device()
    }

    pub(crate) fn memory_id(&self) -> MemoryId {
        self.memory.id()
    }

    /// Returns a view of the elements for kernels to read.
    pub fn view(&self) -> Global<'_, T> {
        // SAFETY: the device's pointer is aligned and valid for `len` initialised elements while `self` lives, and the
        // view borrows `self`. Dropping waits for the kernels.
        unsafe { Global::from_raw_parts(self.memory.device_pointer(), self.len, self.device().id()) }
    }

    /// Returns a view of the elements for kernels to read and write.
    pub fn view_mut(&mut self) -> GlobalMut<'_, T> {
        // SAFETY: the device's pointer is aligned and valid for `len` initialised elements while `self` lives, and the
        // view borrows `self` mutably. Dropping waits for the kernels.
        unsafe { GlobalMut::from_raw_parts(self.memory.device_pointer(), self.len, self.device().id()) }
    }

    /// Returns the elements for the host to read. Waits for earlier launches.
    ///
    /// # Errors
    ///
    /// [`Error::ContextLost`] when an earlier launch failed.
    pub fn as_slice(&self) -> Result<&[T], Error> {
        self.device().synchronize()?;
        // SAFETY: the memory has `len` aligned and initialised elements. No kernel writes them: earlier kernels have
        // ended, and another kernel would need a view that borrows `self` mutably.
        Ok(unsafe { slice::from_raw_parts(self.memory.pointer().as_ptr(), self.len) })
    }

    /// Returns the elements for the host to change. Waits for earlier launches.
    ///
    /// # Errors
    ///
    /// The same errors as [`as_slice`](Self::as_slice).
    pub fn as_mut_slice(&mut self) -> Result<&mut [T], Error> {
        self.device().synchronize()?;
        // SAFETY: the memory has `len` aligned and initialised elements. No kernel accesses them: earlier kernels have
        // ended, and another kernel would need a view that borrows `self`.
        Ok(unsafe { slice::from_raw_parts_mut(self.memory.pointer().as_ptr(), self.len) })
    }
}

impl<T: DeviceCopy> fmt::Debug for MappedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MappedBuffer").field("len", &self.len).field("device", &self.device().name()).finish()
    }
}
