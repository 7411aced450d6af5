//! Typed buffers in a device's memory.

use std::any::TypeId;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::{fmt, ptr};

use cuda_std::{DeviceCopy, Global, GlobalMut};

use crate::copies::{PeerCopy, copy_all};
use crate::device::Device;
use crate::error::Error;
use crate::memory::{Memory, MemoryId, byte_len};
use crate::part::BufferPart;

/// An array of `len` elements in a device's memory. Dropping the buffer frees the memory.
///
/// A buffer is made by [`Device::alloc`], [`Device::zeroed`] or [`Device::upload`]. Kernels access it through
/// [`view`](Self::view) and [`view_mut`](Self::view_mut). Every operation on it is ordered after earlier launches.
pub struct Buffer<T: DeviceCopy> {
    memory: Memory,
    len: usize,
    elements: PhantomData<T>,
}

impl Device {
    /// Allocates a buffer of `len` elements with unspecified contents.
    ///
    /// The call does not compile if `T` is a `bool`, an enum or a `char`, because unspecified bytes may not be a valid
    /// value of these types. Use [`zeroed`](Self::zeroed) or [`upload`](Self::upload) for them.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] or [`Error::TooLarge`] if the buffer is too large; [`Error::ContextLost`] when an earlier
    /// launch failed.
    pub fn alloc<T: DeviceCopy>(&self, len: usize) -> Result<Buffer<T>, Error> {
        const { assert!(T::ANY_BITS, "unwritten memory may be invalid for this type: use `zeroed` or `upload`") };
        self.allocate(len)
    }

    /// Allocates a buffer of `len` elements. If some bit patterns are not valid values of `T`, the caller must write
    /// the elements before they are read.
    fn allocate<T: DeviceCopy>(&self, len: usize) -> Result<Buffer<T>, Error> {
        Ok(Buffer { memory: Memory::new(self, byte_len::<T>(len)?)?, len, elements: PhantomData })
    }

    /// Allocates a buffer of `len` elements whose bytes are all zero. The call does not compile if zero bytes are not a
    /// valid `T`.
    ///
    /// # Errors
    ///
    /// The same errors as [`alloc`](Self::alloc).
    pub fn zeroed<T: DeviceCopy>(&self, len: usize) -> Result<Buffer<T>, Error> {
        let mut buffer = self.allocate(len)?;
        buffer.fill_zero()?;
        Ok(buffer)
    }

    /// Allocates a buffer of `len` elements. When the buffer is dropped, the device keeps its contents. A later call
    /// with the same `K`, `T` and `len` returns a buffer with these contents. If there are no such contents, the
    /// elements are zero.
    ///
    /// `K` identifies the kernels that use the buffer. These kernels must leave in it the contents that their next
    /// launch needs. On a GPU this saves the launch that clears the buffer.
    ///
    /// # Errors
    ///
    /// The same errors as [`alloc`](Self::alloc).
    pub fn workspace<K: 'static, T: DeviceCopy>(&self, len: usize) -> Result<Buffer<T>, Error> {
        const { assert!(T::ANY_BITS, "the contents may be invalid for this type: use `zeroed`") };
        let memory = Memory::workspace(self, byte_len::<T>(len)?, TypeId::of::<(K, T)>())?;
        Ok(Buffer { memory, len, elements: PhantomData })
    }

    /// Allocates a buffer and copies the elements of `data` to it.
    ///
    /// # Errors
    ///
    /// The same errors as [`alloc`](Self::alloc).
    pub fn upload<T: DeviceCopy>(&self, data: &[T]) -> Result<Buffer<T>, Error> {
        let mut buffer = self.allocate(data.len())?;
        buffer.upload(data)?;
        Ok(buffer)
    }
}

impl<T: DeviceCopy> Buffer<T> {
    /// Returns the number of elements in the buffer.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if the buffer has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the device whose memory holds the buffer.
    pub fn device(&self) -> &Device {
        self.memory.device()
    }

