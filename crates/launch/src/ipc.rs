//! Memory and events that several processes of a host use: CUDA's IPC.
//!
//! One process makes memory ([`Device::given`]) or an event ([`Device::given_event`]), each with an [`IpcHandle`], and
//! sends the handle's bytes to another process by any means. That process opens them, copies from the memory and waits
//! for the event. Only events order the two: nothing else keeps a process from reading what another is writing.
//!
//! Simulated devices of one process can open each other's, so that what is built on this is tested without a GPU.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut, Range};

use cuda_std::Element;

use crate::backend::{HANDLE_BYTES, Moment, Opened};
use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::Error;

/// What the driver maps at a time: memory that is given is a multiple of this, so that nothing else is given with it.
const MAPPED_BYTES: usize = 2 << 20;

/// By what another process opens memory or an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IpcHandle(pub [u8; HANDLE_BYTES]);

/// A buffer that other processes may read.
///
/// Dropping it does not free it, since nobody knows when the last of them is done with it: [`free`](Self::free) does,
/// and the end of the process.
pub struct GivenBuffer<T: Element>(ManuallyDrop<Buffer<T>>);

impl<T: Element> GivenBuffer<T> {
    /// Frees it.
    ///
    /// # Safety
    /// No process may have it open, nor open it any more.
    pub unsafe fn free(self) {
        drop(ManuallyDrop::into_inner(self.0));
    }
}

impl<T: Element> Deref for GivenBuffer<T> {
    type Target = Buffer<T>;

    fn deref(&self) -> &Buffer<T> {
        &self.0
    }
}

impl<T: Element> DerefMut for GivenBuffer<T> {
    fn deref_mut(&mut self) -> &mut Buffer<T> {
        &mut self.0
    }
}

/// An event that other processes may wait for.
pub struct GivenEvent {
    moment: Moment,
    /// Last, so that the device outlives what it recorded.
    device: Device,
}

/// A buffer of another process, which this one may read.
pub struct OpenedBuffer<T: Element> {
    memory: Opened,
    elements: PhantomData<T>,
    /// Last, as above.
    device: Device,
}

/// An event of another process.
pub struct OpenedEvent {
    moment: Moment,
    /// Last, as above.
    device: Device,
}

impl Device {
    /// A buffer of at least `len` elements, with unspecified contents, for other processes to read, and by what they
    /// open it.
    ///
    /// # Errors
    ///
    /// As for [`alloc`](Self::alloc); [`Error::Driver`] where the driver refuses.
    pub fn given<T: Element>(&self, len: usize) -> Result<(GivenBuffer<T>, IpcHandle), Error> {
        let pieces = crate::memory::byte_len::<T>(len)?.div_ceil(MAPPED_BYTES).max(1);
        let buffer: Buffer<T> = self.alloc(pieces * MAPPED_BYTES / size_of::<T>())?;
        let (start, bytes) = (buffer.view().as_ptr(), buffer.len() * size_of::<T>());
        // SAFETY: the buffer is what was allocated, from its first byte on, and it is not freed.
        let handle = unsafe { self.backend().memory_handle(start.cast(), bytes) }?;
        // From now on others may have it.
        Ok((GivenBuffer(ManuallyDrop::new(buffer)), IpcHandle(handle)))
    }

    /// The buffer that another process gave, where it is a device of the same host.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] where the driver refuses; [`Error::NotSupported`] in the simulator, if it is another
    /// process's.
    pub fn open_given<T: Element>(&self, handle: &IpcHandle) -> Result<OpenedBuffer<T>, Error> {
        let memory = self.backend().open_memory(&handle.0)?;
        Ok(OpenedBuffer { memory, elements: PhantomData, device: self.clone() })
    }

    /// An event for other processes to wait for, and by what they open it. It must be [recorded](GivenEvent::record)
    /// before they do.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] where the driver refuses; [`Error::ContextLost`] when a launch made before failed.
    pub fn given_event(&self) -> Result<(GivenEvent, IpcHandle), Error> {
        let (moment, handle) = self.backend().shared_event()?;
        Ok((GivenEvent { moment, device: self.clone() }, IpcHandle(handle)))
    }

