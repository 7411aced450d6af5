//! Memory, contexts, streams and events that this crate shares with other CUDA libraries.
//!
//! # Design
//!
//! Another library's object comes with an `owner`, a value that keeps the object alive: the other library's handle of
//! it, or `()` if the caller keeps it alive by other means. The owner is dropped when this crate does not use the
//! object any more. The simulator has no objects of other libraries: it takes back the memory that it gave away, and
//! refuses all else.

use std::ffi::c_void;

use cuda_std::{DeviceCopy, Global, GlobalMut};

use crate::buffer::Buffer;
use crate::choice::DeviceChoice;
use crate::cuda;
use crate::device::Device;
use crate::error::Error;
use crate::event::Event;
use crate::memory::{ALIGNMENT, Memory, byte_len};
use crate::module::PtxModule;
use crate::objects::Allocated;
use crate::owned_stream::OwnedStream;
use crate::queue::Queue;

fn check_alignment(pointer: *const u8) -> Result<(), Error> {
    match pointer.addr() % ALIGNMENT {
        0 => Ok(()),
        _ => Err(Error::Misaligned { address: pointer.addr(), alignment: ALIGNMENT }),
    }
}

impl<T: DeviceCopy> Buffer<T> {
    /// Gives up the memory without freeing it, and returns its address on the device and the number of elements. Work
    /// that was enqueued may still use the memory: other code must come after it, by an event or by
    /// [`Device::synchronize`].
    ///
    /// The memory is freed by a buffer that [`from_raw`](Self::from_raw) makes of it. On a GPU, `cuMemFree` also frees
    /// it, unless [`from_foreign`](Self::from_foreign) has made this buffer: then its owner is never dropped. The
    /// memory lives at most as long as the device's context.
    pub fn into_raw(self) -> (*mut T, usize) {
        let (pointer, len) = (self.pointer(), self.len());
        self.into_memory().release();
        (pointer, len)
    }

    /// Makes a buffer of memory that [`into_raw`](Self::into_raw) has returned. On a GPU, `cuMemAlloc` or
    /// `cuMemAllocAsync` may also have allocated it. Dropping the buffer waits for the work of the device and frees the
    /// memory.
    ///
    /// ```
    /// use launch::{Buffer, Device, DeviceChoice};
    ///
    /// # fn main() -> Result<(), launch::Error> {
    /// let device = Device::open(DeviceChoice::Sim, &[])?;
    /// let (pointer, len) = device.upload(&[1, 2, 3])?.into_raw();
    /// // SAFETY: the memory is that of `into_raw`, of the same device.
    /// let buffer: Buffer<i32> = unsafe { Buffer::from_raw(&device, pointer, len) }?;
    /// assert_eq!(buffer.download()?, [1, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Misaligned`] unless the address is a multiple of 256; [`Error::TooLarge`] if the size exceeds every
    /// memory. In the simulator, [`Error::NotSupported`] unless `into_raw` of a buffer of this device has returned this
    /// memory. The memory then keeps its owner.
    ///
    /// # Safety
    ///
    /// - The memory must be of the context of `device` and must have `len` elements, all of them valid values of `T`.
    /// - No other code may free it, or access it while the buffer exists, except as work of a queue of this device or
    ///   with an order by events.
    pub unsafe fn from_raw(device: &Device, pointer: *mut T, len: usize) -> Result<Self, Error> {
        // SAFETY: the caller guarantees that the memory has no other owner.
        let allocate = |bytes| unsafe { device.backend().adopt(pointer.cast(), bytes) };
        // SAFETY: the caller guarantees the elements.
        unsafe { Self::of_raw(device, pointer, len, allocate) }
    }

