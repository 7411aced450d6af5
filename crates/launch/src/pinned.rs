//! Page-locked host memory.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::{fmt, slice};

use cuda_std::DeviceCopy;

use crate::buffer::check_zeros;
use crate::device::Device;
use crate::error::Error;
use crate::host_memory::HostMemory;
use crate::memory::byte_len;
use crate::objects::PageLock;

/// A buffer of `len` elements in page-locked host memory. Dropping the buffer frees the memory.
///
/// The buffer dereferences to a slice. A GPU copies page-locked memory faster than other memory and, in a
/// [`Stream`](crate::Stream), while the host continues. [`Device::pinned`] makes a buffer. Page-locked memory cannot be
/// swapped out, so a host has less of it than of ordinary memory. For the simulator the buffer is ordinary memory.
pub struct PinnedBuffer<T: DeviceCopy> {
    memory: HostMemory,
    len: usize,
    elements: PhantomData<T>,
}

impl Device {
    /// Allocates `len` elements of page-locked host memory. All bytes are zero. The call does not compile if zero bytes
    /// are not a valid `T`.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfPageLockedMemory`] or [`Error::TooLarge`] if the buffer is too large; [`Error::ContextLost`] when
    /// an earlier launch failed.
    pub fn pinned<T: DeviceCopy>(&self, len: usize) -> Result<PinnedBuffer<T>, Error> {
        const { check_zeros::<T>() };
        let memory = HostMemory::zeroed(self, byte_len::<T>(len)?, PageLock::Copies)?;
        Ok(PinnedBuffer { memory, len, elements: PhantomData })
    }
}

impl<T: DeviceCopy> PinnedBuffer<T> {
    /// Returns the device for which the buffer was allocated.
    pub fn device(&self) -> &Device {
        self.memory.device()
    }
}

impl<T: DeviceCopy> Deref for PinnedBuffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the memory has `len` aligned and initialised elements. Writing them needs a mutable borrow of `self`;
        // a copy by the device borrows `self` until the copy is done.
        unsafe { slice::from_raw_parts(self.memory.pointer().as_ptr(), self.len) }
    }
}

impl<T: DeviceCopy> DerefMut for PinnedBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: the memory has `len` aligned and initialised elements, and `self` is borrowed mutably.
        unsafe { slice::from_raw_parts_mut(self.memory.pointer().as_ptr(), self.len) }
    }
}

impl<T: DeviceCopy> fmt::Debug for PinnedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedBuffer").field("len", &self.len).field("device", &self.device().name()).finish()
    }
}
