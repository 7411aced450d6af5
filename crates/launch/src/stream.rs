//! Streams: queues whose work the device may execute at the same time.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;

use cuda_std::{Call, DeviceId, Element, Global, GlobalMut, LaunchConfig, Params};

use crate::device::Device;
use crate::error::Error;
use crate::event::Event;
use crate::open_stream::{OpenStream, bytes_at};
use crate::ordering::StreamWork;
use crate::part::BufferPart;
use crate::queue::Queue;
use crate::view::{Region, View};

/// A queue of copies and launches, made by [`Device::streams`] or [`Group::streams`](crate::Group::streams). The work
/// of one stream runs in order; the work of several streams may run at the same time.
///
/// On a GPU, every call returns before its work is done, so the memory that a copy or kernel uses must outlive the
/// scope (`'scope`). At its end the scope waits for all work. Copies of host memory that is not page-locked
/// ([`PinnedBuffer`](crate::PinnedBuffer)) are slower, because the driver copies it through memory of its own before
/// the call returns. The simulator executes each call at once.
///
/// Memory that a stream reads or writes cannot be freed or accessed before the scope has ended:
///
/// ```compile_fail,E0597
/// # fn local(device: &launch::Device, buffer: &mut launch::Buffer<u32>) -> Result<(), launch::Error> {
/// let view = buffer.view_mut();
/// device.streams(1, |streams| {
///     let data = vec![1, 2, 3];
///     streams[0].upload(view, &data) // does not compile: `data` is dropped before the copy is done
/// })
/// # }
/// ```
///
/// ```compile_fail,E0506
/// # fn early(device: &launch::Device, buffer: &mut launch::Buffer<u32>) -> Result<(), launch::Error> {
/// let mut data = [1, 2, 3];
/// let view = buffer.view_mut();
/// device.streams(1, |streams| {
///     streams[0].upload(view, &data)?;
///     data[0] = 4; // does not compile: `data` may still be read
///     Ok(())
/// })
/// # }
/// ```
///
/// ```compile_fail,E0597
/// # fn freed(device: &launch::Device) -> Result<(), launch::Error> {
/// # let mut host = [0; 3];
/// device.streams(1, |streams| {
///     let buffer = device.zeroed::<u32>(3)?;
///     streams[0].download(buffer.view(), &mut host) // does not compile: `buffer` is freed before the copy is done
/// })
/// # }
/// ```
pub struct Stream<'scope, 'env: 'scope> {
    device: &'scope Device,
    /// The devices of all streams in the scope.
    devices: &'scope [Device],
    open: &'scope Arc<OpenStream>,
    /// Makes both lifetimes invariant, as they are in [`std::thread::Scope`].
    scope: PhantomData<&'scope mut &'scope ()>,
    environment: PhantomData<&'env mut &'env ()>,
}

impl<'scope, 'env> Stream<'scope, 'env> {
    /// Makes the handle of `open`, a stream of the device with index `member` in `devices`.
    pub(crate) fn new(devices: &'scope [Device], member: usize, open: &'scope Arc<OpenStream>) -> Self {
        Self { device: &devices[member], devices, open, scope: PhantomData, environment: PhantomData }
    }

