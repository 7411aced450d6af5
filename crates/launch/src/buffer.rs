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

/// `len` elements in a device's memory, freed when dropped.
///
/// Made by [`Device::alloc`], [`Device::zeroed`] or [`Device::upload`]. Kernels see it through [`view`](Self::view) and
/// [`view_mut`](Self::view_mut). Every operation comes after the launches made before it.
pub struct Buffer<T: DeviceCopy> {
    memory: Memory,
    len: usize,
    elements: PhantomData<T>,
}

impl Device {
    /// A buffer of `len` elements with unspecified contents.
    ///
    /// Any bits must be an element, since nobody knows what is there: of a `bool`, an enum or a `char` it does not
    /// compile. [`zeroed`](Self::zeroed) and [`upload`](Self::upload) have values for these.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], [`Error::TooLarge`]; [`Error::ContextLost`] when a launch made before failed.
    pub fn alloc<T: DeviceCopy>(&self, len: usize) -> Result<Buffer<T>, Error> {
        const { assert!(T::ANY_BITS, "what nobody has written may be no value of this type: use `zeroed` or `upload`") };
        self.room(len)
    }

    /// A buffer of `len` elements, which must be written before anybody reads them, unless any bits are a `T`.
    fn room<T: DeviceCopy>(&self, len: usize) -> Result<Buffer<T>, Error> {
        Ok(Buffer { memory: Memory::new(self, byte_len::<T>(len)?)?, len, elements: PhantomData })
    }

    /// A buffer of `len` elements whose bytes are all zero. Zeros must be an element, else it does not compile.
    ///
    /// # Errors
    ///
    /// As for [`alloc`](Self::alloc).
    pub fn zeroed<T: DeviceCopy>(&self, len: usize) -> Result<Buffer<T>, Error> {
        let mut buffer = self.room(len)?;
        buffer.fill_zero()?;
        Ok(buffer)
    }

    /// A buffer of `len` elements for what the launches of `K` keep between them: zeros, or as the last such buffer of
    /// that length was left when it was dropped. `K` is any type that stands for kernels which leave what their next
    /// launch needs, whoever makes it.
    ///
    /// On a GPU that saves a launch which clears it.
    ///
    /// # Errors
    ///
    /// As for [`alloc`](Self::alloc).
    pub fn workspace<K: 'static, T: DeviceCopy>(&self, len: usize) -> Result<Buffer<T>, Error> {
        const { assert!(T::ANY_BITS, "what kernels leave may be no value of this type: use `zeroed`") };
        let memory = Memory::workspace(self, byte_len::<T>(len)?, TypeId::of::<(K, T)>())?;
        Ok(Buffer { memory, len, elements: PhantomData })
    }

    /// A buffer with the elements of `data`.
    ///
    /// # Errors
    ///
    /// As for [`alloc`](Self::alloc).
    pub fn upload<T: DeviceCopy>(&self, data: &[T]) -> Result<Buffer<T>, Error> {
        let mut buffer = self.room(data.len())?;
        buffer.upload(data)?;
        Ok(buffer)
    }
}

impl<T: DeviceCopy> Buffer<T> {
    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device that it is on.
    pub fn device(&self) -> &Device {
        self.memory.device()
    }

