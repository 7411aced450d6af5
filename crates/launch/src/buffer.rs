//! Typed buffers in a device's memory.

use std::marker::PhantomData;
use std::{fmt, ptr};

use cuda_std::{Element, Global, GlobalMut};

use crate::device::Device;
use crate::error::Error;
use crate::memory::{Memory, MemoryId, byte_len};
use crate::part::BufferPart;

/// `len` elements in a device's memory, freed when dropped.
///
/// Made by [`Device::alloc`], [`Device::zeroed`] or [`Device::upload`]. Kernels see it through [`view`](Self::view) and
/// [`view_mut`](Self::view_mut). Every operation comes after the launches made before it.
pub struct Buffer<T: Element> {
    memory: Memory,
    len: usize,
    elements: PhantomData<T>,
}

impl Device {
    /// A buffer of `len` elements with unspecified contents.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], [`Error::TooLarge`]; [`Error::ContextLost`] when a launch made before failed.
    pub fn alloc<T: Element>(&self, len: usize) -> Result<Buffer<T>, Error> {
        Ok(Buffer { memory: Memory::new(self, byte_len::<T>(len)?)?, len, elements: PhantomData })
    }

    /// A buffer of `len` elements whose bytes are all zero.
    ///
    /// # Errors
    ///
    /// As for [`alloc`](Self::alloc).
    pub fn zeroed<T: Element>(&self, len: usize) -> Result<Buffer<T>, Error> {
        let mut buffer = self.alloc(len)?;
        buffer.fill_zero()?;
        Ok(buffer)
    }

    /// A buffer with the elements of `data`.
    ///
    /// # Errors
    ///
    /// As for [`alloc`](Self::alloc).
    pub fn upload<T: Element>(&self, data: &[T]) -> Result<Buffer<T>, Error> {
        let mut buffer = self.alloc(data.len())?;
        buffer.upload(data)?;
        Ok(buffer)
    }
}

impl<T: Element> Buffer<T> {
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
        // which the view's lifetime borrows. Memory of a device is initialised as far as `T: Pod` can tell.
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
        // SAFETY: the vector has room for `len` elements.
        unsafe { self.memory.read(data.as_mut_ptr().cast()) }?;
        // SAFETY: `read` has written the bytes of `len` elements, and any bytes make a `T: Pod`.
        unsafe { data.set_len(self.len) };
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

    /// Sets every byte to zero. On a GPU it returns at once.
    ///
    /// # Errors
    ///
    /// [`Error::ContextLost`] when a launch made before failed.
    pub fn fill_zero(&mut self) -> Result<(), Error> {
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

impl<T: Element> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("len", &self.len).field("device", &self.device().name()).finish()
    }
}

/// The bytes of `data`, also where an element has none.
fn bytes_of<T: Element>(data: &[T]) -> &[u8] {
    // SAFETY: `T: Pod` has no padding, so that every byte of the slice is initialised.
    unsafe { std::slice::from_raw_parts(data.as_ptr().cast(), size_of_val(data)) }
}
