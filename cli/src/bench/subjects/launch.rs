//! Measures the time that a launch costs the host: bare (checked and prepared once), typed, and in a graph. It also
//! measures the cost of a sum, with scratch memory that is allocated once or by each call.
//!
//! The kernel is a saxpy of one block on 32 elements, which takes hardly any time. Launches are made in batches on an
//! idle device, so that its queue never fills and the host never waits. Batches of all kinds alternate, so that a
//! change of clock rates affects all of them.

use std::time::{Duration, Instant};

use gpu::operator::Sum;
use gpu::saxpy::saxpy_grid_stride;
use gridstride::reduce::{ReduceExt, Reducer, default_rung};
use launch::{Buffer, Device, LaunchConfig};
use workbench::WorkbenchError;
use workbench::bench::sweep::{LAUNCH_ELEMENTS as N, LAUNCH_KINDS};
use workbench::bench::{MeasuredPoint, Sweep};

use crate::bench::meter::Times;
use crate::bench::points::Bench;

/// The number of elements of a sum: enough for several blocks, which need memory for their partial sums.
const SUMMED: usize = 10_000;

/// The number of launches in a batch of launches, divided by the number of sums in a batch of sums.
const LAUNCHES_PER_SUM: usize = 5;

/// The number of timed batches of each kind. An untimed batch before them warms up.
const BATCHES: usize = 41;

/// The number of launches per batch. A GPU's queue has room for about a thousand launches.
const LAUNCHES: usize = 50;

/// The times of one kind of launch.
struct Cost {
    kind: &'static str,
    /// The times until the host has enqueued a batch.
    host: Times,
    /// The times until the device has finished a batch.
    done: Times,
    /// The number of launches of a batch.
    launches: u64,
}

/// Measures each kind of launch. The time in each row of results is the host's time per launch.
pub(super) fn run(bench: &mut Bench, sweep: &Sweep) -> anyhow::Result<()> {
    for Cost { kind, host, done, launches } in measure(&bench.device(), BATCHES, LAUNCHES)? {
        let host = Times { low: host.median, high: host.median, ..host };
        let row = MeasuredPoint::timed(&host, sweep, kind, launches);
        bench.add(MeasuredPoint { host_us: Some(1e6 * done.median / launches as f64), ..row });
    }
    Ok(())
}

/// Times `batches` batches of `launches` launches, for each kind of launch.
fn measure(device: &Device, batches: usize, launches: usize) -> Result<Vec<Cost>, WorkbenchError> {
    let config = LaunchConfig::new(1, N as u32);
    let x = device.zeroed::<f32>(N)?;
    let [mut y_bare, mut y_typed, y_graph]: [Buffer<f32>; 3] =
        [device.zeroed(N)?, device.zeroed(N)?, device.zeroed(N)?];
    let mut bare = device.bare_launch(config, saxpy_grid_stride(1.0, x.view(), y_bare.view_mut()))?;
    let mut typed = || device.launch(config, saxpy_grid_stride(1.0, x.view(), y_typed.view_mut()));
    let mut graph = device.record((&x, y_graph), |queue, (x, y)| {
        (0..launches).try_for_each(|_| queue.launch(config, saxpy_grid_stride(1.0, x.view(), y.view_mut())))
    })?;
    let summed = device.zeroed::<f32>(SUMMED)?;
    let mut reducer = Reducer::<f32, Sum>::new(device, default_rung::<f32, Sum>(), SUMMED)?;
    let sums = launches.div_ceil(LAUNCHES_PER_SUM);
    let mut kinds: [(_, _, &mut dyn FnMut() -> Result<(), WorkbenchError>); LAUNCH_KINDS] = [
        ("bare", launches, &mut || Ok((0..launches).try_for_each(|_| bare.launch())?)),
        ("typed", launches, &mut || Ok((0..launches).try_for_each(|_| typed())?)),
        ("graph", launches, &mut || Ok(graph.launch()?)),
        ("sum_kept", sums, &mut || Ok((0..sums).try_for_each(|_| reducer.reduce(&summed).map(drop))?)),
        ("sum_one_off", sums, &mut || Ok((0..sums).try_for_each(|_| device.reduce(&summed, Sum).map(drop))?)),
    ];
    let mut times = [const { [Vec::new(), Vec::new()] }; LAUNCH_KINDS];
    for batch in 0..=batches {
        for ((_, _, launch), [host, done]) in kinds.iter_mut().zip(&mut times) {
            device.synchronize()?;
            let start = Instant::now();
            launch()?;
            let enqueued: Duration = start.elapsed();
            device.synchronize()?;
            if batch > 0 {
                host.push(enqueued);
                done.push(start.elapsed());
            }
        }
    }
    let costs = kinds.into_iter().zip(times).map(|((kind, launches, _), times)| {
        let [host, done] = times.map(Times::of);
        Cost { kind, host, done, launches: launches as u64 }
    });
    Ok(costs.collect())
}

#[cfg(test)]
mod tests {
    use launch::DeviceChoice;

    use super::*;

    #[test]
    fn every_kind_of_launch_has_its_cost() {
        let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
        let costs = measure(&device, 3, 2).unwrap();
        assert_eq!(costs.len(), LAUNCH_KINDS);
        for Cost { kind, host, done, launches } in costs {
            assert!(host.median > 0.0 && done.median >= host.median, "{kind}");
            assert_eq!((host.runs, launches), (3, if kind.starts_with("sum") { 1 } else { 2 }));
        }
    }
}