    /// The elements, for kernels to read.
    pub fn view(&self) -> Global<'_, T> {
        // SAFETY: the pointer is aligned, and in the memory of this device valid for `len` elements while `self` lives,
        // which the view's lifetime borrows. It holds values: those that the host or a kernel has written, or any bits.
        unsafe { Global::from_raw_parts(self.pointer(), self.len, self.device().id()) }
    }

    /// The elements, for kernels to read and write.
    pub fn view_mut(&mut self) -> GlobalMut<'_, T> {
        // SAFETY: as in `view`; the view's lifetime borrows `self` mutably.
        unsafe { GlobalMut::from_raw_parts(self.pointer(), self.len, self.device().id()) }
    }

    /// The elements, to be divided among streams.
    pub fn as_part_mut(&mut self) -> BufferPart<'_, T> {
        BufferPart::new(self.view_mut())
    }

    /// The elements on the host. Waits for the launches made before.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfHostMemory`]; [`Error::ContextLost`] when a launch made before failed.
    pub fn download(&self) -> Result<Vec<T>, Error> {
        let mut data: Vec<T> = Vec::new();
        data.try_reserve_exact(self.len)
            .map_err(|_| Error::OutOfHostMemory { requested_bytes: self.byte_len() as u64 })?;
        self.append_to(&mut data, 0, self.len)?;
        Ok(data)
    }

    /// Copies the elements to `target`. Waits for the launches made before.
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`] unless `target` has as many elements; [`Error::ContextLost`] when a launch made before
    /// failed.
    pub fn download_into(&self, target: &mut [T]) -> Result<(), Error> {
        self.check_len("download", target.len())?;
        // SAFETY: `target` has as many elements as `self`.
        unsafe { self.memory.read(target.as_mut_ptr().cast()) }
    }

    /// Replaces the elements by those of `data`. Waits for the launches made before.
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`] unless `data` has as many elements; [`Error::ContextLost`] when a launch made before
    /// failed.
    pub fn upload(&mut self, data: &[T]) -> Result<(), Error> {
        self.check_len("upload", data.len())?;
        self.memory.write(bytes_of(data))
    }

    /// Sets every byte to zero. Zeros must be an element, else it does not compile. On a GPU it returns at once.
    ///
    /// # Errors
    ///
    /// [`Error::ContextLost`] when a launch made before failed.
    pub fn fill_zero(&mut self) -> Result<(), Error> {
        const { check_zeros::<T>() };
        self.memory.zero()
    }

    /// Replaces the elements by those of `source`, within the device. On a GPU it returns at once.
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`] unless `source` has as many elements; [`Error::WrongDevice`] if it is on another
    /// device; [`Error::ContextLost`] when a launch made before failed.
    pub fn copy_from(&mut self, source: &Buffer<T>) -> Result<(), Error> {
        self.check_source(source)?;
        self.memory.copy_from(&source.memory)
    }

    /// Replaces the elements from `at` on by the elements `range` of `source`, which may be on another device of the
    /// same kind. It comes after all that either device was asked before, and before all that either is asked later,
    /// but for what streams are asked. On GPUs it returns at once, and the bytes go from one to the other directly if
    /// both are members of a [`Group`](crate::Group) and can access each other's memory, else through memory of the
    /// host.
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
    /// [`Error::OutOfRange`] if either has not these elements; [`Error::WrongDevice`] between a GPU and the simulator;
    /// [`Error::ContextLost`] when a launch made before failed.
    pub fn copy_range_from(&mut self, at: usize, source: &Buffer<T>, range: Range<usize>) -> Result<(), Error> {
        let target = self.bytes_at("copy to", at, range.len())?;
        let range = source.bytes_of_range("copy from", range)?;
        let copy = self.memory.copy_of(target.start, &source.memory, range);
        // SAFETY: the memories differ, as one is borrowed mutably, and no view of that exists; nobody writes the other.
        unsafe { copy_all(copy.as_slice(), None) }
    }

    /// Replaces the elements from `at` on by the elements `range`, none of which may be among them. On a GPU it returns
    /// at once.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] if it has not these elements, [`Error::Overlap`] if some are in both places;
    /// [`Error::ContextLost`] when a launch made before failed.
    pub fn copy_within(&mut self, range: Range<usize>, at: usize) -> Result<(), Error> {
        let target = self.bytes_at("copy to", at, range.len())?;
        let range = self.bytes_of_range("copy from", range)?;
        if target.start < range.end && range.start < target.end {
            return Err(Error::Overlap);
        }
        let copy = self.memory.copy_of(target.start, &self.memory, range);
        // SAFETY: they do not overlap, and no view of the memory exists, as it is borrowed mutably.
        unsafe { copy_all(copy.as_slice(), None) }
    }

    /// Copies the elements from `at` on to `into`, as many as that has. Waits for the launches made before.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] if it has not these elements; [`Error::ContextLost`] when a launch made before failed.
    pub fn download_range(&self, at: usize, into: &mut [T]) -> Result<(), Error> {
        let range = self.bytes_at("download", at, into.len())?;
        // SAFETY: `into` has as many bytes.
        unsafe { self.memory.read_range(range, into.as_mut_ptr().cast()) }
    }

    /// Appends the `len` elements from `at` on, which there must be, to `data`, which has room for them.
    pub(crate) fn append_to(&self, data: &mut Vec<T>, at: usize, len: usize) -> Result<(), Error> {
        let range = self.bytes_at("download", at, len)?;
        let room = data.spare_capacity_mut();
        assert!(room.len() >= len);
        // SAFETY: there is room for so many elements.
        unsafe { self.memory.read_range(range, room.as_mut_ptr().cast()) }?;
        // SAFETY: they have been written, and are values, as in `view`.
        unsafe { data.set_len(data.len() + len) };
        Ok(())
    }

    /// The copy of the elements `range` of `source` to those from `at` on, all of which there must be; `None` for no
    /// bytes. That this is not borrowed mutably is for [`copy_all`]'s caller to answer.
    pub(crate) fn copy_of<'b>(&'b self, at: usize, source: &'b Buffer<T>, range: Range<usize>) -> Option<PeerCopy<'b>> {
        let bytes = range.start * size_of::<T>()..range.end * size_of::<T>();
        self.memory.copy_of(at * size_of::<T>(), &source.memory, bytes)
    }

    /// Replaces the elements from `at` on by those of `from`. Waits for the launches made before.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] if it has not these elements; [`Error::ContextLost`] when a launch made before failed.
    pub fn upload_range(&mut self, at: usize, from: &[T]) -> Result<(), Error> {
        let range = self.bytes_at("upload", at, from.len())?;
        self.memory.write_at(range.start, bytes_of(from))
    }

    /// Where the bytes of the `len` elements from `at` on are, if they are there.
    fn bytes_at(&self, what: &'static str, at: usize, len: usize) -> Result<Range<usize>, Error> {
        self.bytes_of_range(what, at..at.saturating_add(len))
    }

    /// Where the bytes of the elements `range` are, if they are there.
    fn bytes_of_range(&self, what: &'static str, range: Range<usize>) -> Result<Range<usize>, Error> {
        if range.start > range.end || range.end > self.len {
            return Err(Error::OutOfRange { what, start: range.start, end: range.end, buffer: self.len });
        }
        Ok(range.start * size_of::<T>()..range.end * size_of::<T>())
    }

    /// Whether `source` can be copied here.
    pub(crate) fn check_source(&self, source: &Buffer<T>) -> Result<(), Error> {
        self.check_len("copy", source.len())?;
        if source.device().id() != self.device().id() {
            let device = self.device().name().to_owned();
            return Err(Error::WrongDevice { what: "a copy between buffers".to_owned(), device });
        }
        Ok(())
    }

    pub(crate) fn memory_id(&self) -> MemoryId {
        self.memory.id()
    }

    fn byte_len(&self) -> usize {
        self.len * size_of::<T>()
    }

    fn pointer(&self) -> *mut T {
        self.memory.address().map_or(ptr::dangling_mut(), <*mut u8>::cast)
    }

    fn check_len(&self, what: &'static str, other: usize) -> Result<(), Error> {
        if other == self.len { Ok(()) } else { Err(Error::LengthMismatch { what, buffer: self.len, other }) }
    }
}

impl<T: DeviceCopy> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("len", &self.len).field("device", &self.device().name()).finish()
    }
}

/// Fails to compile where zeros are no element.
pub(crate) const fn check_zeros<T: DeviceCopy>() {
    assert!(T::ZEROS, "zeros are no value of this type: upload values");
}

/// The bytes of `data`, padding among them.
fn bytes_of<T: DeviceCopy>(data: &[T]) -> &[MaybeUninit<u8>] {
    // SAFETY: the bytes of the slice, of which nothing is said.
    unsafe { std::slice::from_raw_parts(data.as_ptr().cast(), size_of_val(data)) }
}