    /// Returns the queue that enqueues work in this stream, for the algorithms and other functions that take a queue.
    /// The memory of that work is not borrowed until the end of the scope, as an
    /// [`OwnedStream`](crate::OwnedStream) describes.
    ///
    /// # Errors
    ///
    /// [`Error::ContextLost`] when an earlier launch failed.
    pub fn queue(&self) -> Result<Queue<'scope>, Error> {
        self.device.queues().use_as_queue(self.open)?;
        Ok(Queue::of_stream(self.device, self.open))
    }

    /// Returns the device that executes the work of this stream.
    pub fn device(&self) -> &'scope Device {
        self.device
    }

    /// Copies the elements of `from` to `view`, in stream order.
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`] if `view` and `from` have different lengths; [`Error::WrongDevice`] if `view` points
    /// to another device's memory; [`Error::ContextLost`] when an earlier launch failed; [`Error::StreamRace`] if the
    /// device checks streams and finds a race.
    #[track_caller]
    pub fn upload<T: Element>(&self, view: GlobalMut<'scope, T>, from: &'scope [T]) -> Result<(), Error> {
        self.check("upload", view.len(), from.len(), view.device())?;
        self.open.note(
            &[(bytes_at(view.as_ptr().cast(), size_of_val(from)), StreamWork::Upload, true)],
            Location::caller(),
        )?;
        // SAFETY: `check` has checked that the view is of this device's memory and has as many elements as `from`; it
        // is aligned. Both live for `'scope`, which ends after the copy, and `from` is borrowed.
        unsafe {
            self.open.backend().upload(view.as_ptr().cast(), from.as_ptr().cast(), size_of_val(from), size_of::<T>())
        }
    }

    /// Copies the elements of `from` to `part` and returns a view that kernels may read afterwards. Kernels in other
    /// streams must [`wait`](Self::wait) for the copy; until then they read unspecified values.
    ///
    /// # Errors
    ///
    /// The same errors as [`upload`](Self::upload).
    #[track_caller]
    pub fn upload_part<T: Element>(
        &self,
        part: BufferPart<'scope, T>,
        from: &'scope [T],
    ) -> Result<Global<'scope, T>, Error> {
        self.upload(part.write_view(), from)?;
        Ok(part.view())
    }

    /// Copies the elements of `view`, a [`Global`] or a [`GlobalMut`], to `into`, in stream order.
    ///
    /// # Errors
    ///
    /// The same errors as [`upload`](Self::upload).
    #[track_caller]
    pub fn download<T: Element>(&self, view: impl View<'scope, T>, into: &'scope mut [T]) -> Result<(), Error> {
        let Region { start, len, device } = view.region();
        self.check("download", len, into.len(), device)?;
        self.open.note(&[(bytes_at(start, size_of_val(into)), StreamWork::Download, false)], Location::caller())?;
        // SAFETY: `check` has checked that the view is of this device's memory and has as many elements as `into`; it
        // is aligned. Both live for `'scope`, which ends after the copy, and `into` is borrowed mutably.
        unsafe { self.open.backend().download(into.as_mut_ptr().cast(), start, size_of_val(into), size_of::<T>()) }
    }

    /// Copies the elements of `from` to `to`, within the device or, in a scope of a [`Group`](crate::Group), between
    /// this device and another member. At least one of the views must point to this device's memory. The copy is
    /// ordered only with the work of this stream.
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`] if the views have different lengths; [`Error::Overlap`] if they overlap;
    /// [`Error::WrongDevice`] if neither view points to this device's memory, or if a view points outside the memory of
    /// all members; otherwise the same errors as [`upload`](Self::upload).
    #[track_caller]
    pub fn copy<T: Element>(&self, to: GlobalMut<'scope, T>, from: impl View<'scope, T>) -> Result<(), Error> {
        let Region { start, len, device } = from.region();
        let owner = if to.device() == self.device.id() { to.device() } else { device };
        self.check("copy", to.len(), len, owner)?;
        let (target, source) = (self.member(to.device())?, self.member(device)?);
        let bytes = len * size_of::<T>();
        let (read, written) = (bytes_at(start, bytes), bytes_at(to.as_ptr().cast(), bytes));
        if target.id() == source.id() && read.start < written.end && written.start < read.end {
            return Err(Error::Overlap);
        }
        self.open.note(&[(read, StreamWork::Copy, false), (written, StreamWork::Copy, true)], Location::caller())?;
        // SAFETY: the views are of these devices' memories, have the same length, are aligned, and do not overlap, as
        // checked above. They live for `'scope`, which ends after the copy.
        unsafe {
            let (to, element) = (to.as_ptr().cast(), size_of::<T>());
            self.open.backend().copy((to, target.backend()), (start, source.backend()), bytes, element)
        }
    }

    /// Enqueues the kernel of `call`. Each thread of the grid that `config` describes runs the kernel once.
    ///
    /// # Errors
    ///
    /// The same errors as [`Device::launch`]; [`Error::StreamRace`] if the device checks streams and finds a race.
    #[track_caller]
    pub fn launch(&self, config: LaunchConfig, call: Call<'scope>) -> Result<(), Error> {
        let mut params = Params::new();
        self.device.encode(config, &call, &mut params)?;
        // SAFETY: `encode` has checked that the views of the call are of this device's memory. They stay borrowed for
        // `'scope`, which ends after the kernel.
        unsafe { self.open.launch(self.device.backend(), config, &call, &params, Location::caller()) }
    }

    /// Returns an event that completes when everything enqueued in this stream so far is done.
    ///
    /// # Errors
    ///
    /// [`Error::ContextLost`] when an earlier launch failed.
    pub fn record(&self) -> Result<Event, Error> {
        Event::of_stream(self.device, self.open)
    }

    /// Makes all later work of this stream wait for `event`. The event may belong to any stream of this device or, in a
    /// scope of a [`Group`](crate::Group), to a stream of any member. The host does not wait.
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`] if the event belongs to a device outside the scope; [`Error::ContextLost`] when an
    /// earlier launch failed.
    pub fn wait(&self, event: &Event) -> Result<(), Error> {
        event.check_device(self.devices)?;
        // SAFETY: the event is of a device of the scope, and all its devices are of one kind.
        unsafe { self.open.wait(&event.event, event.clock.as_ref()) }
    }

    /// Waits until everything enqueued in this stream so far is done and the output of its kernels is printed.
    ///
    /// # Errors
    ///
    /// [`Error::ContextLost`] when an earlier launch failed.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.open.synchronize()
    }

    /// Returns the device of the scope whose id is `device`.
    fn member(&self, device: DeviceId) -> Result<&'scope Device, Error> {
        self.devices.iter().find(|member| member.id() == device).ok_or_else(|| self.wrong_device(device, "copy"))
    }

    fn wrong_device(&self, used: DeviceId, what: &str) -> Error {
        Error::wrong_device(used, format!("the {what} in a stream"), self.device.name())
    }

    fn check(&self, what: &'static str, view: usize, other: usize, device: DeviceId) -> Result<(), Error> {
        if device != self.device.id() {
            return Err(self.wrong_device(device, what));
        }
        if view == other { Ok(()) } else { Err(Error::LengthMismatch { what, buffer: view, other }) }
    }
}

impl fmt::Debug for Stream<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("device", &self.device.name()).finish_non_exhaustive()
    }
}
