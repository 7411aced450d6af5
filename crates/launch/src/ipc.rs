//! Memory and events that several processes of a host share, through CUDA's IPC.
//!
//! One process allocates memory ([`Device::ipc_buffer`]) or creates an event ([`Device::ipc_event`]), each with an
//! [`IpcHandle`], and sends the handle's bytes to another process by any means. The other process opens the handles,
//! copies from the memory and waits for the event. Only events order the two processes. Without events, one process may
//! read bytes while the other writes them.
//!
//! Simulated devices of one process can open each other's memory and events, for tests without a GPU.
//!
//! # Design
//!
//! Shared memory is freed only when its owner calls [`IpcBuffer::free`], because no process can find out whether
//! another process has the memory open. The GPU back end can open memory of other processes only, not of its own
//! process.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut, Range};

use cuda_std::Element;

use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::Error;
use crate::objects::{BackendEvent, HANDLE_BYTES, Opened};

/// The granularity of the driver's mappings in bytes. The size of shared memory is a multiple of this number, so that
/// another process cannot access neighbouring memory.
const MAPPED_BYTES: usize = 2 << 20;

/// The handle by which another process opens memory or an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IpcHandle(pub [u8; HANDLE_BYTES]);

/// A buffer that other processes may read.
///
/// Dropping an `IpcBuffer` does not free the memory, because other processes may still read it. [`free`](Self::free) or
/// the end of the process frees it.
pub struct IpcBuffer<T: Element>(ManuallyDrop<Buffer<T>>);

impl<T: Element> IpcBuffer<T> {
    /// Frees the memory of the buffer.
    ///
    /// # Safety
    /// No other process may have the memory open, or open it afterwards.
    pub unsafe fn free(self) {
        drop(ManuallyDrop::into_inner(self.0));
    }
}

impl<T: Element> Deref for IpcBuffer<T> {
    type Target = Buffer<T>;

    fn deref(&self) -> &Buffer<T> {
        &self.0
    }
}

impl<T: Element> DerefMut for IpcBuffer<T> {
    fn deref_mut(&mut self) -> &mut Buffer<T> {
        &mut self.0
    }
}

/// An event that other processes may wait for.
pub struct IpcEvent {
    event: BackendEvent,
    /// The device. This is the last field, so that the device is dropped after the event.
    device: Device,
}

/// A buffer of another process, opened by this process for reading.
pub struct OpenedBuffer<T: Element> {
    memory: Opened,
    elements: PhantomData<T>,
    /// The device that opened the memory. This is the last field, so that the device is dropped after the memory.
    device: Device,
}

/// An event of another process, opened by this process for waiting.
pub struct OpenedEvent {
    event: BackendEvent,
    /// The device that opened the event. This is the last field, so that the device is dropped after the event.
    device: Device,
}

impl Device {
    /// Allocates a buffer of at least `len` elements for other processes to read. Returns the buffer and its handle.
    /// The contents are unspecified.
    ///
    /// # Errors
    ///
    /// The same errors as [`alloc`](Self::alloc); [`Error::Driver`] if the driver cannot share memory.
    pub fn ipc_buffer<T: Element>(&self, len: usize) -> Result<(IpcBuffer<T>, IpcHandle), Error> {
        let pieces = crate::memory::byte_len::<T>(len)?.div_ceil(MAPPED_BYTES).max(1);
        let buffer: Buffer<T> = self.alloc(pieces * MAPPED_BYTES / size_of::<T>())?;
        let (start, bytes) = (buffer.view().as_ptr(), buffer.len() * size_of::<T>());
        // SAFETY: the address is the first byte of an allocation of `alloc`, which is not freed before
        // `IpcBuffer::free`.
        let handle = unsafe { self.backend().memory_handle(start.cast(), bytes) }?;
        // From here on other processes may open the memory.
        Ok((IpcBuffer(ManuallyDrop::new(buffer)), IpcHandle(handle)))
    }

    /// Opens a buffer of another process, which must be on the same host.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] if the driver cannot open the buffer; [`Error::NotSupported`] in the simulator, if the buffer
    /// belongs to another process.
    pub fn open_ipc_buffer<T: Element>(&self, handle: &IpcHandle) -> Result<OpenedBuffer<T>, Error> {
        let memory = self.backend().open_memory(&handle.0)?;
        Ok(OpenedBuffer { memory, elements: PhantomData, device: self.clone() })
    }

    /// Creates an event for other processes to wait for, and returns it with its handle. The event must be
    /// [recorded](IpcEvent::record) before other processes wait for it.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] if the driver cannot share events; [`Error::ContextLost`] when an earlier launch failed.
    pub fn ipc_event(&self) -> Result<(IpcEvent, IpcHandle), Error> {
        let (event, handle) = self.backend().shared_event()?;
        Ok((IpcEvent { event, device: self.clone() }, IpcHandle(handle)))
    }