    /// Returns a view of the elements for kernels to read. The host reads elements by [`download`](Self::download) and
    /// [`download_range`](Self::download_range): `load` of a view is for kernels. On the host it works in the simulator
    /// only, and panics for a GPU's memory.
    pub fn view(&self) -> Global<'_, T> {
        // SAFETY: the pointer is aligned and valid for `len` elements in this device's memory while `self` lives, and
        // the view borrows `self`. The elements are valid values: the host or a kernel wrote them, or any bits are
        // valid.
        unsafe { Global::from_raw_parts(self.pointer(), self.len, self.device().id()) }
    }

    /// Returns a view of the elements for kernels to read and write.
    pub fn view_mut(&mut self) -> GlobalMut<'_, T> {
        // SAFETY: the pointer is aligned and valid for `len` valid elements of this device's memory while `self` lives,
        // and the view borrows `self` mutably.
        unsafe { GlobalMut::from_raw_parts(self.pointer(), self.len, self.device().id()) }
    }

    /// Returns all elements as an exclusive part, which can be divided among streams.
    pub fn as_part_mut(&mut self) -> BufferPart<'_, T> {
        BufferPart::new(self.view_mut())
    }

    /// Copies the elements to the host. Waits for earlier launches.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfHostMemory`] if the elements do not fit into host memory; [`Error::ContextLost`] when an earlier
    /// launch failed.
    pub fn download(&self) -> Result<Vec<T>, Error> {
        let mut data = self.room()?;
        self.append_to(&mut data, 0, self.len)?;
        Ok(data)
    }

    /// Returns an empty vector with capacity for all elements.
    pub(crate) fn room(&self) -> Result<Vec<T>, Error> {
        let mut data = Vec::new();
        data.try_reserve_exact(self.len)
            .map_err(|_| Error::OutOfHostMemory { requested_bytes: self.byte_len() as u64 })?;
        Ok(data)
    }

    /// Copies the elements to `target`. Waits for earlier launches.
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`] if `target` and the buffer have different lengths; [`Error::ContextLost`] when an
    /// earlier launch failed.
    pub fn download_into(&self, target: &mut [T]) -> Result<(), Error> {
        self.check_len("download", target.len())?;
        // SAFETY: `check_len` has checked that `target` has as many elements as `self`.
        unsafe { self.memory.read_range(0..self.byte_len(), target.as_mut_ptr().cast()) }
    }

    /// Replaces all elements with the elements of `data`. Waits for earlier launches.
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`] if `data` and the buffer have different lengths; [`Error::ContextLost`] when an
    /// earlier launch failed.
    pub fn upload(&mut self, data: &[T]) -> Result<(), Error> {
        self.check_len("upload", data.len())?;
        self.memory.write_at(0, bytes_of(data))
    }

    /// Sets every byte of the buffer to zero. The call does not compile if zero bytes are not a valid `T`. On a GPU the
    /// call returns at once.
    ///
    /// # Errors
    ///
    /// [`Error::ContextLost`] when an earlier launch failed.
    pub fn fill_zero(&mut self) -> Result<(), Error> {
        const { check_zeros::<T>() };
        self.memory.zero()
    }

    /// Replaces all elements with the elements of `source`, by a copy within the device. On a GPU the call returns at
    /// once.
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`] if `source` and this buffer have different lengths; [`Error::WrongDevice`] if `source`
    /// is on another device; [`Error::ContextLost`] when an earlier launch failed.
    pub fn copy_from(&mut self, source: &Buffer<T>) -> Result<(), Error> {
        self.check_source(source)?;
        self.memory.copy_from(&source.memory)
    }

    /// Copies the elements `range` of `source` to this buffer, starting at index `at`. `source` may be on another
    /// device of the same kind.
    ///
    /// The copy runs after the earlier work of both devices and before their later work, except work in streams. On
    /// GPUs the call returns at once. The bytes are copied directly if both GPUs are members of a
    /// [`Group`](crate::Group) and can access each other's memory, otherwise through host memory.
    ///
    /// ```
    /// use launch::Group;
    ///
    /// let group = Group::open(&"sim:2".parse()?, &[])?;
    /// let there = group.members()[1].upload(&[1, 2, 3, 4])?;
    /// let mut here = group.members()[0].zeroed::<u32>(3)?;
    /// here.copy_range_from(1, &there, 2..4)?;
    /// assert_eq!(here.download()?, [0, 3, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] if either buffer is too short; [`Error::WrongDevice`] if one buffer is on a GPU and the
    /// other in the simulator; [`Error::ContextLost`] when an earlier launch failed.
    pub fn copy_range_from(&mut self, at: usize, source: &Buffer<T>, range: Range<usize>) -> Result<(), Error> {
        let target = self.bytes_at("copy to", at, range.len())?;
        let range = source.bytes_of_range("copy from", range)?;
        let copy = self.memory.copy_of(target.start, &source.memory, range);
        // SAFETY: the buffers are different, because `self` is borrowed mutably. That borrow excludes views of `self`,
        // and the borrow of `source` excludes writes to it.
        unsafe { copy_all(copy.as_slice(), None) }
    }

    /// Copies the elements `range` of this buffer to the elements that start at index `at`. The two ranges must not
    /// overlap. On a GPU the call returns at once.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] if the buffer is too short; [`Error::Overlap`] if the two ranges overlap;
    /// [`Error::ContextLost`] when an earlier launch failed.
    pub fn copy_within(&mut self, range: Range<usize>, at: usize) -> Result<(), Error> {
        let target = self.bytes_at("copy to", at, range.len())?;
        let range = self.bytes_of_range("copy from", range)?;
        if target.start < range.end && range.start < target.end {
            return Err(Error::Overlap);
        }
        let copy = self.memory.copy_of(target.start, &self.memory, range);
        // SAFETY: the ranges do not overlap, and no view of the memory exists, because `self` is borrowed mutably.
        unsafe { copy_all(copy.as_slice(), None) }
    }

    /// Copies the `into.len()` elements that start at index `at` to `into`. Waits for earlier launches.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] if the buffer is too short; [`Error::ContextLost`] when an earlier launch failed.
    pub fn download_range(&self, at: usize, into: &mut [T]) -> Result<(), Error> {
        let range = self.bytes_at("download", at, into.len())?;
        // SAFETY: `into` has as many bytes as the range.
        unsafe { self.memory.read_range(range, into.as_mut_ptr().cast()) }
    }

    /// Appends the `len` elements that start at `at` to `data`. The elements must exist, and `data` must have spare
    /// capacity for them.
    pub(crate) fn append_to(&self, data: &mut Vec<T>, at: usize, len: usize) -> Result<(), Error> {
        let range = self.bytes_at("download", at, len)?;
        let room = data.spare_capacity_mut();
        assert!(room.len() >= len);
        // SAFETY: the assertion has checked that `room` has space for `len` elements.
        unsafe { self.memory.read_range(range, room.as_mut_ptr().cast()) }?;
        // SAFETY: the read has written these elements. They are valid values: the host or a kernel wrote them, or any
        // bits are.
        unsafe { data.set_len(data.len() + len) };
        Ok(())
    }

    /// Describes a copy for [`copy_all`]. The copy replaces elements of this buffer, starting at index `at`, by the
    /// elements `range` of `source`. Returns `None` if `range` has no bytes. All elements must exist. The caller of
    /// `copy_all` guarantees that the target is not in use.
    pub(crate) fn copy_of<'b>(&'b self, at: usize, source: &'b Buffer<T>, range: Range<usize>) -> Option<PeerCopy<'b>> {
        let bytes = range.start * size_of::<T>()..range.end * size_of::<T>();
        self.memory.copy_of(at * size_of::<T>(), &source.memory, bytes)
    }

    /// Copies the elements of `from` to this buffer, starting at index `at`. Waits for earlier launches.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] if the buffer is too short; [`Error::ContextLost`] when an earlier launch failed.
    pub fn upload_range(&mut self, at: usize, from: &[T]) -> Result<(), Error> {
        let range = self.bytes_at("upload", at, from.len())?;
        self.memory.write_at(range.start, bytes_of(from))
    }

    /// Returns the byte range of the `len` elements that start at `at`, or an error if the buffer is too short.
    pub(crate) fn bytes_at(&self, what: &'static str, at: usize, len: usize) -> Result<Range<usize>, Error> {
        self.bytes_of_range(what, at..at.saturating_add(len))
    }

    /// Returns the byte range of the elements `range`, or an error if the buffer is too short.
    fn bytes_of_range(&self, what: &'static str, range: Range<usize>) -> Result<Range<usize>, Error> {
        if range.start > range.end || range.end > self.len {
            return Err(Error::OutOfRange { what, start: range.start, end: range.end, buffer: self.len });
        }
        Ok(range.start * size_of::<T>()..range.end * size_of::<T>())
    }

    /// Checks that `source` has the same length as this buffer and is on the same device.
    pub(crate) fn check_source(&self, source: &Buffer<T>) -> Result<(), Error> {
        self.check_len("copy", source.len())?;
        if source.device().id() != self.device().id() {
            let device = self.device().name().to_owned();
            return Err(Error::WrongDevice { what: "a copy between buffers".to_owned(), device });
        }
        Ok(())
    }

    /// Makes a buffer of `len` elements, which `memory` holds.
    pub(crate) fn of_memory(memory: Memory, len: usize) -> Self {
        Self { memory, len, elements: PhantomData }
    }

    pub(crate) fn into_memory(self) -> Memory {
        self.memory
    }

    pub(crate) fn memory_id(&self) -> MemoryId {
        self.memory.id()
    }

    fn byte_len(&self) -> usize {
        self.len * size_of::<T>()
    }

    pub(crate) fn pointer(&self) -> *mut T {
        // Each empty buffer has another address, so that reports can name the view of an access out of its bounds.
        let dangling = || ptr::without_provenance_mut(self.memory.id().distinct_address());
        self.memory.address().map_or_else(dangling, <*mut u8>::cast)
    }

    pub(crate) fn check_len(&self, what: &'static str, other: usize) -> Result<(), Error> {
        if other == self.len { Ok(()) } else { Err(Error::LengthMismatch { what, buffer: self.len, other }) }
    }
}

impl<T: DeviceCopy> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("len", &self.len).field("device", &self.device().name()).finish()
    }
}

/// Does nothing at run time. A call does not compile if zero bytes are not a valid `T`.
pub(crate) const fn check_zeros<T: DeviceCopy>() {
    assert!(T::ZEROS, "zero bytes are invalid for this type: use `upload`");
}

/// Returns the bytes of `data`, including padding.
fn bytes_of<T: DeviceCopy>(data: &[T]) -> &[MaybeUninit<u8>] {
    // SAFETY: the slice's memory is valid for reads of its size, and `MaybeUninit<u8>` allows any byte.
    unsafe { std::slice::from_raw_parts(data.as_ptr().cast(), size_of_val(data)) }
}
