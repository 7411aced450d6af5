//! The programs whose copies and kernels overlap: chunks in several streams, or one stream per stage.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use gpu::saxpy::saxpy_grid_stride;
use launch::{BufferPart, Device, Error, LaunchConfig};

use super::{DeviceVectors, Times, between, config};

/// The alignment of chunks in elements. In bytes, the alignment is 256, as for whole buffers.
const CHUNK_ALIGNMENT: usize = 64;

/// A chunk of the vectors, in host memory and in device memory.
struct Chunk<'a> {
    device_x: BufferPart<'a, f32>,
    device_y: BufferPart<'a, f32>,
    x: &'a [f32],
    y: &'a [f32],
    out: &'a mut [f32],
}

impl DeviceVectors {
    /// Divides the vectors into at most `count` chunks. Returns the device, the launch for a chunk, and the chunks. All
    /// chunks except the last have the same length.
    fn chunks<'a>(
        &'a mut self,
        count: NonZeroUsize,
        x: &'a [f32],
        y: &'a [f32],
        out: &'a mut [f32],
    ) -> Result<(&'a Device, LaunchConfig, Vec<Chunk<'a>>), Error> {
        self.check_lengths(x, y, out)?;
        let Self { x: device_x, y: device_y, device } = self;
        let device: &Device = device;
        let len = x.len().div_ceil(count.get()).next_multiple_of(CHUNK_ALIGNMENT).max(1);
        let on_device = device_x.as_part_mut().chunks(len).zip(device_y.as_part_mut().chunks(len));
        let on_host = x.chunks(len).zip(y.chunks(len)).zip(out.chunks_mut(len));
        let chunks =
            on_device.zip(on_host).map(|((device_x, device_y), ((x, y), out))| Chunk { device_x, device_y, x, y, out });
        Ok((device, config(len, device), chunks.collect()))
    }

    /// Computes `out = a·x + y` in `count` streams. Each stream processes a chunk of the vectors. Its copies and kernel
    /// overlap with the work of the other streams. If the vectors are page-locked, the host waits only at the end.
    ///
    /// With one stream, the stages do not overlap and are timed separately.
    ///
    /// # Errors
    /// The errors of [`synchronous`](Self::synchronous), and an error if the streams cannot be created.
    pub fn in_streams(
        &mut self,
        count: NonZeroUsize,
        a: f32,
        x: &[f32],
        y: &[f32],
        out: &mut [f32],
    ) -> Result<Times, Error> {
        self.in_chunks(count, count, a, x, y, out)
    }

    /// Like [`in_streams`](Self::in_streams), but with any number of chunks, which are distributed over the streams in
    /// rotation.
    ///
    /// # Errors
    /// The errors of [`in_streams`](Self::in_streams).
    pub fn in_chunks(
        &mut self,
        streams: NonZeroUsize,
        chunks: NonZeroUsize,
        a: f32,
        x: &[f32],
        y: &[f32],
        out: &mut [f32],
    ) -> Result<Times, Error> {
        let has_stages = chunks.get() == 1;
        let (device, config, chunks) = self.chunks(chunks, x, y, out)?;
        let (events, wall) = device.streams(streams.get(), |streams| {
            let stage_ends = || match streams {
                [only] if has_stages => only.record().map(Some),
                _ => Ok(None),
            };
            let mut rest = chunks.into_iter();
            let start = Instant::now();
            let began = stage_ends()?;
            let [uploaded, computed] = loop {
                // Each iteration processes one chunk per stream. It enqueues all copies to the device, then all
                // kernels, then all copies back, as the book's program does. Thus no stream's work waits in a queue of
                // the GPU behind work that is not ready.
                let mut chunks_there = Vec::with_capacity(streams.len());
                for (stream, Chunk { device_x, device_y, x, y, out }) in streams.iter().zip(rest.by_ref()) {
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
                if rest.len() == 0 {
                    break [uploaded, computed];
                }
            };
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

    /// Computes `out = a·x + y` with one stream per stage: copies to the device, kernels, and copies back. For each
    /// chunk, a stream waits for an event of the previous stage's stream.
    ///
    /// No copy waits for a copy in the other direction. Only the kernel and the copy back of the last chunk do not
    /// overlap with other work. Smaller chunks therefore make the run faster, until the time between two copies becomes
    /// significant.
    ///
    /// # Errors
    /// The errors of [`in_streams`](Self::in_streams).
    pub fn in_stages(
        &mut self,
        chunks: NonZeroUsize,
        a: f32,
        x: &[f32],
        y: &[f32],
        out: &mut [f32],
    ) -> Result<Times, Error> {
        let (device, config, chunks) = self.chunks(chunks, x, y, out)?;
        let wall = device.streams(3, |streams| {
            let [there, compute, back] = streams else { return Ok(Duration::ZERO) };
            let start = Instant::now();
            for Chunk { device_x, device_y, x, y, out } in chunks {
                let (device_x, device_y) = (there.upload_part(device_x, x)?, device_y.view_mut());
                there.upload(device_y, y)?;
                compute.wait(&there.record()?)?;
                compute.launch(config, saxpy_grid_stride(a, device_x, device_y))?;
                back.wait(&compute.record()?)?;
                back.download(device_y, out)?;
            }
            // The last copy back follows all other work.
            back.synchronize()?;
            Ok(start.elapsed())
        })?;
        Ok(Times { host_to_device: None, kernel: None, device_to_host: None, wall })
    }
}
