//! Data on its way: saxpy on vectors of the host, brought to the device and back in four ways.
//!
//! | program | host memory | copies and kernel | source |
//! |---|---|---|---|
//! | [`DeviceVectors::synchronous`] | pageable | one after the other, the host waits for each | stream1Device |
//! | [`DeviceVectors::in_streams`], one stream | page-locked | one after the other, the host goes on | stream2Async |
//! | [`DeviceVectors::in_streams`], several | page-locked | a chunk's overlap with the others' | stream3Streams |
//! | [`mapped`] | page-locked, mapped | none: the kernel reads and writes the host's memory | stream4Mapped |
//!
//! All of them move 12 bytes an element over the link between host and GPU: x and y there, the result back. The kernel takes
//! next to nothing beside that. Every program gives the right answer on any device; only on a GPU do its times mean
//! something.
//!
//! Source: N. Wilt, "The CUDA Handbook", Addison-Wesley, 2013, chapter 11 and its programs.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use gpu::saxpy::saxpy_grid_stride;
use launch::{Buffer, Device, Error, Event, LaunchConfig, MappedBuffer};

use crate::saxpy::{SaxpyKernel, plan};

pub mod command;

mod report;

/// Bytes an element that go to the device, and that come back.
const BYTES_TO_DEVICE: u64 = 8;
const BYTES_TO_HOST: u64 = 4;

/// Chunks begin at multiples of so many elements, 256 bytes, as whole buffers do.
const CHUNK_ALIGNMENT: usize = 64;

/// What [`Link::measure`] copies in each direction: 64 MiB.
const LINK_ELEMENTS: usize = 16 << 20;

/// How long a run took.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Times {
    /// The copies to the device, if they are a stage of their own.
    pub host_to_device: Option<Duration>,
    /// The kernel, if it is a stage of its own.
    pub kernel: Option<Duration>,
    /// The copy back, if it is a stage of its own.
    pub device_to_host: Option<Duration>,
    /// Everything, by the host's clock: from data in the host's memory to the result there.
    pub wall: Duration,
}

/// The vectors x and y in a device's memory.
#[derive(Debug)]
pub struct DeviceVectors {
    x: Buffer<f32>,
    y: Buffer<f32>,
    device: Device,
}

impl DeviceVectors {
    /// Room for `n` elements of each.
    ///
    /// # Errors
    /// As for [`Device::alloc`].
    pub fn new(device: &Device, n: usize) -> Result<Self, Error> {
        Ok(Self { x: device.alloc(n)?, y: device.alloc(n)?, device: device.clone() })
    }

    /// `out = a·x + y`: copies x and y to the device, computes, and copies the result back, each when the one before is
    /// done.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] unless each vector is as long as these, and whatever prevents a copy or the launch.
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

    /// `out = a·x + y` in `count` streams: each has a chunk of the vectors, whose copies and kernel overlap with those of
    /// the others. The host only waits at the end, if the vectors are page-locked.
    ///
    /// With one stream the stages are separate and have times of their own.
    ///
    /// # Errors
    /// As for [`synchronous`](Self::synchronous), and whatever prevents the streams from being made.
    pub fn in_streams(
        &mut self,
        count: NonZeroUsize,
        a: f32,
        x: &[f32],
        y: &[f32],
        out: &mut [f32],
    ) -> Result<Times, Error> {
        self.check_lengths(x, y, out)?;
        let Self { x: device_x, y: device_y, device } = self;
        let chunk = x.len().div_ceil(count.get()).next_multiple_of(CHUNK_ALIGNMENT).max(1);
        let config = config(chunk, device);
        let on_device = device_x.as_part_mut().chunks(chunk).zip(device_y.as_part_mut().chunks(chunk));
        let on_host = x.chunks(chunk).zip(y.chunks(chunk)).zip(out.chunks_mut(chunk));
        let chunks: Vec<_> = on_device.zip(on_host).collect();
        let (events, wall) = device.streams(count.get(), |streams| {
            let stage_ends = || match streams {
                [only] => only.record().map(Some),
                _ => Ok(None),
            };
            let start = Instant::now();
            let began = stage_ends()?;
            // All copies there are asked for first, then all kernels, then all copies back, as in the source: no stream's
            // work then stands behind another's in a queue of the GPU that is not ready for it.
            let mut chunks_there = Vec::with_capacity(chunks.len());
            for (stream, ((device_x, device_y), ((x, y), out))) in streams.iter().zip(chunks) {
                let (device_x, device_y) = (stream.upload_part(device_x, x)?, device_y.view_mut());
                stream.upload(device_y, y)?;
                chunks_there.push((stream, device_x, device_y, out));
            }
            let uploaded = stage_ends()?;
            for &(stream, device_x, device_y, _) in &chunks_there {
                stream.launch(config, saxpy_grid_stride(a, device_x, device_y))?;
            }
            let computed = stage_ends()?;
            for (stream, _, device_y, out) in chunks_there {
                stream.download(device_y, out)?;
            }
            let downloaded = stage_ends()?;
            for stream in streams {
                stream.synchronize()?;
            }
            Ok(([began, uploaded, computed, downloaded], start.elapsed()))
        })?;
        let [began, uploaded, computed, downloaded] = &events;
        Ok(Times {
            host_to_device: between(began, uploaded)?,
            kernel: between(uploaded, computed)?,
            device_to_host: between(computed, downloaded)?,
            wall,
        })
    }

