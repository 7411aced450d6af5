//! How fast data of the host come to the device: from page-locked memory, from pageable memory, and as a sum's argument.

use std::time::{Duration, Instant};

use gpu::operator::Sum;
use gridstride::reduce::ReduceExt;
use launch::{Buffer, Device, PinnedBuffer};
use workbench::algorithm::Shape;
use workbench::inputs::RandomVector;

use crate::bench::points::{Bench, filled};
use crate::bench::record::Row;
use crate::bench::work::Work;

/// What is measured: page-locked memory is copied by the GPU alone, at the link's speed; pageable memory is brought to such memory
/// first; and `device.reduce(&slice)` is the latter with a sum.
pub(super) const WAYS: [&str; 3] = ["page_locked", "pageable", "reduce"];

/// Timed runs of each, after one that warms up.
const RUNS: usize = 15;

/// Measures each by the host's clock, until the data are there.
pub(super) fn run(bench: &mut Bench, work: &Work) -> anyhow::Result<()> {
    let device = bench.device();
    let n = work.largest();
    let random = RandomVector::<f32>::new(bench.seed(), 0);
    let pageable = filled(n, |index| random.element(index))?;
    let mut locked = device.pinned(n)?;
    locked.copy_from_slice(&pageable);
    let mut buffer = device.alloc::<f32>(n)?;
    let memory = [pageable.as_ptr().addr(), buffer.view().as_ptr().addr()];
    let mut beside = bench.beside(work, Shape::Vector(n), &memory);
    let mut times = [const { Vec::new() }; WAYS.len() + 1];
    for run in 0..=RUNS {
        let new = [
            timed(|| from_page_locked(&device, &mut buffer, &locked))?,
            timed(|| Ok(buffer.upload(&pageable)?))?,
            timed(|| Ok(device.reduce(&pageable, Sum).map(drop)?))?,
            timed(|| {
                if let Some(beside) = &mut beside {
                    // SAFETY: both have `n` elements, and a copy from pageable memory ends with the call.
                    unsafe { beside.run(memory) };
                }
                Ok(())
            })?,
        ];
        if run > 0 {
            times.iter_mut().zip(new).for_each(|(times, time)| times.push(time));
        }
    }
    let [ours @ .., peer] = times.map(|times| row(work, n, times));
    for (way, row) in WAYS.into_iter().zip(ours) {
        bench.add(Row { rung: Some(way.to_owned()), ..row });
    }
    bench.add_peer(peer, work, beside);
    Ok(())
}

/// The row of these times of `n` elements, without a name.
fn row(work: &Work, n: usize, mut times: Vec<Duration>) -> Row {
    times.sort_unstable();
    let at = |place: usize| times[place].as_secs_f64();
    let bytes = (n * size_of::<f32>()) as u64;
    Row {
        algorithm: work.subject.name().to_owned(),
        number: work.number.to_owned(),
        size: n as u64,
        bytes,
        runs: RUNS,
        median_us: 1e6 * at(RUNS / 2),
        low_us: 1e6 * at(RUNS / 4),
        high_us: 1e6 * at(RUNS * 3 / 4),
        gbps: bytes as f64 / at(RUNS / 2).max(f64::MIN_POSITIVE) / 1e9,
        ..Row::default()
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
