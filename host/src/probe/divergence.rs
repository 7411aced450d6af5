//! `host divergence`: what it costs that the lanes of a warp go two ways.

use anyhow::anyhow;
use clap::Args;
use gpu::probe::{Path, by_thread, by_warp, divergence_by_thread, divergence_by_warp};
use launch::{Buffer, Device, Kernel, LaunchConfig};
use serde::Serialize;

use crate::measure;
use crate::options::DeviceOption;
use crate::report::plot::{self, LinePlot, PlotOption, Series};
use crate::report::{self, Seconds};

use super::{full_grid, open_gpu};

/// Threads of a block.
const BLOCK: u32 = 256;

/// How often the GPU is filled with blocks in a run.
const WAVES: u32 = 4;

/// Measure what it costs a GPU that the lanes of a warp go two ways
///
/// After mathKernel1 and mathKernel2 of Professional CUDA C Programming: a branch on the thread's parity, where every warp
/// goes both ways, against one on the warp's, where it goes one. Either way is a chain of dependent multiply-adds. Times
/// are medians of several runs, by device events; every element is checked.
#[derive(Args, Debug)]
pub struct DivergenceOptions {
    /// Multiply-adds of a path
    #[arg(long, value_name = "COUNTS", value_delimiter = ',', default_value = "16,64,256,1024,2048,4096,8192")]
    rounds: Vec<u32>,

    #[command(flatten)]
    device: DeviceOption,

    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    plot: PlotOption,
}

/// What is printed.
#[derive(Serialize, Debug)]
struct Summary {
    device: String,
    threads: usize,
    measurements: Vec<Measurement>,
}

/// Both branches with paths of one length.
#[derive(Clone, Copy, Serialize, Debug)]
struct Measurement {
    rounds: u32,
    seconds_by_thread: f64,
    seconds_by_warp: f64,
    ratio: f64,
}

/// What the branch is decided by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// The thread's parity.
    Thread,
    /// The warp's parity.
    Warp,
}

impl Decision {
    fn launch(self, device: &Device, grid: u32, rounds: u32, y: &mut Buffer<f32>) -> Result<(), launch::Error> {
        let config = LaunchConfig::new(grid, BLOCK);
        match self {
            Self::Thread => device.launch(config, divergence_by_thread(rounds, y.view_mut())),
            Self::Warp => device.launch(config, divergence_by_warp(rounds, y.view_mut())),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Thread => <divergence_by_thread as Kernel>::INFO.name,
            Self::Warp => <divergence_by_warp as Kernel>::INFO.name,
        }
    }
}

/// The plain CPU answer: element `i` of the kernels' result.
pub fn reference(decision: Decision, i: usize, rounds: u32) -> f32 {
    let decides = match decision {
        Decision::Thread => by_thread(i),
        Decision::Warp => by_warp(i),
    };
    let path = if decides.is_multiple_of(2) { Path::EVEN } else { Path::ODD };
    let mut value = (i % 256) as f32;
    for _ in 0..rounds {
        value = value.mul_add(path.factor, path.addend);
    }
    value
}

impl DivergenceOptions {
    /// Runs the command.
    ///
    /// # Errors
    /// [`UsageError`](crate::error::UsageError) in the simulator; when the device fails; when a result is wrong.
    pub fn run(self) -> anyhow::Result<()> {
        self.plot.check()?;
        let device = open_gpu(self.device, "divergence", "")?;
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
        if self.json {
            report::print_json(&summary)?;
        } else {
            report::print(&summary.text())?;
        }
        self.plot.draw(|path| plot::lines(path, &summary.plot()))
    }
}

/// Compares `found` with the reference, of which a period of 256 elements is all there is to it.
fn check(decision: Decision, rounds: u32, found: &[f32]) -> anyhow::Result<()> {
    let period: Vec<f32> = (0..BLOCK as usize).map(|i| reference(decision, i, rounds)).collect();
    match found.iter().zip(period.iter().cycle()).position(|(found, expected)| found != expected) {
        Some(i) => {
            let (kernel, found, expected) = (decision.name(), found[i], period[i % period.len()]);
            Err(anyhow!(
                "the result of {kernel} with {rounds} rounds is wrong: element {i} is {found}, and should be {expected}"
            ))
        }
        None => Ok(()),
    }
}

impl Summary {
    fn text(&self) -> String {
        let rows: Vec<_> = self
            .measurements
            .iter()
            .map(|one| {
                [
                    one.rounds.to_string(),
                    Seconds(one.seconds_by_thread).to_string(),
                    Seconds(one.seconds_by_warp).to_string(),
                    format!("{:.2}", one.ratio),
                ]
            })
            .collect();
        format!(
            "divergence on {}: {} threads, of which one half goes one way and one half the other; medians\n{}\n",
            self.device,
            report::grouped(self.threads as u64),
            report::table(["rounds", "by thread", "by warp", "ratio"], &rows)
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
    fn the_reference_follows_the_paths() {
        assert_eq!(reference(Decision::Thread, 6, 0), 6.0);
        assert_eq!(reference(Decision::Thread, 6, 1), (6.0_f64 * f64::from(0.9995_f32) + 0.25) as f32);
        assert_eq!(reference(Decision::Thread, 7, 1), (7.0_f64 * f64::from(0.9998_f32) - 0.125) as f32);
        assert_eq!(reference(Decision::Warp, 7, 1), (7.0_f64 * f64::from(0.9995_f32) + 0.25) as f32);
        assert_eq!(reference(Decision::Warp, 32, 1), (32.0_f64 * f64::from(0.9998_f32) - 0.125) as f32);
        for i in [1, 2] {
            let near = |rounds| f64::from(reference(Decision::Thread, i, rounds));
            let (factor, addend) = if i == 1 { (0.9998_f64, -0.125) } else { (0.9995, 0.25) };
            let limit = addend / (1.0 - factor);
            let expected = limit + (i as f64 - limit) * factor.powi(1000);
            assert!((near(1000) - expected).abs() < 0.05, "{} {expected}", near(1000));
        }
    }

    #[test]
    fn a_wrong_element_is_told() {
        let mut found: Vec<f32> = (0..1000).map(|i| reference(Decision::Warp, i, 3)).collect();
        check(Decision::Warp, 3, &found).unwrap();
        assert!(check(Decision::Thread, 3, &found).is_err() && check(Decision::Warp, 4, &found).is_err());
        found[700] = f32::NAN;
        let message = check(Decision::Warp, 3, &found).unwrap_err().to_string();
        assert!(message.contains("divergence_by_warp with 3 rounds") && message.contains("element 700"), "{message}");
    }

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
