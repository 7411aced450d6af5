//! Streams: work that the device may do at the same time.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::panic::Location;

use cuda_std::{Call, DeviceId, Element, Global, GlobalMut, LaunchConfig, Params};

use crate::backend::BackendStream;
use crate::device::Device;
use crate::error::Error;
use crate::event::Event;
use crate::ordering::{self, Actor, StreamAccess, StreamWork};
use crate::part::BufferPart;
use crate::view::{Region, View};

/// A queue of copies and launches, made by [`Device::streams`] or [`Group::streams`](crate::Group::streams): what is
/// asked of one stream is done in that order, and what is asked of several may be done at the same time.
///
/// Everything returns at once, but for copies of host memory that is not page-locked
/// ([`PinnedBuffer`](crate::PinnedBuffer)), which the driver brings through memory of its own. So what a copy or a
/// kernel uses must outlive the scope (`'scope`), at whose end everything is done. The simulator does each thing as it
/// is asked.
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
    /// All devices of the scope.
    devices: &'scope [Device],
    stream: &'scope dyn BackendStream,
    /// The device's number among them, and the stream's among those of the device.
    number: (usize, usize),
    /// Where the device checks.
    actor: Option<Actor>,
    /// As for [`std::thread::Scope`]: neither lifetime may be shortened or stretched.
    scope: PhantomData<&'scope mut &'scope ()>,
    environment: PhantomData<&'env mut &'env ()>,
}

impl<'scope, 'env> Stream<'scope, 'env> {
    /// The stream `number` of the device `member` of `devices`.
    pub(crate) fn new(
        devices: &'scope [Device],
        member: usize,
        number: usize,
        stream: &'scope dyn BackendStream,
        actor: Option<Actor>,
    ) -> Self {
        Self {
            device: &devices[member],
            devices,
            stream,
            number: (member, number),
            actor,
            scope: PhantomData,
            environment: PhantomData,
        }
    }

