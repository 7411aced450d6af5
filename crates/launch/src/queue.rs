//! Queues, which let one function enqueue its work on a device or in a graph.
//!
//! # Design
//!
//! Every algorithm enqueues its work in a `Queue`, never in a device, so all of it can be recorded in a graph.

use cuda_std::{Call, DeviceCopy, LaunchConfig, Params};

use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::Error;
use crate::recorder::Recorder;

/// A queue of launches, fills and copies, which are executed in the order of the calls. The queue of a [`Device`]
/// passes them to the device at once. The queue in [`Device::record`] records them, and the graph executes them at each
/// of its launches. The queues in [`Device::load`] and [`Device::kernels_of`] execute nothing.
///
/// A function that takes a queue works for a device and for a graph:
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
/// let mut graph = device.record((&mut x, &mut y), |queue, (x, y)| twice(queue, x, y))?;
/// graph.launch()?;
/// assert_eq!(graph.resources().0.download()?, [81.0, 162.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Queue<'q> {
    device: &'q Device,
    recorder: Option<&'q Recorder>,
}

impl<'q> From<&'q Device> for Queue<'q> {
    fn from(device: &'q Device) -> Self {
        Self { device, recorder: None }
    }
}

impl<'q> Queue<'q> {
    pub(crate) fn recording(device: &'q Device, recorder: &'q Recorder) -> Self {
        Self { device, recorder: Some(recorder) }
    }

    /// Returns the device that executes the work of this queue.
    pub fn device(self) -> &'q Device {
        self.device
    }

    /// Returns `true` if the queue only records its work, for a graph or to list its kernels.
    pub fn is_recording(self) -> bool {
        self.recorder.is_some()
    }

    /// Enqueues the kernel of `call`. Each thread of the grid that `config` describes runs the kernel once.
    ///
    /// # Errors
    ///
    /// The same errors as [`Device::launch`]. A recording queue never returns [`Error::Fault`] or
    /// [`Error::ContextLost`], because only the launch of the graph executes the kernel.
    pub fn launch(self, config: LaunchConfig, call: Call<'_>) -> Result<(), Error> {
        match self.recorder {
            None => self.device.launch(config, call),
            Some(recorder) => {
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
    /// [`Error::WrongDevice`] if the buffer is on another device; otherwise the same errors as [`Buffer::fill_zero`].
    pub fn fill_zero<T: DeviceCopy>(self, buffer: &mut Buffer<T>) -> Result<(), Error> {
        self.check(buffer, "a fill")?;
        match self.recorder {
            None => buffer.fill_zero(),
            Some(recorder) => {
                recorder.zero(buffer);
                Ok(())
            }
        }
    }

    /// Enqueues a copy of the elements of `from` to `to`.
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`] if a buffer is on another device; otherwise the same errors as [`Buffer::copy_from`].
    pub fn copy<T: DeviceCopy>(self, from: &Buffer<T>, to: &mut Buffer<T>) -> Result<(), Error> {
        self.check(to, "a copy between buffers")?;
        match self.recorder {
            None => to.copy_from(from),
            Some(recorder) => {
                to.check_source(from)?;
                recorder.copy(from, to);
                Ok(())
            }
        }
    }

    fn check<T: DeviceCopy>(self, buffer: &Buffer<T>, what: &str) -> Result<(), Error> {
        if buffer.device().id() == self.device.id() {
            return Ok(());
        }
        Err(Error::WrongDevice { what: what.to_owned(), device: self.device.name().to_owned() })
    }
}
