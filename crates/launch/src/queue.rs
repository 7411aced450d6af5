//! Queues, which let one function enqueue its work on a device, in a stream or in a graph.
//!
//! # Design
//!
//! Every algorithm enqueues its work in a `Queue`, never in a device, so all of it can run in a stream and be recorded
//! in a graph. Memory that the work of a stream uses is not borrowed; `open_stream.rs` says why that is sound.

use std::panic::Location;
use std::sync::Arc;

use cuda_std::{Call, DeviceCopy, Element, LaunchConfig, Params};

use crate::buffer::{Buffer, check_zeros};
use crate::device::Device;
use crate::error::Error;
use crate::event::Event;
use crate::finished::Finished;
use crate::open_stream::{OpenStream, bytes_at};
use crate::ordering::{Actor, StreamWork};
use crate::recorder::Recorder;

/// A queue of launches, fills and copies, which are executed in the order of the calls. The queue of a [`Device`] or a
/// stream ([`OwnedStream`](crate::OwnedStream), [`Stream::queue`](crate::Stream::queue)) executes them as soon as the
/// earlier ones are done. The queue in [`Device::record`] records them, and the graph executes them at each of its
/// launches. The queues in [`Device::load`] and [`Device::kernels_of`] execute nothing.
///
/// A function that takes a queue works for a device, for a stream and for a graph:
///
/// ```
/// use launch::{Buffer, Device, DeviceChoice, Error, LaunchConfig, Queue};
/// # use cuda_std::{Global, GlobalMut, kernel, thread};
/// # /// `y[i] = a·x[i]` for every `i`; any grid.
/// # #[kernel]
/// # pub fn scale(a: f32, x: Global<f32>, y: GlobalMut<f32>) {
/// #     for i in thread::grid_stride(y.len()) {
/// #         y.store(i, a * x.load(i));
/// #     }
/// # }
///
/// fn twice(queue: Queue<'_>, x: &mut Buffer<f32>, y: &mut Buffer<f32>) -> Result<(), Error> {
///     queue.launch(LaunchConfig::new(1, 32), scale(3.0, x.view(), y.view_mut()))?;
///     queue.launch(LaunchConfig::new(1, 32), scale(3.0, y.view(), x.view_mut()))
/// }
///
/// # fn main() -> Result<(), Error> {
/// let device = Device::open(DeviceChoice::Sim, &[])?;
/// let (mut x, mut y) = (device.upload(&[1.0, 2.0])?, device.alloc(2)?);
/// twice(device.queue(), &mut x, &mut y)?;
/// let stream = device.stream()?;
/// twice(stream.queue(), &mut x, &mut y)?;
/// let mut graph = device.record((&mut x, &mut y), |queue, (x, y)| twice(queue, x, y))?;
/// graph.launch()?;
/// assert_eq!(graph.resources().0.download()?, [729.0, 1458.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Queue<'q> {
    device: &'q Device,
    target: Target<'q>,
}

/// The place where a queue enqueues its work.
#[derive(Clone, Copy, Debug)]
enum Target<'q> {
    /// The device's own stream.
    Own,
    Stream(&'q Arc<OpenStream>),
    Recorder(&'q Recorder),
}

impl<'q> From<&'q Device> for Queue<'q> {
    fn from(device: &'q Device) -> Self {
        Self { device, target: Target::Own }
    }
}

impl<'q> Queue<'q> {
    pub(crate) fn recording(device: &'q Device, recorder: &'q Recorder) -> Self {
        Self { device, target: Target::Recorder(recorder) }
    }

    /// Returns the queue of `stream`, in which queues of `device` may enqueue work.
    pub(crate) fn of_stream(device: &'q Device, stream: &'q Arc<OpenStream>) -> Self {
        Self { device, target: Target::Stream(stream) }
    }

