//! A piece of a device's memory, in bytes.

use std::any::TypeId;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::copies::PeerCopy;
use crate::device::Device;
use crate::error::Error;
use crate::objects::Allocated;
use crate::ordering;

/// The minimum alignment of a device's memory and of all host memory, in bytes. Kernels rely on it when they access
/// several elements at once.
pub(crate) const ALIGNMENT: usize = 256;

/// The identity of an allocation. A later allocation at the same address has another identity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MemoryId(u64);

impl MemoryId {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// Returns an address that no other memory without bytes has. It is aligned to [`ALIGNMENT`] bytes, and not 0.
    pub(crate) fn distinct_address(self) -> usize {
        (self.0 as usize).wrapping_add(1).wrapping_mul(ALIGNMENT)
    }
}

/// A piece of a device's memory. Dropping it frees the memory. No memory is allocated for zero bytes.
pub(crate) struct Memory {
    allocated: Option<Allocated>,
    bytes: usize,
    id: MemoryId,
    /// The device. This is the last field, so that the device is dropped after the memory.
    device: Device,
}

/// Returns the size of `len` elements in bytes, or an error if no memory can hold them.
pub(crate) fn byte_len<T>(len: usize) -> Result<usize, Error> {
    len.checked_mul(size_of::<T>())
        .filter(|&bytes| isize::try_from(bytes).is_ok())
        .ok_or(Error::TooLarge { len, element_bytes: size_of::<T>() })
}

impl Memory {
    /// Allocates `bytes` bytes on `device` with unspecified contents.
    pub(crate) fn new(device: &Device, bytes: usize) -> Result<Self, Error> {
        let allocated = if bytes == 0 { None } else { Some(device.backend().allocate(bytes)?) };
        Self::of_allocated(device, bytes, allocated)
    }

    /// Makes the value for `bytes` bytes that the back end has allocated. Later work may use them in every queue.
    pub(crate) fn of_allocated(device: &Device, bytes: usize, allocated: Option<Allocated>) -> Result<Self, Error> {
        device.queues().fork_streams()?;
        Ok(Self { allocated, bytes, id: MemoryId::new(), device: device.clone() })
    }

    /// Gives up the memory without freeing it.
    pub(crate) fn release(mut self) {
        if let Some(allocated) = self.allocated.take() {
            self.device.queues().join_streams_to_free();
            self.device.backend().release(allocated, self.bytes);
        }
    }

    /// Allocates `bytes` bytes as a workspace of the type `of`. They are zeros, or the contents that the last workspace
    /// of this type and size had when it was dropped.
    pub(crate) fn workspace(device: &Device, bytes: usize, of: TypeId) -> Result<Self, Error> {
        if bytes == 0 {
            return Self::new(device, bytes);
        }
        let (allocated, is_new) = device.backend().allocate_workspace(bytes, of)?;
        let mut memory = Self::of_allocated(device, bytes, Some(allocated))?;
        if is_new {
            memory.zero()?;
        }
        Ok(memory)
    }

    #[inline]
    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn id(&self) -> MemoryId {
        self.id
    }

    /// Returns the memory's address on the device, aligned to 256 bytes, or `None` if the memory has no bytes.
    #[inline]
    pub(crate) fn address(&self) -> Option<*mut u8> {
        self.allocated.as_ref()?.on_device
    }

    /// Sets all bytes of this memory to zero.
    pub(crate) fn zero(&mut self) -> Result<(), Error> {
        let Some(start) = self.address() else { return Ok(()) };
        self.device.queues().join_streams()?;
        // SAFETY: the memory has `self.bytes` bytes. No view of it exists, because `self` is borrowed mutably.
        unsafe { self.device.backend().zero(start, self.bytes) }?;
        self.device.queues().fork_streams()
    }

    /// Copies all bytes of `source` to this memory. Both must have the same size and device.
    pub(crate) fn copy_from(&mut self, source: &Memory) -> Result<(), Error> {
        assert_eq!(source.bytes, self.bytes);
        let (Some(to), Some(from)) = (self.address(), source.address()) else { return Ok(()) };
        self.device.queues().join_streams()?;
        // SAFETY: both have `self.bytes` bytes. They differ, because `self` is borrowed mutably; the borrow of `source`
        // excludes writes to it.
        unsafe { self.device.backend().copy(to, from, self.bytes) }?;
        self.device.queues().fork_streams()
    }

    /// Copies `data` to this memory, starting at byte `at`. The bytes must exist.
    pub(crate) fn write_at(&mut self, at: usize, data: &[MaybeUninit<u8>]) -> Result<(), Error> {
        let Some(start) = self.address_of(&(at..at + data.len())) else { return Ok(()) };
        self.device.queues().join_streams()?;
        self.device.note_waits();
        // SAFETY: `place` has checked that the bytes exist. No view of them exists, because `self` is borrowed mutably.
        unsafe { self.device.backend().write(start, data) }?;
        self.device.queues().fork_streams_after_upload()
    }

    /// Copies the bytes `range` of this memory to `target`. The bytes must exist.
    ///
    /// # Safety
    /// `target` must be valid for writes of `range.len()` bytes.
    pub(crate) unsafe fn read_range(&self, range: Range<usize>, target: *mut u8) -> Result<(), Error> {
        let Some(start) = self.address_of(&range) else { return Ok(()) };
        self.device.queues().join_streams()?;
        self.device.note_waits();
        // SAFETY: `place` has checked that the bytes exist, and the caller guarantees `target`. The borrow of `self`
        // excludes writes to them.
        unsafe { self.device.backend().read(target, start, range.len()) }
    }

    /// Describes a copy of the bytes `range` of `source` to this memory, starting at byte `at`. Returns `None` if
    /// `range` is empty. All these bytes must exist. `source` may be on another device.
    pub(crate) fn copy_of<'m>(&'m self, at: usize, source: &'m Memory, range: Range<usize>) -> Option<PeerCopy<'m>> {
        let (to, from) = (self.address_of(&(at..at + range.len()))?, source.address_of(&range)?);
        Some(PeerCopy { to, target: &self.device, from, source: &source.device, bytes: range.len() })
    }

    /// Returns the address of the first byte of `range`, or `None` if `range` is empty.
    ///
    /// # Panics
    /// If `range` is not within the memory.
    fn address_of(&self, range: &Range<usize>) -> Option<*mut u8> {
        assert!(range.start <= range.end && range.end <= self.bytes);
        // `wrapping_add`, because the address is the device's and need not be valid for the host.
        self.address().filter(|_| !range.is_empty()).map(|start| start.wrapping_add(range.start))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.allocated.is_some() {
            self.device.queues().join_streams_to_free();
        }
        // The memory is freed after the device's queue has finished with it. The address may then be allocated again.
        if let (Some(start), Some(_)) = (self.address(), self.device.queue_actor()) {
            ordering::forget(&(start.addr()..start.addr() + self.bytes));
        }
    }
}
