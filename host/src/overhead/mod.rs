//! Measures what a launch costs the host: a bare `cuLaunchKernel`, a typed launch, and a launch in a graph.
//!
//! It also times a sum until its result is on the host: once with memory allocated before, once as a call that
//! allocates.
//!
//! The kernel is a saxpy of one block on 32 elements, which does next to nothing. Launches come in batches on an idle
//! device, so that its queue never fills and the host never waits. All kinds take turns, so that a change of clocks
//! affects all of them.

use std::time::{Duration, Instant};

use gpu::operator::Sum;
use gpu::saxpy::saxpy_grid_stride;
use gridstride::reduce::{ReduceExt, Reducer, default_rung};
use launch::{Buffer, Device, LaunchConfig};
use serde::Serialize;
use workbench::WorkbenchError;
use workbench::bench::sweep::LAUNCH_ELEMENTS as N;

use crate::report;

/// Elements of a sum: several blocks, which need memory for their partial sums.
pub const SUMMED: usize = 10_000;

/// A batch has one sum for this many launches.
const LAUNCHES_PER_SUM: usize = 5;

/// The number and size of the timed batches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Batches {
    /// Timed batches of each kind, at least one. Another batch before them warms up.
    pub count: usize,
    /// Launches per batch, at least one. A GPU's queue takes about a thousand.
    pub launches: usize,
}

impl Default for Batches {
    fn default() -> Self {
        Self { count: 41, launches: 50 }
    }
}

/// The costs of a launch, and how they were measured.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct LaunchCost {
    /// The device's name.
    pub device: String,
    /// The kernel's name.
    pub kernel: &'static str,
    /// Timed batches of each kind.
    pub batches: usize,
    /// Launches per batch; the graph has as many.
    pub launches: usize,
    /// `cuLaunchKernel` on a kernel and parameters that were prepared before; in the simulator, its own launch.
    pub bare: Cost,
    /// [`Device::launch`] of a new call.
    pub typed: Cost,
    /// A launch of the graph, divided by its kernels.
    pub graph: Cost,
    /// A sum of [`SUMMED`] elements by an existing `Reducer`, until its result is on the host.
    pub sum_kept: Cost,
    /// The same by `device.reduce`, which allocates what it needs.
    pub sum_one_off: Cost,
    /// The host's time for a typed launch as a multiple of a bare one.
    pub typed_to_bare: f64,
}

/// The cost of one kernel's launch, in nanoseconds: medians of the batches' means.
#[derive(Clone, Copy, PartialEq, Serialize, Debug)]
pub struct Cost {
    /// Until the host has enqueued it.
    pub host_nanoseconds: f64,
    /// Until the device has finished the batch, divided by the launches.
    pub done_nanoseconds: f64,
}

/// The times of one kind's batches.
#[derive(Default)]
struct Times {
    launched: Vec<Duration>,
    done: Vec<Duration>,
}

/// Measures what a launch costs on `device`.
///
/// # Errors
/// If a launch fails, or the memory for it is missing.
pub fn measure(device: &Device, batches: Batches) -> Result<LaunchCost, WorkbenchError> {
    let Batches { count, launches } = Batches { count: batches.count.max(1), launches: batches.launches.max(1) };
    let config = LaunchConfig::new(1, N as u32);
    let x = device.zeroed::<f32>(N)?;
    let [mut y_bare, mut y_typed, y_graph]: [Buffer<f32>; 3] =
        [device.zeroed(N)?, device.zeroed(N)?, device.zeroed(N)?];
    let mut bare = device.bare_launch(config, saxpy_grid_stride(1.0, x.view(), y_bare.view_mut()))?;
    let mut graph = device.record((&x, y_graph), |queue, (x, y)| {
        (0..launches).try_for_each(|_| queue.launch(config, saxpy_grid_stride(1.0, x.view(), y.view_mut())))
    })?;
    let [mut bare_times, mut typed_times, mut graph_times, mut kept_times, mut one_off_times] =
        [const { Times { launched: Vec::new(), done: Vec::new() } }; 5];
    let summed = device.zeroed::<f32>(SUMMED)?;
    let mut kept = Reducer::<f32, Sum>::new(device, default_rung::<f32, Sum>(), SUMMED)?;
    let sums = launches.div_ceil(LAUNCHES_PER_SUM);
    for batch in 0..=count {
        let is_timed = batch > 0;
        bare_times.batch(device, is_timed, || (0..launches).try_for_each(|_| bare.launch()))?;
        typed_times.batch(device, is_timed, || {
            (0..launches).try_for_each(|_| device.launch(config, saxpy_grid_stride(1.0, x.view(), y_typed.view_mut())))
        })?;
        graph_times.batch(device, is_timed, || graph.launch())?;
        kept_times.batch(device, is_timed, || (0..sums).try_for_each(|_| kept.reduce(&summed).map(drop)))?;
        one_off_times.batch(device, is_timed, || (0..sums).try_for_each(|_| device.reduce(&summed, Sum).map(drop)))?;
    }
    let [bare, typed, graph] = [bare_times, typed_times, graph_times].map(|times| times.cost(launches));
    let [sum_kept, sum_one_off] = [kept_times, one_off_times].map(|times| times.cost(sums));
    let typed_to_bare =
        if bare.host_nanoseconds > 0.0 { typed.host_nanoseconds / bare.host_nanoseconds } else { f64::NAN };
    let kernel = saxpy_name();
    let device = device.name().to_owned();
    Ok(LaunchCost {
        device,
        kernel,
        batches: count,
        launches,
        bare,
        typed,
        graph,
        sum_kept,
        sum_one_off,
        typed_to_bare,
    })
}