    /// Opens an event of another process.
    ///
    /// # Errors
    ///
    /// The same errors as [`open_ipc_buffer`](Self::open_ipc_buffer).
    pub fn open_event(&self, handle: &IpcHandle) -> Result<OpenedEvent, Error> {
        Ok(OpenedEvent { event: self.backend().open_event(&handle.0)?, device: self.clone() })
    }
}

impl IpcEvent {
    /// Records the event. It completes when everything enqueued on the device so far, except in streams, is done.
    ///
    /// # Errors
    ///
    /// [`Error::ContextLost`] when an earlier launch failed.
    pub fn record(&mut self) -> Result<(), Error> {
        // SAFETY: `shared_event` of this device returned the event.
        unsafe { self.device.backend().record_in(&self.event) }
    }
}

impl OpenedEvent {
    /// Makes all later work of the device, except in streams, wait for the other process's last record of the event. On
    /// a GPU the call returns at once.
    ///
    /// # Errors
    ///
    /// [`Error::ContextLost`] when an earlier launch failed.
    pub fn wait(&self) -> Result<(), Error> {
        // SAFETY: this device opened the event.
        unsafe { self.device.backend().wait_for(&self.event) }
    }
}

impl<T: Element> Buffer<T> {
    /// Copies the elements `range` of `source` to this buffer, starting at index `at`. This buffer's device must have
    /// opened `source`.
    ///
    /// The copy runs after the earlier work of the device and before its later work, except work in streams. On a GPU
    /// the call returns at once. If the other process writes the elements meanwhile, the copied elements are
    /// unspecified.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] if either buffer is too short; [`Error::WrongDevice`] if another device has opened
    /// `source`; [`Error::ContextLost`] when an earlier launch failed.
    pub fn copy_range_from_ipc(
        &mut self,
        at: usize,
        source: &OpenedBuffer<T>,
        range: Range<usize>,
    ) -> Result<(), Error> {
        let len = source.memory.bytes / size_of::<T>();
        if range.start > range.end || range.end > len {
            let what = "copy from another process";
            return Err(Error::OutOfRange { what, start: range.start, end: range.end, buffer: len });
        }
        if source.device.id() != self.device().id() {
            let device = self.device().name().to_owned();
            return Err(Error::WrongDevice { what: "a copy from another process".to_owned(), device });
        }
        self.bytes_at("copy to", at, range.len())?;
        if range.is_empty() {
            return Ok(());
        }
        let to = self.view_mut().as_ptr().wrapping_add(at);
        let from = source.memory.start.wrapping_add(range.start * size_of::<T>());
        let bytes = range.len() * size_of::<T>();
        self.device().queues().join_streams()?;
        // SAFETY: both buffers have these elements, for which any bits are valid. No view of this buffer exists,
        // because it is borrowed mutably.
        unsafe { self.device().backend().copy_opened(to.cast(), from, bytes) }?;
        self.device().queues().fork_streams()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::Group;

    fn two() -> [Device; 2] {
        let group = Group::open(&"sim:2".parse().unwrap(), &[]).unwrap();
        [group.members()[0].clone(), group.members()[1].clone()]
    }

    #[test]
    fn another_device_reads_shared_memory() {
        let [here, there] = two();
        let give = || {
            let (mut given, handle) = there.ipc_buffer::<u32>(5).unwrap();
            given.upload_range(1, &[7, 8, 9]).unwrap();
            // The memory stays allocated after `given` is dropped.
            handle
        };
        let handle = give();
        let opened = here.open_ipc_buffer::<u32>(&handle).unwrap();
        let (mut event, of_event) = there.ipc_event().unwrap();
        event.record().unwrap();
        here.open_event(&of_event).unwrap().wait().unwrap();
        let mut buffer = here.upload(&[1_u32, 2, 3]).unwrap();
        buffer.copy_range_from_ipc(1, &opened, 2..4).unwrap();
        assert_eq!(buffer.download().unwrap(), [1, 8, 9]);
    }

    #[test]
    fn invalid_ranges_and_handles_are_refused() {
        let [here, there] = two();
        let (given, handle) = there.ipc_buffer::<u32>(1).unwrap();
        let opened = here.open_ipc_buffer::<u32>(&handle).unwrap();
        let mut buffer = here.upload(&[1_u32, 2, 3]).unwrap();
        let end = given.len();
        assert!(matches!(buffer.copy_range_from_ipc(0, &opened, end..end + 1), Err(Error::OutOfRange { .. })));
        assert!(matches!(buffer.copy_range_from_ipc(2, &opened, 0..2), Err(Error::OutOfRange { .. })));
        let mut other = there.upload(&[1_u32]).unwrap();
        assert!(matches!(other.copy_range_from_ipc(0, &opened, 0..1), Err(Error::WrongDevice { .. })));
        let mut forged = handle;
        forged.0[3] ^= 1;
        assert!(matches!(here.open_ipc_buffer::<u32>(&forged), Err(Error::NotSupported { .. })));
        assert!(matches!(here.open_event(&IpcHandle([0; 64])), Err(Error::NotSupported { .. })));
    }
}