    /// The event that another process gave.
    ///
    /// # Errors
    ///
    /// As for [`open_given`](Self::open_given).
    pub fn open_event(&self, handle: &IpcHandle) -> Result<OpenedEvent, Error> {
        Ok(OpenedEvent { moment: self.backend().open_event(&handle.0)?, device: self.clone() })
    }
}

impl GivenEvent {
    /// Makes it the moment when all that the device was asked so far is done, but for what streams are asked.
    ///
    /// # Errors
    ///
    /// [`Error::ContextLost`] when a launch made before failed.
    pub fn record(&mut self) -> Result<(), Error> {
        // SAFETY: it is this device's.
        unsafe { self.device.backend().record_in(&self.moment) }
    }
}

impl OpenedEvent {
    /// Lets all that the device is asked from now on, but for what streams are asked, wait until the moment that the
    /// other process recorded last. On a GPU it returns at once.
    ///
    /// # Errors
    ///
    /// [`Error::ContextLost`] when a launch made before failed.
    pub fn wait(&self) -> Result<(), Error> {
        // SAFETY: it was opened by this device.
        unsafe { self.device.backend().wait_for(&self.moment) }
    }
}

impl<T: Element> Buffer<T> {
    /// Replaces the elements from `at` on by the elements `range` of `source`, which was opened by the same device. It
    /// comes after all that the device was asked before, and before all that it is asked later, but for what streams
    /// are asked; on a GPU it returns at once. What the other process writes meanwhile is copied before or after it, or
    /// in part.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] if either has not these elements; [`Error::WrongDevice`] if another device has opened it;
    /// [`Error::ContextLost`] when a launch made before failed.
    pub fn copy_range_from_given(
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
        if at > self.len() || range.len() > self.len() - at {
            let end = at.saturating_add(range.len());
            return Err(Error::OutOfRange { what: "copy to", start: at, end, buffer: self.len() });
        }
        if range.is_empty() {
            return Ok(());
        }
        let to = self.view_mut().as_ptr().wrapping_add(at);
        let from = source.memory.start.wrapping_add(range.start * size_of::<T>());
        let bytes = range.len() * size_of::<T>();
        // SAFETY: both have these elements, of which any bits are one; no view of this buffer exists, as it is borrowed
        // mutably.
        unsafe { self.device().backend().copy_opened(to.cast(), from, bytes) }
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
    fn what_one_device_gives_another_reads() {
        let [here, there] = two();
        let give = || {
            let (mut given, handle) = there.given::<u32>(5).unwrap();
            given.upload_range(1, &[7, 8, 9]).unwrap();
            // It stays for as long as anybody may read it.
            handle
        };
        let handle = give();
        let opened = here.open_given::<u32>(&handle).unwrap();
        let (mut event, of_event) = there.given_event().unwrap();
        event.record().unwrap();
        here.open_event(&of_event).unwrap().wait().unwrap();
        let mut buffer = here.upload(&[1_u32, 2, 3]).unwrap();
        buffer.copy_range_from_given(1, &opened, 2..4).unwrap();
        assert_eq!(buffer.download().unwrap(), [1, 8, 9]);
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let [here, there] = two();
        let (given, handle) = there.given::<u32>(1).unwrap();
        let opened = here.open_given::<u32>(&handle).unwrap();
        let mut buffer = here.upload(&[1_u32, 2, 3]).unwrap();
        let end = given.len();
        assert!(matches!(buffer.copy_range_from_given(0, &opened, end..end + 1), Err(Error::OutOfRange { .. })));
        assert!(matches!(buffer.copy_range_from_given(2, &opened, 0..2), Err(Error::OutOfRange { .. })));
        let mut other = there.upload(&[1_u32]).unwrap();
        assert!(matches!(other.copy_range_from_given(0, &opened, 0..1), Err(Error::WrongDevice { .. })));
        let mut forged = handle;
        forged.0[3] ^= 1;
        assert!(matches!(here.open_given::<u32>(&forged), Err(Error::NotSupported { .. })));
        assert!(matches!(here.open_event(&IpcHandle([0; 64])), Err(Error::NotSupported { .. })));
    }
}
