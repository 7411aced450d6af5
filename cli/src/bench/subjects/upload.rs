//! Measures copies from the host to the device: from page-locked memory, from pageable memory, and as part of a sum
//! whose argument is a slice in host memory.

use std::time::{Duration, Instant};
use workbench::bench::sweep::UPLOAD_PATHS;
use workbench::bench::{MeasuredPoint, Sweep};

use gpu::operator::Sum;
use gridstride::reduce::ReduceExt;
use launch::{Buffer, Device, PinnedBuffer};
use workbench::algorithm::Shape;
use workbench::inputs::RandomVector;

use crate::bench::meter::Times;
use crate::bench::points::{Bench, filled};

/// The number of timed runs of each path. An untimed run before them warms up.
const RUNS: usize = 15;

/// Times each path of a copy by the host's clock, until the data is on the device.
pub(super) fn run(bench: &mut Bench, sweep: &Sweep) -> anyhow::Result<()> {
    let device = bench.device();
    let n = sweep.largest();
    let random = RandomVector::<f32>::new(bench.seed, 0);
    let pageable = filled(n, |index| random.element(index))?;
    let mut locked = device.pinned(n)?;
    locked.copy_from_slice(&pageable);
    let mut buffer = device.alloc::<f32>(n)?;
    let memory = [pageable.as_ptr().addr(), buffer.view().as_ptr().addr()];
    let mut peer = bench.peer(sweep, Shape::Vector(n), &memory);
    let mut times = [const { Vec::new() }; UPLOAD_PATHS.len() + 1];
    for run in 0..=RUNS {
        let new = [
            timed(|| from_page_locked(&device, &mut buffer, &locked))?,
            timed(|| Ok(buffer.upload(&pageable)?))?,
            timed(|| Ok(device.reduce(&pageable, Sum).map(drop)?))?,
            timed(|| {
                if let Some(peer) = &mut peer {
                    // SAFETY: `pageable` and `buffer` have `n` elements each, and a copy from pageable memory has
                    // finished when the call returns.
                    unsafe { peer.run(memory) };
                }
                Ok(())
            })?,
        ];
        if run > 0 {
            times.iter_mut().zip(new).for_each(|(times, time)| times.push(time));
        }
    }
    let bytes = (n * size_of::<f32>()) as u64;
    let row = |name: &str, times: Vec<Duration>| {
        let times = Times::of(times);
        MeasuredPoint { bytes, gbps: times.gbps(bytes as f64), ..MeasuredPoint::timed(&times, sweep, name, 1) }
    };
    let [ours @ .., peer_times] = times;
    for (path, times) in UPLOAD_PATHS.into_iter().zip(ours) {
        bench.add(row(path, times));
    }
    bench.add_peer(row("", peer_times), sweep, peer);
    Ok(())
}

fn timed(work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    work()?;
    Ok(begun.elapsed())
}

fn from_page_locked(device: &Device, buffer: &mut Buffer<f32>, from: &PinnedBuffer<f32>) -> anyhow::Result<()> {
    let view = buffer.view_mut();
    Ok(device.streams(1, |streams| streams.iter().try_for_each(|stream| stream.upload(view, from)))?)
}
