//! A piece of a device's memory, in bytes.

use std::any::TypeId;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::backend::Allocated;
use crate::copies::PeerCopy;
use crate::device::Device;
use crate::error::Error;
use crate::ordering;

/// A piece of memory, told from all others, also from a later one at the same address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MemoryId(u64);

impl MemoryId {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Bytes in a device's memory, freed when dropped. None at all takes no memory.
pub(crate) struct Memory {
    allocated: Option<Allocated>,
    bytes: usize,
    id: MemoryId,
    /// Last, so that the device outlives what is in its memory.
    device: Device,
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
        let allocated = if bytes == 0 { None } else { Some(device.backend().allocate(bytes)?) };
        Ok(Self { allocated, bytes, id: MemoryId::new(), device: device.clone() })
    }

    /// Room for `bytes` bytes for the launches of `of`: zeros, or as the last such room of that length was left.
    pub(crate) fn workspace(device: &Device, bytes: usize, of: TypeId) -> Result<Self, Error> {
        if bytes == 0 {
            return Self::new(device, bytes);
        }
        let (allocated, is_new) = device.backend().allocate_workspace(bytes, of)?;
        let mut memory = Self { allocated: Some(allocated), bytes, id: MemoryId::new(), device: device.clone() };
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

    /// The address on the device, aligned to 256 bytes; `None` for no bytes.
    #[inline]
    pub(crate) fn address(&self) -> Option<*mut u8> {
        self.allocated.as_ref()?.on_device
    }

    /// Copies `data`, which is as long as this, to the device.
    pub(crate) fn write(&mut self, data: &[MaybeUninit<u8>]) -> Result<(), Error> {
        assert_eq!(data.len(), self.bytes);
        self.device.note_waits();
        match self.address() {
            // SAFETY: this memory has as many bytes as `data` and, as it is borrowed mutably, no view of it exists that
            // a kernel could be using.
            Some(start) => unsafe { self.device.backend().write(start, data) },
            None => Ok(()),
        }
    }

    /// Copies all bytes to `target`.
    ///
    /// # Safety
    /// `target` must be valid for writes of as many bytes as this has.
    pub(crate) unsafe fn read(&self, target: *mut u8) -> Result<(), Error> {
        self.device.note_waits();
        match self.address() {
            // SAFETY: this memory has that many bytes; so has `target`, says the caller. A kernel that writes them
            // would need a mutable borrow of this, which is borrowed here.
            Some(start) => unsafe { self.device.backend().read(target, start, self.bytes) },
            None => Ok(()),
        }
    }

    /// Sets all bytes to zero.
    pub(crate) fn zero(&mut self) -> Result<(), Error> {
        match self.address() {
            // SAFETY: this memory has that many bytes, and no view of it exists, as in `write`.
            Some(start) => unsafe { self.device.backend().zero(start, self.bytes) },
            None => Ok(()),
        }
    }

    /// Copies all bytes of `source`, which has as many and is on the same device.
    pub(crate) fn copy_from(&mut self, source: &Memory) -> Result<(), Error> {
        assert_eq!(source.bytes, self.bytes);
        match (self.address(), source.address()) {
            // SAFETY: both have that many bytes; they differ, as one is borrowed mutably; nobody writes either.
            (Some(to), Some(from)) => unsafe { self.device.backend().copy(to, from, self.bytes) },
            _ => Ok(()),
        }
    }

    /// Copies `data` to the bytes from `at` on, which there must be.
    pub(crate) fn write_at(&mut self, at: usize, data: &[MaybeUninit<u8>]) -> Result<(), Error> {
        let Some(start) = self.place(&(at..at + data.len())) else { return Ok(()) };
        self.device.note_waits();
        // SAFETY: this memory has these bytes; no view of it exists, as in `write`.
        unsafe { self.device.backend().write(start, data) }
    }

    /// Copies the bytes `range`, which there must be, to `target`.
    ///
    /// # Safety
    /// `target` must be valid for writing so many bytes.
    pub(crate) unsafe fn read_range(&self, range: Range<usize>, target: *mut u8) -> Result<(), Error> {
        let Some(start) = self.place(&range) else { return Ok(()) };
        self.device.note_waits();
        // SAFETY: this memory has these bytes, and so has `target`, says the caller; nobody writes them, as in `read`.
        unsafe { self.device.backend().read(target, start, range.len()) }
    }

    /// The copy of the bytes `range` of `source`, which may be of another device, to those from `at` on. Both must be
    /// there. `None` for no bytes.
    pub(crate) fn copy_of<'m>(&'m self, at: usize, source: &'m Memory, range: Range<usize>) -> Option<PeerCopy<'m>> {
        let (to, from) = (self.place(&(at..at + range.len()))?, source.place(&range)?);
        Some(PeerCopy { to, target: &self.device, from, source: &source.device, bytes: range.len() })
    }

    /// The address of the first of these bytes, which there must be; `None` for no bytes.
    fn place(&self, range: &Range<usize>) -> Option<*mut u8> {
        assert!(range.start <= range.end && range.end <= self.bytes);
        // An address of the device, of which only the device knows what it stands for.
        self.address().filter(|_| !range.is_empty()).map(|start| start.wrapping_add(range.start))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // It is freed once the device's queue is done with it, and may then be another's.
        if let (Some(start), Some(_)) = (self.address(), self.device.queue_actor()) {
            ordering::forget(&(start.addr()..start.addr() + self.bytes));
        }
    }
}
