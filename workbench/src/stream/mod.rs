//! saxpy on host vectors, by five programs. Four of them copy the vectors to the device and the result back.
//!
//! | program | host memory | copies and kernel | source |
//! |---|---|---|---|
//! | [`DeviceVectors::synchronous`] | pageable | one after the other, the host waits for each | stream1Device |
//! | [`DeviceVectors::in_streams`], one stream | page-locked | one after the other, without waits | stream2Async |
//! | [`DeviceVectors::in_streams`], several | page-locked | chunks overlap with each other | stream3Streams |
//! | [`DeviceVectors::in_stages`] | page-locked | one stream per stage; chunks pass from stream to stream | |
//! | [`mapped`] | page-locked, mapped | none: the kernel reads and writes the host's memory | stream4Mapped |
//!
//! Each program moves 12 bytes per element over the link between host and GPU: x and y to the device, and the result
//! back. The kernel takes little time compared with these transfers. Every program computes the correct result on any
//! device. The times are meaningful only on a GPU.
//!
//! Source: N. Wilt, "The CUDA Handbook", Addison-Wesley, 2013, chapter 11 and its programs.

use std::time::{Duration, Instant};

use gpu::saxpy::saxpy_grid_stride;
use launch::{Buffer, Device, Error, Event, LaunchConfig, MappedBuffer};

use gridstride::saxpy::{SaxpyRung, plan};

mod link;
mod overlapped;

pub use link::Link;

/// The number of bytes per element that are copied to the device.
pub const BYTES_TO_DEVICE: u64 = 8;
/// The number of bytes per element that are copied back.
pub const BYTES_TO_HOST: u64 = 4;

/// The times of a run of one of the programs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Times {
    /// The time of the copies to the device, if the program times them separately.
    pub host_to_device: Option<Duration>,
    /// The time of the kernel, if the program times it separately.
    pub kernel: Option<Duration>,
    /// The time of the copy back, if the program times it separately.
    pub device_to_host: Option<Duration>,
    /// The time of the whole run by the host's clock, from data in host memory to the result in host memory.
    pub wall: Duration,
}

/// The vectors x and y of saxpy in a device's memory.
#[derive(Debug)]
pub struct DeviceVectors {
    x: Buffer<f32>,
    y: Buffer<f32>,
    device: Device,
}

impl DeviceVectors {
    /// Allocates two vectors of `n` elements on `device`.
    ///
    /// # Errors
    /// The errors of [`Device::alloc`].
    pub fn new(device: &Device, n: usize) -> Result<Self, Error> {
        Ok(Self { x: device.alloc(n)?, y: device.alloc(n)?, device: device.clone() })
    }

    /// Computes `out = a·x + y`. Copies x and y to the device, runs the kernel, and copies the result back, one after
    /// the other.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if a vector has another length; otherwise the error of a copy or the launch.
    pub fn synchronous(&mut self, a: f32, x: &[f32], y: &[f32], out: &mut [f32]) -> Result<Times, Error> {
        self.check_lengths(x, y, out)?;
        let Self { x: device_x, y: device_y, device } = self;
        let config = config(x.len(), device);
        let start = Instant::now();
        let ((), host_to_device) = device.time(|| {
            device_x.upload(x)?;
            device_y.upload(y)
        })?;
        let ((), kernel) = device.time(|| {
            if x.is_empty() {
                return Ok(());
            }
            device.launch(config, saxpy_grid_stride(a, device_x.view(), device_y.view_mut()))
        })?;
        let ((), device_to_host) = device.time(|| device_y.download_into(out))?;
        let wall = start.elapsed();
        let [host_to_device, kernel, device_to_host] = [host_to_device, kernel, device_to_host].map(Some);
        Ok(Times { host_to_device, kernel, device_to_host, wall })
    }

    fn check_lengths(&self, x: &[f32], y: &[f32], out: &[f32]) -> Result<(), Error> {
        let buffer = self.x.len();
        match [x.len(), y.len(), out.len()].into_iter().find(|&other| other != buffer) {
            Some(other) => Err(Error::LengthMismatch { what: "add a·x to y", buffer, other }),
            None => Ok(()),
        }
    }
}

/// Computes `y = a·x + y` in host memory, which the kernel reads and writes over the link.
///
/// # Errors
/// [`Error::LengthMismatch`] if `x` and `y` differ in length; otherwise the error of the launch.
pub fn mapped(a: f32, x: &MappedBuffer<f32>, y: &mut MappedBuffer<f32>) -> Result<Times, Error> {
    if x.len() != y.len() {
        return Err(Error::LengthMismatch { what: "add a·x to y", buffer: x.len(), other: y.len() });
    }
    let device = y.device().clone();
    let config = config(x.len(), &device);
    let start = Instant::now();
    let ((), kernel) = device.time(|| {
        if x.is_empty() {
            return Ok(());
        }
        device.launch(config, saxpy_grid_stride(a, x.view(), y.view_mut()))
    })?;
    Ok(Times { host_to_device: None, kernel: Some(kernel), device_to_host: None, wall: start.elapsed() })
}

/// Returns the grid and block for `n` elements.
fn config(n: usize, device: &Device) -> LaunchConfig {
    plan::<f32>(SaxpyRung::GridStride, n, device)
}

/// Returns the time between two events, or `None` if one of them was not recorded.
fn between(earlier: &Option<Event>, later: &Option<Event>) -> Result<Option<Duration>, Error> {
    match (earlier, later) {
        (Some(earlier), Some(later)) => later.elapsed_since(earlier).map(Some),
        _ => Ok(None),
    }
}

/// Returns the median of `times`. If their number is even, this is the longer of the two middle times. Returns zero if
/// `times` is empty.
pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests;
