//! Streams: work that the device may do at the same time, and events to order and time it.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use cuda_std::{Call, DeviceId, Element, Global, GlobalMut, LaunchConfig, Params};

use crate::backend::{BackendStream, Moment};
use crate::device::Device;
use crate::error::Error;
use crate::part::BufferPart;

/// A queue of copies and launches, made by [`Device::streams`]: what is asked of one stream is done in that order, and
/// what is asked of several may be done at the same time.
///
/// Everything returns at once, but for copies of host memory that is not page-locked
/// ([`PinnedBuffer`](crate::PinnedBuffer)), which the driver brings through memory of its own. So what a copy or a kernel
/// uses must outlive the scope (`'scope`), at whose end everything is done. The simulator does each thing as it is asked.
///
/// What a stream reads or writes cannot go before the scope has ended, nor be touched:
///
/// ```compile_fail,E0597
/// # fn local(device: &launch::Device, buffer: &mut launch::Buffer<u32>) -> Result<(), launch::Error> {
/// let view = buffer.view_mut();
/// device.streams(1, |streams| {
///     let data = vec![1, 2, 3];
///     streams[0].upload(view, &data) // does not compile: `data` goes before the copy is done
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
    stream: &'scope dyn BackendStream,
    /// As for [`std::thread::Scope`]: neither lifetime may be shortened or stretched.
    scope: PhantomData<&'scope mut &'scope ()>,
    environment: PhantomData<&'env mut &'env ()>,
}

impl Device {
    /// Runs `work` with `count` new streams, whose copies and kernels overlap where the device can.
    ///
    /// Before it, what was launched is done; at its end, also when it fails or panics, everything that the streams were
    /// asked is done. So it may borrow what is declared outside of it, as [`std::thread::scope`] does, and host memory that
    /// a stream reads or writes stays borrowed until it ends. What is asked of the device itself in the meantime
    /// ([`launch`](Self::launch), [`Buffer::download`](crate::Buffer::download), …) is not ordered with the streams.
    ///
    /// The [crate's documentation](crate#streams) has an example.
    ///
    /// # Errors
    ///
    /// The error of `work`; [`Error::ContextLost`] when a launch failed; whatever prevents the streams from being made.
    pub fn streams<'env, R>(
        &self,
        count: usize,
        work: impl for<'scope> FnOnce(&'scope [Stream<'scope, 'env>]) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let mut streams = Vec::new();
        let too_many = |_| Error::TooLarge { len: count, element_bytes: size_of::<Stream>() };
        streams.try_reserve_exact(count).map_err(too_many)?;
        let open = OpenStreams { streams: self.backend().streams(count)?, are_finished: false };
        streams.extend(open.streams.iter().map(|stream| Stream {
            device: self,
            stream: &**stream,
            scope: PhantomData,
            environment: PhantomData,
        }));
        let result = work(&streams);
        let end = open.finish();
        result.and_then(|result| end.map(|()| result))
    }
}

/// The streams of a scope, which is not left before all they were asked is done: also when it panics.
struct OpenStreams<'d> {
    streams: Vec<Box<dyn BackendStream + 'd>>,
    are_finished: bool,
}

impl OpenStreams<'_> {
    fn finish(mut self) -> Result<(), Error> {
        self.are_finished = true;
        self.wait()
    }

    /// Waits for all of them and gives the first failure.
    fn wait(&self) -> Result<(), Error> {
        self.streams.iter().map(|stream| stream.finish()).fold(Ok(()), Result::and)
    }
}

impl Drop for OpenStreams<'_> {
    fn drop(&mut self) {
        if !self.are_finished {
            // The panic that leaves the scope is what there is to tell.
            let _ = self.wait();
        }
    }
}