    /// Returns the device that executes the work of this queue.
    pub fn device(self) -> &'q Device {
        self.device
    }

    /// Returns `true` if the queue only records its work, for a graph or to list its kernels.
    pub fn is_recording(self) -> bool {
        matches!(self.target, Target::Recorder(_))
    }

    /// Enqueues the kernel of `call`. Each thread of the grid that `config` describes runs the kernel once.
    ///
    /// # Errors
    ///
    /// As for [`Device::launch`]. A queue that records does not return [`Error::Fault`] and [`Error::ContextLost`]: the
    /// launch of the graph returns them.
    #[track_caller]
    pub fn launch(self, config: LaunchConfig, call: Call<'_>) -> Result<(), Error> {
        match self.target {
            Target::Own => self.device.launch(config, call),
            Target::Stream(stream) => {
                let mut params = Params::new();
                self.device.encode(config, &call, &mut params)?;
                // SAFETY: `encode` has checked that the call's views are of this device's memory. They are borrowed
                // until `note_queue_work` has been called.
                let result =
                    unsafe { stream.launch(self.device.backend(), config, &call, &params, Location::caller()) };
                stream.note_queue_work();
                result
            }
            Target::Recorder(recorder) => {
                let mut params = Params::new();
                self.device.encode(config, &call, &mut params)?;
                recorder.launch(self.device.backend(), config, call, params)
            }
        }
    }

    /// Enqueues a fill, which sets every byte of `buffer` to zero.
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`] if the buffer is on another device; otherwise as for [`Buffer::fill_zero`].
    #[track_caller]
    pub fn fill_zero<T: DeviceCopy>(self, buffer: &mut Buffer<T>) -> Result<(), Error> {
        self.check(buffer, "a fill")?;
        match self.target {
            Target::Own => buffer.fill_zero(),
            Target::Stream(stream) => {
                const { check_zeros::<T>() };
                let (start, bytes) = (buffer.view_mut().as_ptr().cast::<u8>(), buffer.len() * size_of::<T>());
                if bytes == 0 {
                    return Ok(());
                }
                stream.note(&[(bytes_at(start, bytes), StreamWork::Fill, true)], Location::caller())?;
                // SAFETY: the buffer has these bytes on this device. It is borrowed until `note_queue_work` has been
                // called, so that freeing it waits for the fill.
                let result = unsafe { stream.backend().zero(start, bytes) };
                stream.note_queue_work();
                result
            }
            Target::Recorder(recorder) => {
                recorder.zero(buffer);
                Ok(())
            }
        }
    }

    /// Enqueues a copy of the elements of `from` to `to`.
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`] if a buffer is on another device; otherwise as for [`Buffer::copy_from`].
    #[track_caller]
    pub fn copy<T: DeviceCopy>(self, from: &Buffer<T>, to: &mut Buffer<T>) -> Result<(), Error> {
        self.check(to, "a copy between buffers")?;
        match self.target {
            Target::Own => to.copy_from(from),
            Target::Stream(stream) => {
                to.check_source(from)?;
                let (source, bytes) = (from.view().as_ptr().cast::<u8>(), from.len() * size_of::<T>());
                let target = to.view_mut().as_ptr().cast::<u8>();
                if bytes == 0 {
                    return Ok(());
                }
                let (read, written) = (bytes_at(source, bytes), bytes_at(target, bytes));
                let accesses = [(read, StreamWork::Copy, false), (written, StreamWork::Copy, true)];
                stream.note(&accesses, Location::caller())?;
                // SAFETY: both buffers have these bytes on this device, and they differ, because `to` is borrowed
                // mutably. They are borrowed until `note_queue_work` has been called, so that freeing them waits.
                let result = unsafe { stream.backend().copy_buffer(target, source, bytes) };
                stream.note_queue_work();
                result
            }
            Target::Recorder(recorder) => {
                to.check_source(from)?;
                recorder.copy(from, to);
                Ok(())
            }
        }
    }

    /// Replaces all elements of `to` with those of `from`, after the earlier work of this queue, and waits for the
    /// copy. Unlike [`Buffer::upload`], this does not wait for other queues.
    ///
    /// # Errors
    ///
    /// As for [`Buffer::upload`]; [`Error::WrongDevice`] if the buffer is on another device; [`Error::Recording`] if
    /// the queue records.
    #[track_caller]
    pub fn upload<T: Element>(self, to: &mut Buffer<T>, from: &[T]) -> Result<(), Error> {
        self.check(to, "an upload")?;
        let Some(stream) = self.stream("upload")? else { return to.upload(from) };
        to.check_len("upload", from.len())?;
        let (start, bytes) = (to.view_mut().as_ptr().cast::<u8>(), size_of_val(from));
        stream.note(&[(bytes_at(start, bytes), StreamWork::Upload, true)], Location::caller())?;
        // SAFETY: the buffer has as many elements as `from`, on this device. Both are borrowed until the copy is done,
        // for which `finish_copy` waits.
        let result = unsafe { stream.backend().upload(start, from.as_ptr().cast(), bytes, size_of::<T>()) };
        finish_copy(stream, result)
    }

    /// Returns the elements of `from`, after the earlier work of this queue. Unlike [`Buffer::download`], this does not
    /// wait for other queues.
    ///
    /// # Errors
    ///
    /// As for [`Buffer::download`]; [`Error::WrongDevice`] if the buffer is on another device; [`Error::Recording`] if
    /// the queue records.
    #[track_caller]
    pub fn download<T: Element>(self, from: &Buffer<T>) -> Result<Vec<T>, Error> {
        self.check(from, "a download")?;
        let Some(stream) = self.stream("download")? else { return from.download() };
        let (mut into, start, bytes) = (from.room()?, from.view().as_ptr().cast::<u8>(), from.len() * size_of::<T>());
        stream.note(&[(bytes_at(start, bytes), StreamWork::Download, false)], Location::caller())?;
        // SAFETY: the buffer has `bytes` bytes on this device, and the vector has room for them. Both live until the
        // copy is done, for which `finish_copy` waits.
        let result = unsafe { stream.backend().download(into.as_mut_ptr().cast(), start, bytes, size_of::<T>()) };
        finish_copy(stream, result)?;
        // SAFETY: the copy has written these elements, for which any bits are valid.
        unsafe { into.set_len(from.len()) };
        Ok(into)
    }

    /// Returns an event that completes when everything enqueued in this queue so far is done.
    ///
    /// # Errors
    ///
    /// [`Error::ContextLost`] when an earlier launch failed; [`Error::Recording`] if the queue records.
    pub fn record(self) -> Result<Event, Error> {
        match self.stream("record an event")? {
            Some(stream) => Event::of_stream(self.device, stream),
            None => {
                let (event, clock) = (self.device.backend().record()?, self.device.queue_actor().map(Actor::record));
                Ok(Event { event, clock, device: self.device.clone() })
            }
        }
    }

    /// Makes all later work of this queue wait for `event`, which may be of any queue or stream of this device or of
    /// another of the same kind. The host does not wait.
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`] if one device is a GPU and the other is simulated; [`Error::ContextLost`] when an earlier
    /// launch failed; [`Error::Recording`] if the queue records.
    pub fn wait(self, event: &Event) -> Result<(), Error> {
        if event.device.is_simulated() != self.device.is_simulated() {
            let what = "the wait for an event".to_owned();
            return Err(Error::WrongDevice { what, device: self.device.name().to_owned() });
        }
        match self.stream("wait for an event")? {
            // SAFETY: the devices are of one kind, as checked above.
            Some(stream) => unsafe { stream.wait(&event.event, event.clock.as_ref()) },
            None => {
                // SAFETY: the devices are of one kind, as checked above.
                unsafe { self.device.backend().wait_for(&event.event) }?;
                if let (Some(queue), Some(clock)) = (self.device.queue_actor(), &event.clock) {
                    queue.wait(clock);
                }
                Ok(())
            }
        }
    }

    /// Waits until everything enqueued in this queue so far is done and the output of its kernels is printed. For the
    /// queue of a device this is [`Device::synchronize`].
    ///
    /// # Errors
    ///
    /// [`Error::ContextLost`] when an earlier launch failed; [`Error::Recording`] if the queue records.
    pub fn synchronize(self) -> Result<(), Error> {
        match self.stream("wait for the work")? {
            Some(stream) => stream.synchronize(),
            None => self.device.synchronize(),
        }
    }

    /// Returns a future that is ready when everything enqueued in this queue so far is done. Its output is the error of
    /// that work: [`Error::ContextLost`] when a launch failed, [`Error::Recording`] if the queue records.
    ///
    /// ```
    /// use launch::{Buffer, Device, Error, LaunchConfig};
    /// # use cuda_std::{GlobalMut, kernel, thread};
    /// # /// `y[i] += 1` for every `i`; any grid.
    /// # #[kernel]
    /// # pub fn add_one(y: GlobalMut<u32>) {
    /// #     for i in thread::grid_stride(y.len()) {
    /// #         y.store(i, y.load(i) + 1);
    /// #     }
    /// # }
    ///
    /// /// Increments the elements in a stream; the task sleeps meanwhile.
    /// async fn increment(device: Device, mut y: Buffer<u32>) -> Result<Vec<u32>, Error> {
    ///     let stream = device.stream()?;
    ///     stream.queue().launch(LaunchConfig::new(1, 32), add_one(y.view_mut()))?;
    ///     stream.queue().finished().await?;
    ///     y.download()
    /// }
    /// ```
    pub fn finished(self) -> Finished {
        let stream = self.stream("wait for the work");
        let clock = match &stream {
            Ok(Some(stream)) => stream.clock(),
            _ => self.device.queue_actor().map(Actor::record),
        };
        Finished::new(self.device, clock, |completion| match stream? {
            Some(stream) => stream.backend().notify(completion),
            None => self.device.backend().notify(completion),
        })
    }

    /// Returns the stream of this queue, or `None` if it is the device's own. `what` is the operation that a queue
    /// which records cannot do.
    pub(crate) fn stream(self, what: &'static str) -> Result<Option<&'q OpenStream>, Error> {
        match self.target {
            Target::Own => Ok(None),
            Target::Stream(stream) => Ok(Some(stream)),
            Target::Recorder(_) => Err(Error::Recording { what }),
        }
    }

    /// Checks that `buffer` is on the device of this queue.
    pub(crate) fn check<T: DeviceCopy>(self, buffer: &Buffer<T>, what: &str) -> Result<(), Error> {
        if buffer.device().id() == self.device.id() {
            return Ok(());
        }
        Err(Error::WrongDevice { what: what.to_owned(), device: self.device.name().to_owned() })
    }
}

/// Waits until the copy with the result `enqueued` is done, even if this function then returns an error.
fn finish_copy(stream: &OpenStream, enqueued: Result<(), Error>) -> Result<(), Error> {
    let finished = stream.finish_work();
    enqueued.and(finished)
}