    fn check_lengths(&self, x: &[f32], y: &[f32], out: &[f32]) -> Result<(), Error> {
        let buffer = self.x.len();
        match [x.len(), y.len(), out.len()].into_iter().find(|&other| other != buffer) {
            Some(other) => Err(Error::LengthMismatch { what: "add a·x to y", buffer, other }),
            None => Ok(()),
        }
    }
}

/// `y = a·x + y` in the host's memory: the kernel reads and writes it in place, over the link.
///
/// # Errors
/// [`Error::LengthMismatch`] when `x` and `y` are not of the same length, and whatever prevents the launch.
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

/// The speed of the link between host and device, in bytes a second, of copies from and to page-locked memory.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Link {
    /// To the device.
    pub host_to_device: f64,
    /// Back.
    pub device_to_host: f64,
}

impl Link {
    /// Copies 64 MiB there and back `runs` times, once at the least, after a first time. Each speed is that of the median.
    ///
    /// # Errors
    /// As for [`Device::pinned`] and [`Device::alloc`], and whatever prevents a copy.
    pub fn measure(device: &Device, runs: usize) -> Result<Self, Error> {
        let from = device.pinned::<f32>(LINK_ELEMENTS)?;
        let mut into = device.pinned::<f32>(LINK_ELEMENTS)?;
        let mut buffer = device.alloc::<f32>(LINK_ELEMENTS)?;
        let mut copy = || {
            let view = buffer.view_mut();
            let events = device.streams(1, |streams| {
                let [stream] = streams else { return Ok(None) };
                let began = stream.record()?;
                stream.upload(view, &from)?;
                let uploaded = stream.record()?;
                stream.download(view, &mut into)?;
                Ok(Some([began, uploaded, stream.record()?]))
            })?;
            let Some([began, uploaded, downloaded]) = events else { return Ok(Default::default()) };
            Ok((uploaded.elapsed_since(&began)?, downloaded.elapsed_since(&uploaded)?))
        };
        copy()?;
        let times = (0..runs.max(1)).map(|_| copy()).collect::<Result<Vec<_>, Error>>()?;
        let (there, back): (Vec<_>, Vec<_>) = times.into_iter().unzip();
        let speed = |times| size_of::<[f32; LINK_ELEMENTS]>() as f64 / median(times).as_secs_f64();
        Ok(Self { host_to_device: speed(there), device_to_host: speed(back) })
    }

    /// The least that a run on `n` elements can take, in seconds: both directions at full speed, at the same time.
    pub fn floor(self, n: usize) -> f64 {
        let seconds = |bytes: u64, speed: f64| (n as u64).saturating_mul(bytes) as f64 / speed;
        seconds(BYTES_TO_DEVICE, self.host_to_device).max(seconds(BYTES_TO_HOST, self.device_to_host))
    }
}

/// The grid for `n` elements.
fn config(n: usize, device: &Device) -> LaunchConfig {
    plan::<f32>(SaxpyKernel::GridStride, n, device)
}

/// The time between two events, where there are such.
fn between(earlier: &Option<Event>, later: &Option<Event>) -> Result<Option<Duration>, Error> {
    match (earlier, later) {
        (Some(earlier), Some(later)) => later.elapsed_since(earlier).map(Some),
        _ => Ok(None),
    }
}

/// The time in the middle: of two, the longer. Nothing for none.
fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests;
