//! Page-locked memory of the host.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::{fmt, slice};

use cuda_std::DeviceCopy;

use crate::backend::PageLock;
use crate::buffer::check_zeros;
use crate::device::Device;
use crate::error::Error;
use crate::host_memory::HostMemory;
use crate::memory::byte_len;

/// `len` elements of the host's memory that the operating system leaves where they are, freed when dropped.
///
/// It is a slice like any other, which a GPU copies faster and, in a [`Stream`](crate::Stream), while the host goes on.
/// Made by [`Device::pinned`]. There is less of it than of ordinary memory: what is locked cannot be swapped out. For
/// the simulator it is ordinary memory.
pub struct PinnedBuffer<T: DeviceCopy> {
    memory: HostMemory,
    len: usize,
    elements: PhantomData<T>,
}

impl Device {
    /// `len` elements of page-locked host memory, whose bytes are all zero. Zeros must be an element, else it does not
    /// compile.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfPageLockedMemory`], [`Error::TooLarge`]; [`Error::ContextLost`] when a launch made before failed.
    pub fn pinned<T: DeviceCopy>(&self, len: usize) -> Result<PinnedBuffer<T>, Error> {
        const { check_zeros::<T>() };
        let memory = HostMemory::zeroed(self, byte_len::<T>(len)?, PageLock::Copies)?;
        Ok(PinnedBuffer { memory, len, elements: PhantomData })
    }
}

impl<T: DeviceCopy> PinnedBuffer<T> {
    /// The device that it was made for.
    pub fn device(&self) -> &Device {
        self.memory.device()
    }
}

impl<T: DeviceCopy> Deref for PinnedBuffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the memory has `len` elements, aligned and initialised. Only who borrows `self` mutably writes it; a
        // copy by the device borrows it until it is done.
        unsafe { slice::from_raw_parts(self.memory.pointer().as_ptr(), self.len) }
    }
}

impl<T: DeviceCopy> DerefMut for PinnedBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above; `self` is borrowed mutably.
        unsafe { slice::from_raw_parts_mut(self.memory.pointer().as_ptr(), self.len) }
    }
}

impl<T: DeviceCopy> fmt::Debug for PinnedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedBuffer").field("len", &self.len).field("device", &self.device().name()).finish()
    }
}
