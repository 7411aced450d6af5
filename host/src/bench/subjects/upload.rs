//! Measures copies from the host to the device: from page-locked memory, from pageable memory, and as a sum's argument.

use std::time::{Duration, Instant};
use workbench::bench::sweep::UPLOAD_PATHS;
use workbench::bench::{MeasuredPoint, Sweep};

use gpu::operator::Sum;
use gridstride::reduce::ReduceExt;
use launch::{Buffer, Device, PinnedBuffer};
use workbench::algorithm::Shape;
use workbench::inputs::RandomVector;

use crate::bench::points::{Bench, filled};

/// Timed runs of each path, after one that warms up.
const RUNS: usize = 15;

/// Times each path by the host's clock, until the data is on the device.
pub(super) fn run(bench: &mut Bench, sweep: &Sweep) -> anyhow::Result<()> {
    let device = bench.device();
    let n = sweep.largest();
    let random = RandomVector::<f32>::new(bench.seed(), 0);
    let pageable = filled(n, |index| random.element(index))?;
    let mut locked = device.pinned(n)?;
    locked.copy_from_slice(&pageable);
    let mut buffer = device.alloc::<f32>(n)?;
    let memory = [pageable.as_ptr().addr(), buffer.view().as_ptr().addr()];
    let mut beside = bench.beside(sweep, Shape::Vector(n), &memory);
    let mut times = [const { Vec::new() }; UPLOAD_PATHS.len() + 1];
    for run in 0..=RUNS {
        let new = [
            timed(|| from_page_locked(&device, &mut buffer, &locked))?,
            timed(|| Ok(buffer.upload(&pageable)?))?,
            timed(|| Ok(device.reduce(&pageable, Sum).map(drop)?))?,
            timed(|| {
                if let Some(beside) = &mut beside {
                    // SAFETY: `pageable` and `buffer` have `n` elements each, and a copy from pageable memory has
                    // finished when the call returns.
                    unsafe { beside.run(memory) };
                }
                Ok(())
            })?,
        ];
        if run > 0 {
            times.iter_mut().zip(new).for_each(|(times, time)| times.push(time));
        }
    }
    let [ours @ .., peer] = times.map(|times| row(sweep, n, times));
    for (path, row) in UPLOAD_PATHS.into_iter().zip(ours) {
        bench.add(MeasuredPoint { rung: Some(path.to_owned()), ..row });
    }
    bench.add_peer(peer, sweep, beside);
    Ok(())
}

/// Returns the row of these times of `n` elements, without the name of a path.
fn row(sweep: &Sweep, n: usize, mut times: Vec<Duration>) -> MeasuredPoint {
    times.sort_unstable();
    let at = |place: usize| times[place].as_secs_f64();
    let bytes = (n * size_of::<f32>()) as u64;
    MeasuredPoint {
        algorithm: sweep.subject.name().to_owned(),
        number: sweep.number.to_owned(),
        size: n as u64,
        bytes,
        runs: RUNS,
        median_us: 1e6 * at(RUNS / 2),
        low_us: 1e6 * at(RUNS / 4),
        high_us: 1e6 * at(RUNS * 3 / 4),
        gbps: bytes as f64 / at(RUNS / 2).max(f64::MIN_POSITIVE) / 1e9,
        ..MeasuredPoint::default()
    }
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
