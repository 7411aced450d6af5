//! Measures the speed of the link between host and device, in each direction and in both at once.

use std::time::Duration;

use launch::{Buffer, Device, Error, PinnedBuffer};

use super::{BYTES_TO_DEVICE, BYTES_TO_HOST, median};

/// The number of elements per copy in [`Link::measure`]: 64 MiB.
const ELEMENTS: usize = 16 << 20;

/// The number of copies to the device for each copy back while both directions are measured together. saxpy copies in
/// the same ratio.
const COPIES_THERE: usize = (BYTES_TO_DEVICE / BYTES_TO_HOST) as usize;

/// The speed of copies between page-locked host memory and the device, in bytes per second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Link {
    /// The speed to the device, while nothing is copied back.
    pub host_to_device: f64,
    /// The speed to the host, while nothing is copied to the device.
    pub device_to_host: f64,
    /// The speed of both directions together, with two bytes to the device per byte back.
    pub both: f64,
}

/// The memory at both ends of the link: on the host and on the device.
struct Ends {
    from: PinnedBuffer<f32>,
    into: PinnedBuffer<f32>,
    there: [Buffer<f32>; COPIES_THERE],
    back: Buffer<f32>,
    device: Device,
}

impl Link {
    /// Measures the link's speeds. Copies 64 MiB to the device and back. Then copies 128 MiB to the device and, at the
    /// same time, 64 MiB back. Repeats this `runs` times, at least once, after a warm-up. Computes each speed from the
    /// median time.
    ///
    /// # Errors
    /// The errors of [`Device::pinned`] and [`Device::alloc`], and the error of a copy.
    pub fn measure(device: &Device, runs: usize) -> Result<Self, Error> {
        let mut ends = Ends {
            from: device.pinned(ELEMENTS)?,
            into: device.pinned(ELEMENTS)?,
            there: [device.alloc(ELEMENTS)?, device.alloc(ELEMENTS)?],
            back: device.zeroed(ELEMENTS)?,
            device: device.clone(),
        };
        let mut times = [const { Vec::new() }; 3];
        for run in 0..=runs.max(1) {
            let (there, back) = ends.one_after_the_other()?;
            let both = ends.both_at_once()?;
            if run > 0 {
                times.iter_mut().zip([there, back, both]).for_each(|(times, time)| times.push(time));
            }
        }
        let bytes = size_of::<[f32; ELEMENTS]>() as f64;
        let [there, back, both] = times.map(|times| median(times).as_secs_f64());
        Ok(Self {
            host_to_device: bytes / there,
            device_to_host: bytes / back,
            both: (COPIES_THERE + 1) as f64 * bytes / both,
        })
    }

    /// Returns a lower bound for the time of a run on `n` elements, in seconds. This bound assumes that both directions
    /// copy at the same time, each as fast as alone.
    pub fn floor(self, n: usize) -> f64 {
        let seconds = |bytes: u64, speed: f64| (n as u64).saturating_mul(bytes) as f64 / speed;
        seconds(BYTES_TO_DEVICE, self.host_to_device).max(seconds(BYTES_TO_HOST, self.device_to_host))
    }

    /// Returns the time in seconds for copying `n` elements to the device and back, if both directions are used at the
    /// same time.
    pub fn two_way(self, n: usize) -> f64 {
        (n as u64).saturating_mul(BYTES_TO_DEVICE + BYTES_TO_HOST) as f64 / self.both
    }
}

impl Ends {
    /// Copies to the device and then back, and returns the times of both copies.
    fn one_after_the_other(&mut self) -> Result<(Duration, Duration), Error> {
        let Self { from, into, there: [buffer, _], device, .. } = self;
        let view = buffer.view_mut();
        let events = device.streams(1, |streams| {
            let [stream] = streams else { return Ok(None) };
            let began = stream.record()?;
            stream.upload(view, from)?;
            let uploaded = stream.record()?;
            stream.download(view, into)?;
            Ok(Some([began, uploaded, stream.record()?]))
        })?;
        let Some([began, uploaded, downloaded]) = events else { return Ok(Default::default()) };
        Ok((uploaded.elapsed_since(&began)?, downloaded.elapsed_since(&uploaded)?))
    }

    /// Copies in both directions at once, and returns the time until all copies have finished.
    fn both_at_once(&mut self) -> Result<Duration, Error> {
        let Self { from, into, there: buffers, back: buffer, device } = self;
        let (from, targets, source) = (&*from, buffers.each_mut().map(Buffer::view_mut), buffer.view());
        let events = device.streams(2, |streams| {
            let [there, back] = streams else { return Ok(None) };
            let began = there.record()?;
            back.wait(&began)?;
            // The copy back is enqueued first, so that it does not start after the others.
            back.download(source, into)?;
            targets.into_iter().try_for_each(|target| there.upload(target, from))?;
            Ok(Some((began, [there.record()?, back.record()?])))
        })?;
        let Some((began, [there, back])) = events else { return Ok(Duration::ZERO) };
        Ok(there.elapsed_since(&began)?.max(back.elapsed_since(&began)?))
    }
}