impl<'scope> Stream<'scope, '_> {
    /// Copies the elements of `from` to `view`.
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`] unless both have as many elements, [`Error::WrongDevice`] if `view` is of another
    /// device's memory, [`Error::ContextLost`] when a launch made before failed.
    pub fn upload<T: Element>(&self, view: GlobalMut<'scope, T>, from: &'scope [T]) -> Result<(), Error> {
        self.check("upload", view.len(), from.len(), view.device())?;
        // SAFETY: the view is of this device's memory and has as many elements as `from`, at a multiple of their size. It and
        // `from`, which is borrowed, stay for `'scope`, which ends after the copy.
        unsafe { self.stream.upload(view.as_ptr().cast(), from.as_ptr().cast(), size_of_val(from), size_of::<T>()) }
    }

    /// Copies the elements of `from` to `part`, which from then on kernels may read. Those in other streams must
    /// [`wait`](Self::wait) until it is done: what they read before is unspecified.
    ///
    /// # Errors
    ///
    /// As for [`upload`](Self::upload).
    pub fn upload_part<T: Element>(
        &self,
        part: BufferPart<'scope, T>,
        from: &'scope [T],
    ) -> Result<Global<'scope, T>, Error> {
        self.upload(part.write_view(), from)?;
        Ok(part.view())
    }

    /// Copies the elements of `view`, a [`Global`] or a [`GlobalMut`], to `into`.
    ///
    /// # Errors
    ///
    /// As for [`upload`](Self::upload).
    pub fn download<T: Element>(&self, view: impl View<'scope, T>, into: &'scope mut [T]) -> Result<(), Error> {
        let Region { start, len, device } = view.region();
        self.check("download", len, into.len(), device)?;
        // SAFETY: the view is of this device's memory and has as many elements as `into`, at a multiple of their size. It and
        // `into`, which is borrowed mutably, stay for `'scope`, which ends after the copy.
        unsafe { self.stream.download(into.as_mut_ptr().cast(), start, size_of_val(into), size_of::<T>()) }
    }

    /// Runs a kernel: `call` once for every thread of `config`.
    ///
    /// # Errors
    ///
    /// As for [`Device::launch`].
    pub fn launch(&self, config: LaunchConfig, call: Call<'scope>) -> Result<(), Error> {
        let mut params = Params::new();
        self.device.encode(config, &call, &mut params)?;
        // SAFETY: every view in the call is of this device's memory and stays borrowed for `'scope`, which ends after the
        // kernel.
        unsafe { self.stream.launch(config, &call, &params) }
    }

    /// An event that happens when everything asked of this stream so far is done.
    ///
    /// # Errors
    ///
    /// [`Error::ContextLost`] when a launch made before failed.
    pub fn record(&self) -> Result<Event, Error> {
        Ok(Event { moment: self.stream.record()?, device: self.device.clone() })
    }

    /// Lets everything asked of this stream from now on wait for `event`, of whichever stream. The host goes on.
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`] if it is another device's event; [`Error::ContextLost`] when a launch made before failed.
    pub fn wait(&self, event: &Event) -> Result<(), Error> {
        event.check_device(self.device)?;
        // SAFETY: the event is of this device.
        unsafe { self.stream.wait(&event.moment) }
    }

    /// Waits until everything asked of this stream is done. What its kernels printed has then appeared.
    ///
    /// # Errors
    ///
    /// [`Error::ContextLost`] when a launch made before failed.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.stream.synchronize()
    }

    fn check(&self, what: &'static str, view: usize, other: usize, device: DeviceId) -> Result<(), Error> {
        if device != self.device.id() {
            let what = format!("the {what} in a stream");
            return Err(Error::WrongDevice { what, device: self.device.name().to_owned() });
        }
        if view == other { Ok(()) } else { Err(Error::LengthMismatch { what, buffer: view, other }) }
    }
}

impl fmt::Debug for Stream<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("device", &self.device.name()).finish_non_exhaustive()
    }
}

/// A view that can be copied from: [`Global`] or [`GlobalMut`].
pub trait View<'a, T>: sealed::Sealed<'a> {}

impl<'a, T: Element> View<'a, T> for Global<'a, T> {}

impl<'a, T: Element> View<'a, T> for GlobalMut<'a, T> {}

/// Where a view's elements are.
pub struct Region {
    start: *const u8,
    len: usize,
    device: DeviceId,
}

mod sealed {
    use super::{Element, Global, GlobalMut, Region};

    /// Nobody else's type is a view: what `region` gives is believed.
    pub trait Sealed<'a> {
        fn region(&self) -> Region;
    }

    impl<'a, T: Element> Sealed<'a> for Global<'a, T> {
        fn region(&self) -> Region {
            Region { start: self.as_ptr().cast(), len: self.len(), device: self.device() }
        }
    }

    impl<'a, T: Element> Sealed<'a> for GlobalMut<'a, T> {
        fn region(&self) -> Region {
            Region { start: self.as_ptr().cast_const().cast(), len: self.len(), device: self.device() }
        }
    }
}

/// A point in the work of a stream, made by [`Stream::record`]. It may leave the scope.
pub struct Event {
    moment: Moment,
    /// Last, so that the device outlives what it recorded.
    device: Device,
}

impl Event {
    /// The time from `earlier` to this: the device's on a GPU (to about half a microsecond), that of the clock on the wall
    /// in the simulator. Nothing if this comes first. Waits until both have happened.
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`] if they are of two devices; [`Error::ContextLost`] when a launch failed.
    pub fn elapsed_since(&self, earlier: &Event) -> Result<Duration, Error> {
        earlier.check_device(&self.device)?;
        // SAFETY: both are of this device.
        unsafe { self.device.backend().elapsed(&earlier.moment, &self.moment) }
    }

    fn check_device(&self, device: &Device) -> Result<(), Error> {
        if self.device.id() == device.id() {
            return Ok(());
        }
        Err(Error::WrongDevice { what: "an event".to_owned(), device: device.name().to_owned() })
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("device", &self.device.name()).finish_non_exhaustive()
    }
}