    /// Makes a buffer of memory that another library has allocated and that `owner` frees when it is dropped. Dropping
    /// the buffer waits for the work of the device and then drops `owner`.
    ///
    /// Later work of this device must come after the other library's work on the memory: let the two share a stream
    /// ([`Device::stream_from_raw`]), or wait for an event ([`Event::from_raw`]).
    ///
    /// # Errors
    ///
    /// As for [`from_raw`](Self::from_raw); [`Error::NotSupported`] in the simulator. `owner` is then dropped.
    ///
    /// # Safety
    ///
    /// - The memory must be of the context of `device`, must have `len` elements, all of them valid values of `T`, and
    ///   must live as long as `owner`.
    /// - No other code may access it while the buffer exists, except as work of a queue of this device or with an order
    ///   by events.
    pub unsafe fn from_foreign(
        device: &Device,
        pointer: *mut T,
        len: usize,
        owner: impl Send + Sync + 'static,
    ) -> Result<Self, Error> {
        // SAFETY: the caller guarantees that the memory lives as long as `owner`.
        let allocate = |_| unsafe { device.backend().foreign_memory(pointer.cast(), Box::new(owner)) };
        // SAFETY: the caller guarantees the elements.
        unsafe { Self::of_raw(device, pointer, len, allocate) }
    }

    /// Makes a buffer of the memory that `allocate` returns for its size in bytes.
    ///
    /// # Safety
    /// The memory at `pointer` must have `len` valid elements on `device`.
    unsafe fn of_raw(
        device: &Device,
        pointer: *mut T,
        len: usize,
        allocate: impl FnOnce(usize) -> Result<Allocated, Error>,
    ) -> Result<Self, Error> {
        let bytes = byte_len::<T>(len)?;
        let allocated = if bytes == 0 {
            None
        } else {
            check_alignment(pointer.cast())?;
            Some(allocate(bytes)?)
        };
        Ok(Self::of_memory(Memory::of_allocated(device, bytes, allocated)?, len))
    }
}

impl Device {
    /// Returns a view of `len` elements of another library's memory, for kernels to read. `'a` is chosen by the caller.
    ///
    /// # Errors
    ///
    /// [`Error::Misaligned`] unless the address is aligned for the element, and to its size if that is 2, 4, 8 or 16
    /// bytes.
    ///
    /// # Safety
    ///
    /// - The memory must be of the device's context and must have `len` elements, all of them valid values of `T`.
    /// - Until all work that uses the view is done, it must live, and no other code may write it.
    pub unsafe fn view_from_raw<'a, T: DeviceCopy>(
        &self,
        pointer: *const T,
        len: usize,
    ) -> Result<Global<'a, T>, Error> {
        check_element(pointer)?;
        // SAFETY: the pointer is aligned, and the caller guarantees the elements and their lifetime.
        Ok(unsafe { Global::from_raw_parts(pointer, len, self.id()) })
    }

    /// Returns a view of `len` elements of another library's memory, for kernels to read and write.
    ///
    /// # Errors
    ///
    /// As for [`view_from_raw`](Self::view_from_raw).
    ///
    /// # Safety
    ///
    /// - The memory must be of the device's context and must have `len` elements, all of them valid values of `T`.
    /// - Until all work that uses the view is done, it must live, and no other code may access it.
    pub unsafe fn view_mut_from_raw<'a, T: DeviceCopy>(
        &self,
        pointer: *mut T,
        len: usize,
    ) -> Result<GlobalMut<'a, T>, Error> {
        check_element(pointer.cast_const())?;
        // SAFETY: the pointer is aligned, and the caller guarantees the elements and their lifetime.
        Ok(unsafe { GlobalMut::from_raw_parts(pointer, len, self.id()) })
    }

    /// Opens a device on the context `context` (a `CUcontext`) of another library, with a stream of its own. It and the
    /// other library can use each other's memory. Libraries that use the GPU's primary context, as most do, need only
    /// [`Device::open`], which uses it too.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] if the GPU cannot run the modules, or there is no driver.
    ///
    /// # Safety
    ///
    /// `context` must exist as long as `owner`, which is dropped after all that this device has made.
    pub unsafe fn from_raw_context(
        context: *mut c_void,
        owner: impl Send + Sync + 'static,
        modules: &'static [PtxModule],
    ) -> Result<Device, Error> {
        // SAFETY: the caller guarantees that the context lives as long as `owner`.
        unsafe { cuda::open_context(context, Box::new(owner), modules) }
            .map(Self::of_gpu)
            .map_err(|reason| Error::NoDevice { choice: DeviceChoice::Gpu(None).into(), reason })
    }

    /// Returns the driver's handle of the device's context, a `CUcontext`.
    ///
    /// # Errors
    ///
    /// [`Error::NotSupported`] in the simulator.
    pub fn raw_context(&self) -> Result<*mut c_void, Error> {
        self.backend().raw_context()
    }

    /// Uses the stream `stream` (a `CUstream`) of another library, which may be null, the default stream. The work of
    /// its [`queue`](OwnedStream::queue) comes after the work that is in the stream already and after the earlier work
    /// of the device. Dropping the result does not destroy the stream.
    ///
    /// # Errors
    ///
    /// [`Error::NotSupported`] in the simulator; [`Error::ContextLost`] when an earlier launch failed.
    ///
    /// # Safety
    ///
    /// The stream must be of the device's context and exist as long as `owner`. Its work must not be captured for a
    /// graph while a queue enqueues work.
    pub unsafe fn stream_from_raw(
        &self,
        stream: *mut c_void,
        owner: impl Send + Sync + 'static,
    ) -> Result<OwnedStream, Error> {
        // SAFETY: the caller guarantees that the stream lives as long as `owner`.
        OwnedStream::new(self, unsafe { self.backend().foreign_stream(stream, Box::new(owner)) }?)
    }
}

