//! Streams that live as long as their owner keeps them.

use std::fmt;
use std::sync::Arc;

use crate::backend::BackendStream;
use crate::device::Device;
use crate::error::Error;
use crate::open_stream::OpenStream;
use crate::queue::Queue;

/// A stream without a scope, made by [`Device::stream`]. Its [`queue`](Self::queue) takes launches, copies and all
/// algorithms. A struct can keep it: it borrows nothing.
///
/// The work of one stream runs in order. Work in several streams, or in a stream and on the device itself, may run at
/// the same time. These rules order it:
///
/// - A stream begins after the earlier work of the device.
/// - [`Queue::wait`] makes a queue wait for an [`Event`](crate::Event), which [`Queue::record`] makes in another queue.
/// - Every operation of a [`Buffer`](crate::Buffer) itself, such as [`download`](crate::Buffer::download), and every
///   allocation comes after the work that was enqueued in streams before, and before the work that is enqueued later.
///   Freed memory is reused only after that work. For kernels that overlap, allocate before the first launch.
///
/// Launches that these rules do not order must not access the same memory, unless all only read it. The values read are
/// otherwise unspecified, and a simulated device that checks streams returns [`Error::StreamRace`].
///
/// Dropping the stream does not wait: its work continues, and later work of the device comes after it.
///
/// ```
/// use launch::{Buffer, Device, DeviceChoice, Error, LaunchConfig, OwnedStream};
/// # use cuda_std::{Global, GlobalMut, kernel, thread};
/// # /// `y[i] = a·x[i]` for every `i`; any grid.
/// # #[kernel]
/// # pub fn scale(a: f32, x: Global<f32>, y: GlobalMut<f32>) {
/// #     for i in thread::grid_stride(y.len()) {
/// #         y.store(i, a * x.load(i));
/// #     }
/// # }
///
/// /// Scales vectors in a stream of its own.
/// struct Scaler {
///     stream: OwnedStream,
///     result: Buffer<f32>,
/// }
///
/// impl Scaler {
///     fn scale(&mut self, x: &Buffer<f32>) -> Result<(), Error> {
///         self.stream.queue().launch(LaunchConfig::new(1, 32), scale(2.0, x.view(), self.result.view_mut()))
///     }
/// }
///
/// # fn main() -> Result<(), Error> {
/// let device = Device::open(DeviceChoice::Sim, &[])?;
/// let mut scaler = Scaler { stream: device.stream()?, result: device.zeroed(3)? };
/// let x = device.upload(&[1.0, 2.0, 3.0])?;
/// scaler.scale(&x)?;
/// assert_eq!(scaler.result.download()?, [2.0, 4.0, 6.0]);
/// # Ok(())
/// # }
/// ```
pub struct OwnedStream {
    stream: Arc<OpenStream>,
    /// The last field, so that the device outlives the stream.
    device: Device,
}

impl Device {
    /// Creates a stream that belongs to no scope. Its work begins after the earlier work of the device.
    ///
    /// # Errors
    ///
    /// [`Error::ContextLost`] when an earlier launch failed; any error of creating the stream.
    pub fn stream(&self) -> Result<OwnedStream, Error> {
        OwnedStream::new(self, self.backend().stream()?)
    }
}

impl OwnedStream {
    /// Makes the value for `stream`, a stream of `device`.
    pub(crate) fn new(device: &Device, stream: Box<dyn BackendStream>) -> Result<Self, Error> {
        Ok(Self { stream: device.queues().open(stream)?, device: device.clone() })
    }

    /// Returns the queue that enqueues work in this stream.
    pub fn queue(&self) -> Queue<'_> {
        Queue::of_stream(&self.device, &self.stream)
    }

    /// Returns the device that executes the work of this stream.
    pub fn device(&self) -> &Device {
        &self.device
    }
}

impl<'q> From<&'q OwnedStream> for Queue<'q> {
    fn from(stream: &'q OwnedStream) -> Self {
        stream.queue()
    }
}

impl Drop for OwnedStream {
    fn drop(&mut self) {
        self.device.queues().close(&self.stream);
    }
}

impl fmt::Debug for OwnedStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedStream").field("device", &self.device.name()).finish_non_exhaustive()
    }
}