fn saxpy_name() -> &'static str {
    <saxpy_grid_stride as launch::Kernel>::INFO.name
}

impl Times {
    /// Times a batch that begins on an idle device.
    fn batch<E>(
        &mut self,
        device: &Device,
        is_timed: bool,
        launch: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), WorkbenchError>
    where
        WorkbenchError: From<E>,
    {
        device.synchronize()?;
        let start = Instant::now();
        launch()?;
        let launched = start.elapsed();
        device.synchronize()?;
        if is_timed {
            self.launched.push(launched);
            self.done.push(start.elapsed());
        }
        Ok(())
    }

    fn cost(self, launches: usize) -> Cost {
        let share = |times| 1e9 * median(times).as_secs_f64() / launches as f64;
        Cost { host_nanoseconds: share(self.launched), done_nanoseconds: share(self.done) }
    }
}

/// The time in the middle: of two, the longer. Nothing for none.
fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

impl LaunchCost {
    /// Returns the table.
    pub fn text(&self) -> String {
        let row = |what: &str, cost: Cost| {
            let of_bare = format!("{:.2}", cost.host_nanoseconds / self.bare.host_nanoseconds);
            let [host, done] = [cost.host_nanoseconds, cost.done_nanoseconds].map(|cost| format!("{cost:.0}"));
            [what.to_owned(), host, of_bare, done]
        };
        let rows = [
            row("bare cuLaunchKernel", self.bare),
            row("typed launch", self.typed),
            row(&format!("in a graph of {}", self.launches), self.graph),
            row("a sum, memory kept", self.sum_kept),
            row("a sum that allocates", self.sum_one_off),
        ];
        format!(
            "a launch of `{}` on {}: medians of {} batches of {} launches\n{}",
            self.kernel,
            self.device,
            self.batches,
            self.launches,
            report::table(["launch", "host ns", "of bare", "done ns"], &rows)
        )
    }
}

#[cfg(test)]
mod tests {
    use launch::DeviceChoice;

    use super::*;

    #[test]
    fn every_kind_of_launch_has_its_cost() {
        let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
        let cost = measure(&device, Batches { count: 3, launches: 2 }).unwrap();
        assert_eq!((cost.batches, cost.launches, cost.kernel), (3, 2, "saxpy_grid_stride"));
        for cost in [cost.bare, cost.typed, cost.graph, cost.sum_kept, cost.sum_one_off] {
            assert!(cost.host_nanoseconds > 0.0 && cost.done_nanoseconds >= cost.host_nanoseconds, "{cost:?}");
        }
        assert!(cost.typed_to_bare > 0.0);
        // At least one batch of one launch.
        let least = measure(&device, Batches { count: 0, launches: 0 }).unwrap();
        assert_eq!((least.batches, least.launches), (1, 1));
    }

    #[test]
    fn the_report_has_all_of_it() {
        let cost = |host, done| Cost { host_nanoseconds: host, done_nanoseconds: done };
        let cost = LaunchCost {
            device: "GPU X".to_owned(),
            kernel: "k",
            batches: 5,
            launches: 50,
            bare: cost(2000.0, 2500.0),
            typed: cost(2200.0, 2600.0),
            graph: cost(100.0, 900.0),
            sum_kept: cost(9000.0, 9100.0),
            sum_one_off: cost(10000.0, 10100.0),
            typed_to_bare: 1.1,
        };
        let text = cost.text();
        assert!(text.starts_with("a launch of `k` on GPU X: medians of 5 batches of 50 launches\n"), "{text}");
        for (what, figures) in [
            ("bare", "2000 1.00 2500"),
            ("typed", "2200 1.10 2600"),
            ("in a graph of 50", "100 0.05 900"),
            ("a sum that allocates", "10000 5.00 10100"),
        ] {
            let line = text.lines().find(|line| line.trim_start().starts_with(what)).unwrap_or_default();
            let cells = line.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(cells.ends_with(figures), "{what}: {text}");
        }
        let json = serde_json::to_value(&cost).unwrap();
        assert_eq!((&json["typed"]["host_nanoseconds"], &json["typed_to_bare"]), (&2200.0.into(), &1.1.into()));
    }
}
