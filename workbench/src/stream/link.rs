//! The link between host and device: its speed in each direction alone, and in both at once.

use std::time::Duration;

use launch::{Buffer, Device, Error, PinnedBuffer};

use super::{BYTES_TO_DEVICE, BYTES_TO_HOST, median};

/// What [`Link::measure`] copies at a time: 64 MiB.
const ELEMENTS: usize = 16 << 20;

/// Copies there for each one back, when both directions are busy: as many as saxpy has.
const COPIES_THERE: usize = (BYTES_TO_DEVICE / BYTES_TO_HOST) as usize;

/// The speed of the link between host and device, in bytes per second, of copies from and to page-locked memory.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Link {
    /// To the device, with nothing coming back.
    pub host_to_device: f64,
    /// Back, with nothing going there.
    pub device_to_host: f64,
    /// Both at once, the bytes of both together: two go there for one that comes back.
    pub both: f64,
}

/// Memory at both ends.
struct Ends {
    from: PinnedBuffer<f32>,
    into: PinnedBuffer<f32>,
    there: [Buffer<f32>; COPIES_THERE],
    back: Buffer<f32>,
    device: Device,
}

impl Link {
    /// Copies 64 MiB there and back, and then 128 MiB there while 64 MiB come back, `runs` times, once at the least,
    /// after a first time. Each speed is that of the median.
    ///
    /// # Errors
    /// As for [`Device::pinned`] and [`Device::alloc`], and whatever prevents a copy.
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

    /// The least that a run on `n` elements could take, in seconds: each direction as fast as it is alone, at the same
    /// time.
    pub fn floor(self, n: usize) -> f64 {
        let seconds = |bytes: u64, speed: f64| (n as u64).saturating_mul(bytes) as f64 / speed;
        seconds(BYTES_TO_DEVICE, self.host_to_device).max(seconds(BYTES_TO_HOST, self.device_to_host))
    }

    /// What `n` elements' bytes take there and back, in seconds, at the speed that both directions have together.
    pub fn two_way(self, n: usize) -> f64 {
        (n as u64).saturating_mul(BYTES_TO_DEVICE + BYTES_TO_HOST) as f64 / self.both
    }
}

impl Ends {
    /// The times of a copy there, and of a copy back after it.
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

    /// The time until the last of the copies of both directions is done.
    fn both_at_once(&mut self) -> Result<Duration, Error> {
        let Self { from, into, there: buffers, back: buffer, device } = self;
        let (from, targets, source) = (&*from, buffers.each_mut().map(Buffer::view_mut), buffer.view());
        let events = device.streams(2, |streams| {
            let [there, back] = streams else { return Ok(None) };
            let began = there.record()?;
            back.wait(&began)?;
            // Asked for first, so that it starts no later.
            back.download(source, into)?;
            targets.into_iter().try_for_each(|target| there.upload(target, from))?;
            Ok(Some((began, [there.record()?, back.record()?])))
        })?;
        let Some((began, [there, back])) = events else { return Ok(Duration::ZERO) };
        Ok(there.elapsed_since(&began)?.max(back.elapsed_since(&began)?))
    }
}