    /// The device that works in it.
    pub fn device(&self) -> &'scope Device {
        self.device
    }

    /// Copies the elements of `from` to `view`.
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`] unless both have as many elements, [`Error::WrongDevice`] if `view` is of another
    /// device's memory, [`Error::ContextLost`] when a launch made before failed; [`Error::StreamRace`] where the device
    /// checks.
    #[track_caller]
    pub fn upload<T: Element>(&self, view: GlobalMut<'scope, T>, from: &'scope [T]) -> Result<(), Error> {
        self.check("upload", view.len(), from.len(), view.device())?;
        self.note(&[(bytes_at(view.as_ptr().cast(), size_of_val(from)), StreamWork::Upload, true)])?;
        // SAFETY: the view is of this device's memory and has as many elements as `from`, at a multiple of their size.
        // It and `from`, which is borrowed, stay for `'scope`, which ends after the copy.
        unsafe { self.stream.upload(view.as_ptr().cast(), from.as_ptr().cast(), size_of_val(from), size_of::<T>()) }
    }

    /// Copies the elements of `from` to `part`, which from then on kernels may read. Those in other streams must
    /// [`wait`](Self::wait) until it is done: what they read before is unspecified.
    ///
    /// # Errors
    ///
    /// As for [`upload`](Self::upload).
    #[track_caller]
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
    #[track_caller]
    pub fn download<T: Element>(&self, view: impl View<'scope, T>, into: &'scope mut [T]) -> Result<(), Error> {
        let Region { start, len, device } = view.region();
        self.check("download", len, into.len(), device)?;
        self.note(&[(bytes_at(start, size_of_val(into)), StreamWork::Download, false)])?;
        // SAFETY: the view is of this device's memory and has as many elements as `into`, at a multiple of their size.
        // It and `into`, which is borrowed mutably, stay for `'scope`, which ends after the copy.
        unsafe { self.stream.download(into.as_mut_ptr().cast(), start, size_of_val(into), size_of::<T>()) }
    }

    /// Copies the elements of `from` to `to`, within the device or, in a scope of a [`Group`](crate::Group), between
    /// this device and another member: one of both views must be of this device's memory. It is ordered in this stream
    /// alone.
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`] unless both have as many elements, [`Error::Overlap`] if they have some in common,
    /// [`Error::WrongDevice`] if neither is of this device's memory, or one of no member's; else as for
    /// [`upload`](Self::upload).
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
        self.note(&[(read, StreamWork::Copy, false), (written, StreamWork::Copy, true)])?;
        // SAFETY: the views are of these devices' memories and have as many elements, at multiples of their size,
        // without overlap. They stay for `'scope`, which ends after the copy.
        unsafe {
            let (to, element) = (to.as_ptr().cast(), size_of::<T>());
            self.stream.copy((to, target.backend()), (start, source.backend()), bytes, element)
        }
    }

    /// Runs a kernel: `call` once for every thread of `config`.
    ///
    /// # Errors
    ///
    /// As for [`Device::launch`]; [`Error::StreamRace`] where the device checks.
    #[track_caller]
    pub fn launch(&self, config: LaunchConfig, call: Call<'scope>) -> Result<(), Error> {
        let mut params = Params::new();
        self.device.encode(config, &call, &mut params)?;
        let launch = || {
            // SAFETY: every view in the call is of this device's memory and stays borrowed for `'scope`, which ends
            // after the kernel.
            unsafe { self.stream.launch(config, &call, &params) }
        };
        match self.actor {
            None => launch(),
            Some(actor) => {
                let work = StreamWork::Launch(call.info());
                let told = StreamAccess::new(work, Some(self.number), Location::caller());
                // SAFETY: as above.
                unsafe { ordering::launch(actor, self.stream, told, params.regions().as_slice(), launch) }
            }
        }
    }

    /// An event that happens when everything asked of this stream so far is done.
    ///
    /// # Errors
    ///
    /// [`Error::ContextLost`] when a launch made before failed.
    pub fn record(&self) -> Result<Event, Error> {
        let (moment, clock) = (self.stream.record()?, self.actor.map(Actor::record));
        Ok(Event { moment, clock, device: self.device.clone() })
    }

    /// Lets everything asked of this stream from now on wait for `event`, of whichever stream of this device or, in a
    /// scope of a [`Group`](crate::Group), of any member. The host goes on.
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`] if it is an event of a device outside of the scope; [`Error::ContextLost`] when a launch
    /// made before failed.
    pub fn wait(&self, event: &Event) -> Result<(), Error> {
        event.check_device(self.devices)?;
        // SAFETY: the event is of a device of the scope, which are all of one kind.
        unsafe { self.stream.wait(&event.moment) }?;
        if let (Some(actor), Some(clock)) = (self.actor, &event.clock) {
            actor.wait(clock);
        }
        Ok(())
    }

    /// Waits until everything asked of this stream is done. What its kernels printed has then appeared.
    ///
    /// # Errors
    ///
    /// [`Error::ContextLost`] when a launch made before failed.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.stream.synchronize()?;
        if let Some(actor) = self.actor {
            actor.synchronize();
        }
        Ok(())
    }

    /// Notes what the stream is about to be asked, where the device checks: which bytes, what, and whether it writes
    /// them.
    #[track_caller]
    fn note(&self, accesses: &[(Range<usize>, StreamWork, bool)]) -> Result<(), Error> {
        let Some(actor) = self.actor else { return Ok(()) };
        let asked_at = Location::caller();
        let accesses = accesses.iter().map(|&(ref bytes, work, is_write)| {
            (bytes.clone(), StreamAccess { is_write, ..StreamAccess::new(work, Some(self.number), asked_at) })
        });
        let accesses: Vec<_> = accesses.collect();
        Ok(actor.access(&accesses)?)
    }

    /// The device of the scope whose memory that is.
    fn member(&self, device: DeviceId) -> Result<&'scope Device, Error> {
        self.devices.iter().find(|member| member.id() == device).ok_or_else(|| self.wrong_device("copy"))
    }

    fn wrong_device(&self, what: &str) -> Error {
        Error::WrongDevice { what: format!("the {what} in a stream"), device: self.device.name().to_owned() }
    }

    fn check(&self, what: &'static str, view: usize, other: usize, device: DeviceId) -> Result<(), Error> {
        if device != self.device.id() {
            return Err(self.wrong_device(what));
        }
        if view == other { Ok(()) } else { Err(Error::LengthMismatch { what, buffer: view, other }) }
    }
}

impl fmt::Debug for Stream<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("device", &self.device.name()).finish_non_exhaustive()
    }
}

fn bytes_at(start: *const u8, bytes: usize) -> Range<usize> {
    start.addr()..start.addr() + bytes
}