impl Queue<'_> {
    /// Returns the driver's handle of the stream in which this queue enqueues its work, a `CUstream`. Another library
    /// can enqueue work in it, which then comes after the earlier work of the queue and before the later.
    ///
    /// # Errors
    ///
    /// [`Error::NotSupported`] in the simulator; [`Error::Recording`] if the queue records.
    pub fn raw_stream(self) -> Result<*mut c_void, Error> {
        let raw = match self.stream("share the stream")? {
            Some(stream) => stream.backend().raw(),
            None => self.device().backend().raw_stream()?,
        };
        if self.device().is_simulated() { Err(self.device().backend().no_interop()) } else { Ok(raw) }
    }
}

impl Event {
    /// Uses the event `event` (a `CUevent`) of another library, which has recorded it. [`Queue::wait`] makes work of
    /// this device wait for it. Dropping the result does not destroy the event.
    ///
    /// # Errors
    ///
    /// [`Error::NotSupported`] in the simulator.
    ///
    /// # Safety
    ///
    /// The event must be of the context of `device` and exist as long as `owner`.
    pub unsafe fn from_raw(
        device: &Device,
        event: *mut c_void,
        owner: impl Send + Sync + 'static,
    ) -> Result<Event, Error> {
        // SAFETY: the caller guarantees that the event lives as long as `owner`.
        let event = unsafe { device.backend().foreign_event(event, Box::new(owner)) }?;
        Ok(Event { event, clock: None, device: device.clone() })
    }

    /// Returns the driver's handle of the event, a `CUevent`, for which another library can wait. It exists as long as
    /// `self`.
    ///
    /// # Errors
    ///
    /// [`Error::NotSupported`] in the simulator.
    pub fn raw(&self) -> Result<*mut c_void, Error> {
        self.device.backend().raw_event(&self.event)
    }
}

/// Checks that a view of elements of `T` may begin at `pointer`.
fn check_element<T>(pointer: *const T) -> Result<(), Error> {
    // A kernel accesses an element of one of these sizes at once.
    let alignment = if [2, 4, 8, 16].contains(&size_of::<T>()) { size_of::<T>() } else { 1 }.max(align_of::<T>());
    match pointer.addr() % alignment {
        0 => Ok(()),
        _ => Err(Error::Misaligned { address: pointer.addr(), alignment }),
    }
}
