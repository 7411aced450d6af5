//! `host divergence`: measures the cost of a branch that splits the lanes of a warp.

use clap::Args;
use gpu::probe::divergence_by_thread;
use launch::Kernel;
use serde::Serialize;
use workbench::probe::divergence::{BLOCK, Decision, check};
use workbench::probe::full_grid;

use crate::measure;
use crate::options::number_in;
use crate::report::plot::{LinePlot, Series};
use crate::report::{self, Seconds};

use super::ProbeOptions;

/// The number of blocks of the grid, as a multiple of the blocks that the GPU can run concurrently.
const WAVES: u32 = 4;

/// Measure the cost of a branch that splits the lanes of a warp
///
/// Follows mathKernel1 and mathKernel2 of the book Professional CUDA C Programming. A branch on the parity of the
/// thread splits every warp; a branch on the parity of the warp splits none. Each path is a chain of dependent
/// multiply-adds. Times are medians of several runs, by device events; every element is checked.
#[derive(Args, Debug)]
pub struct DivergenceOptions {
    /// Multiply-adds of each path
    #[arg(
        long,
        value_name = "COUNTS",
        value_delimiter = ',',
        default_value = "16,64,256,1024,2048,4096,8192",
        value_parser = number_in::<u32>(0..=u32::MAX.into())
    )]
    rounds: Vec<u32>,

    #[command(flatten)]
    probe: ProbeOptions,
}

/// The result that the command prints.
#[derive(Serialize, Debug)]
struct Summary {
    device: String,
    threads: usize,
    measurements: Vec<Measurement>,
}

/// The times of both branches, for paths of one length.
#[derive(Clone, Copy, Serialize, Debug)]
struct Measurement {
    rounds: u32,
    seconds_by_thread: f64,
    seconds_by_warp: f64,
    ratio: f64,
}

impl DivergenceOptions {
    /// Runs the command.
    ///
    /// # Errors
    /// [`UsageError`](crate::error::UsageError) in the simulator; another error if the device fails or a result is
    /// wrong.
    pub fn run(self) -> anyhow::Result<()> {
        let device = self.probe.open_gpu("divergence", "")?;
        let grid = WAVES.saturating_mul(full_grid(&device, <divergence_by_thread as Kernel>::INFO, BLOCK)?);
        let threads = grid as usize * BLOCK as usize;
        let mut y = device.alloc(threads)?;
        let mut measurements = Vec::new();
        for &rounds in &self.rounds {
            let mut seconds = |decision: Decision| -> anyhow::Result<f64> {
                decision.launch(&device, grid, rounds, &mut y)?;
                check(decision, rounds, &y.download()?)?;
                let launch = || decision.launch(&device, grid, rounds, &mut y);
                Ok(measure::median_time(&device, launch)?.seconds)
            };
            let (seconds_by_thread, seconds_by_warp) = (seconds(Decision::Thread)?, seconds(Decision::Warp)?);
            let ratio = seconds_by_thread / seconds_by_warp;
            measurements.push(Measurement { rounds, seconds_by_thread, seconds_by_warp, ratio });
        }
        let summary = Summary { device: device.name().to_owned(), threads, measurements };
        self.probe.finish(&summary, &summary.text(), || summary.plot())
    }
}

impl Summary {
    fn text(&self) -> String {
        let rows = self.measurements.iter().map(|one| {
            [
                one.rounds.to_string(),
                Seconds(one.seconds_by_thread).to_string(),
                Seconds(one.seconds_by_warp).to_string(),
                format!("{:.2}", one.ratio),
            ]
        });
        format!(
            "divergence on {}: {} threads, half of them on each path; medians\n{}\n",
            self.device,
            report::grouped(self.threads as u64),
            report::table(["rounds", "by thread", "by warp", "ratio"], rows)
        )
    }

    fn plot(&self) -> LinePlot {
        let line = |name: &str, seconds: fn(&Measurement) -> f64| Series {
            name: name.to_owned(),
            points: self.measurements.iter().map(|one| (f64::from(one.rounds), 1e6 * seconds(one))).collect(),
        };
        LinePlot {
            title: format!("a branch within warps and between them, on {}", self.device),
            x_label: "multiply-adds of each path".into(),
            y_label: "time (µs)".into(),
            x_log2: false,
            series: vec![line("by thread", |one| one.seconds_by_thread), line("by warp", |one| one.seconds_by_warp)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_and_the_lines_have_both_times() {
        let measurement = Measurement { rounds: 64, seconds_by_thread: 4e-5, seconds_by_warp: 2e-5, ratio: 2.0 };
        let summary = Summary { device: "NVIDIA H200".into(), threads: 1 << 20, measurements: vec![measurement] };
        let text = summary.text();
        for part in ["1,048,576 threads", "64", "40.0 µs", "20.0 µs", "2.00"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(summary.plot().series[0].points, [(64.0, 40.0)]);
    }
}
