//! Measures the times of an algorithm's rungs and the speed of a copy, and reports both.

use std::time::{Duration, Instant};

use anyhow::anyhow;
use clap::Args;
use cuda_std::Rung;
use launch::{Device, Error};
use serde::{Serialize, Serializer};
use workbench::algorithm::{Fact, Problem};

use crate::options::{GroupOption, parse_number};
use crate::report::{self, Bytes, Rate};
use gridstride::error::AlgorithmError;
use units::{conjunction, percent};
use workbench::WorkbenchError;
use workbench::deviation::Deviation;

pub use program::memory::check_memory;

pub mod command;
pub(crate) mod split;

/// The minimum number of timed runs of a rung.
const FEWEST_RUNS: usize = 5;
/// The maximum number of timed runs of a rung.
const MOST_RUNS: usize = 101;
/// The time after which no further run begins.
const TIME_FOR_RUNS: Duration = Duration::from_millis(500);

/// The minimum number of runs before their times may count as steady.
const FEWEST_STEADY_RUNS: usize = 3;

/// The largest distance between the quartiles of steady times, as a share of the median.
const STEADY: f64 = 0.01;

/// The minimum and the maximum number of bytes of the copy that a measurement on a GPU is compared with. Within these
/// limits the copy moves as many bytes as the measured work.
const COPY_BYTES_GPU: (u64, u64) = (256 << 20, 4 << 30);
/// The same limits for a measurement in the simulator.
const COPY_BYTES_SIMULATOR: (u64, u64) = (1 << 20, 64 << 20);

/// The help text on the columns of a [`Report`]'s table.
const COLUMNS: &str = "\
Columns:
  median time    median of the timed runs, after one that warms up
  GB/s           bytes read and written over that time; the title has the bytes, and 1 GB is 10⁹ bytes
  of copy        GB/s as a share of the speed of the device's own copy, measured in the same run
  TFLOP/s        in place of both for matmul: 10¹² additions and multiplications per second
  runs           number of timed runs: at least 5, and up to 101 within half a second
  largest error  largest distance between an element of the result and the reference
  of allowed     largest distance as a share of the tolerance of its element; above 100 % is wrong
  wrong          number of wrong elements

On several devices the host's clock measures, from the moment when all are ready until the last has finished.
In the simulator the times are those of this machine's CPU and say nothing about a GPU's.
Exit code: 0 if all results are right, 1 if one is wrong or the device fails, 2 if the command line is wrong.";

/// Returns the last part of the help: the idea of each rung, the columns, and the exit codes.
fn help(rungs: &[Rung]) -> String {
    let width = rungs.iter().map(|rung| rung.name.len()).max().unwrap_or(0);
    let line = |rung: &Rung| format!("  {:<width$}  {}\n", rung.name, rung.idea);
    format!("Rungs:\n{}\n{COLUMNS}", rungs.iter().map(line).collect::<String>())
}

/// The facts of a problem, for JSON.
struct Facts(Vec<(&'static str, Fact)>);

impl Facts {
    fn of(problem: &dyn Problem, seed: u64) -> Self {
        Self(problem.facts().into_iter().chain([("seed", Fact::Count(seed))]).collect())
    }
}

impl Serialize for Facts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, fact)| (name, fact)))
    }
}

/// The flags of every command that measures.
#[derive(Args, Clone, Debug)]
pub struct MeasureOptions {
    /// The devices to measure on.
    #[command(flatten)]
    pub device: GroupOption,

    /// Seed of the random input
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = parse_number)]
    pub seed: u64,

    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Returns the numbers of devices or chunks to measure: the powers of two below `most`, and `most`.
pub(crate) fn doubled_up_to(most: usize) -> Vec<usize> {
    std::iter::successors(Some(1), |count| Some(2 * count)).take_while(|&count| count < most).chain([most]).collect()
}

/// The median time of several runs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Timing {
    /// The median time, in seconds.
    pub seconds: f64,
    /// The number of timed runs.
    pub runs: usize,
}

/// Returns the median time of a run of `work`. Each run is timed by device events on a GPU, and by the clock in the
/// simulator. The caller must run `work` once before, to warm up.
///
/// # Errors
/// The first error of `work`, or of the device.
pub fn median_time<E: From<Error>>(device: &Device, work: impl FnMut() -> Result<(), E>) -> Result<Timing, E> {
    time_until(device, work, |_| false)
}

/// Returns the median time like [`median_time`], but stops early once the quartiles are at most 1 % of the median
/// apart.
///
/// # Errors
/// As for [`median_time`].
pub fn steady_time<E: From<Error>>(device: &Device, work: impl FnMut() -> Result<(), E>) -> Result<Timing, E> {
    time_until(device, work, is_steady)
}

fn time_until<E: From<Error>>(
    device: &Device,
    mut work: impl FnMut() -> Result<(), E>,
    is_enough: impl Fn(&[Duration]) -> bool,
) -> Result<Timing, E> {
    let begun = Instant::now();
    let mut times = Vec::new();
    while !is_enough(&times)
        && (times.len() < FEWEST_RUNS || (times.len() < MOST_RUNS && begun.elapsed() < TIME_FOR_RUNS))
    {
        let (result, time) = device.time(|| Ok(work()))?;
        result?;
        // Keep the times sorted.
        times.insert(times.partition_point(|&other| other <= time), time);
    }
    Ok(Timing { seconds: times[times.len() / 2].as_secs_f64(), runs: times.len() })
}

/// Returns true if the quartiles of the sorted times are close to each other.
fn is_steady(times: &[Duration]) -> bool {
    let at = |place: usize| times.get(place).map_or(0.0, Duration::as_secs_f64);
    times.len() >= FEWEST_STEADY_RUNS && at(times.len() * 3 / 4) - at(times.len() / 4) <= STEADY * at(times.len() / 2)
}

/// Returns the speed of a copy of about `bytes` bytes within the device's memory, in GB/s. A GB has 10⁹ bytes, and both
/// read and written bytes count.
///
/// # Errors
/// If the device fails.
pub fn copy_speed(device: &Device, bytes: u64) -> Result<f64, Error> {
    let (least, most) = if device.is_simulated() { COPY_BYTES_SIMULATOR } else { COPY_BYTES_GPU };
    let free = device.properties()?.memory_free_bytes;
    let len = (bytes.clamp(least, most) / 2).min(free / 4) as usize;
    let from = device.zeroed::<u8>(len)?;
    let mut to = device.zeroed::<u8>(len)?;
    to.copy_from(&from)?;
    let timing = median_time(device, || to.copy_from(&from))?;
    Ok(2.0 * len as f64 / timing.seconds / 1e9)
}

/// A row of a report: the measurement of one rung.
#[derive(Clone, Serialize, Debug)]
pub struct Measurement {
    /// The name of the rung.
    pub kernel: &'static str,
    /// The number of timed runs.
    pub runs: usize,
    /// The median time of the runs, in seconds.
    pub seconds: f64,
    /// The problem's bytes per second, in units of 10⁹.
    pub gigabytes_per_second: f64,
    /// The rate as a share of the copy's speed.
    pub share_of_copy: f64,
    /// The problem's operations per second, in units of 10¹², if the problem counts operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub teraflops: Option<f64>,
    /// The result's deviation from the reference.
    #[serde(flatten)]
    pub deviation: Deviation,
}

/// The report of a command: `problem` describes the problem in JSON, and `title` in words.
#[derive(Serialize, Debug)]
pub struct Report<P> {
    #[serde(skip)]
    title: String,
    algorithm: &'static str,
    device: String,
    #[serde(skip)]
    is_simulated: bool,
    #[serde(flatten)]
    problem: P,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    operations: Option<u64>,
    copy_gigabytes_per_second: f64,
    kernels: Vec<Measurement>,
    /// The rungs that were left out, each with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
    /// The rungs that were left out, grouped by reason, for the table.
    #[serde(skip)]
    left_out_groups: Vec<(Vec<&'static str>, String)>,
}

impl<P: Serialize> Report<P> {
    /// Returns an empty report of `algorithm` on `device`. The device copies at `copy_gigabytes_per_second`, and each
    /// rung reads and writes at least `bytes`.
    pub fn new(
        device: &Device,
        copy_gigabytes_per_second: f64,
        algorithm: &'static str,
        title: String,
        problem: P,
        bytes: u64,
    ) -> Self {
        Self {
            title,
            algorithm,
            device: device.name().to_owned(),
            is_simulated: device.is_simulated(),
            problem,
            bytes,
            operations: None,
            copy_gigabytes_per_second,
            kernels: Vec::new(),
            left_out: Vec::new(),
            left_out_groups: Vec::new(),
        }
    }

    /// Sets the number of operations of a run. The table then shows their rate instead of that of the bytes.
    #[must_use]
    pub fn operations(self, operations: Option<u64>) -> Self {
        Self { operations, ..self }
    }

    /// Adds the measurement of a rung.
    pub fn add(&mut self, kernel: &'static str, timing: Timing, deviation: Deviation) {
        let rate = if self.bytes == 0 { 0.0 } else { self.bytes as f64 / timing.seconds / 1e9 };
        self.kernels.push(Measurement {
            kernel,
            runs: timing.runs,
            seconds: timing.seconds,
            gigabytes_per_second: rate,
            share_of_copy: rate / self.copy_gigabytes_per_second,
            teraflops: self.operations.map(|operations| operations as f64 / timing.seconds / 1e12),
            deviation,
        });
    }

    /// Notes a rung that was not run, and the reason.
    pub fn leave_out(&mut self, kernel: &'static str, reason: &WorkbenchError) {
        self.left_out.push(reason.to_string());
        let reason = match reason {
            WorkbenchError::Algorithm(AlgorithmError::NotBuilt { offered, .. }) => offered.clone(),
            reason => reason.to_string(),
        };
        match self.left_out_groups.iter_mut().find(|(_, known)| *known == reason) {
            Some((kernels, _)) => kernels.push(kernel),
            None => self.left_out_groups.push((vec![kernel], reason)),
        }
    }

    /// Prints the report.
    ///
    /// # Errors
    /// If the result of a rung is wrong, or the report cannot be written.
    pub fn finish(&self, json: bool) -> anyhow::Result<()> {
        report::print_either(json, self, &self.text())?;
        match self.kernels.iter().find_map(|kernel| Some((kernel.kernel, kernel.deviation.wrong.as_ref()?))) {
            Some((kernel, wrong)) => Err(anyhow!("the result of kernel {kernel} is wrong: {wrong}")),
            None => Ok(()),
        }
    }

    fn text(&self) -> String {
        let row = |kernel: &Measurement| {
            let mut cells = vec![kernel.kernel.to_owned(), report::Seconds(kernel.seconds).to_string()];
            match kernel.teraflops {
                Some(teraflops) => cells.push(Rate(teraflops).to_string()),
                None => cells.extend([Rate(kernel.gigabytes_per_second).to_string(), percent(kernel.share_of_copy)]),
            }
            cells.extend([
                kernel.runs.to_string(),
                error_text(kernel.deviation.largest_error),
                percent(kernel.deviation.of_bound),
                kernel.deviation.wrong_elements.to_string(),
            ]);
            cells
        };
        let rates: &[&str] = if self.operations.is_some() { &["TFLOP/s"] } else { &["GB/s", "of copy"] };
        let heading = [&["kernel", "median time"], rates, &["runs", "largest error", "of allowed", "wrong"]].concat();
        let mut text = format!(
            "{} on {}: {} read and written; the device copies at {:.1} GB/s\n{}\n",
            self.title,
            self.device,
            Bytes(self.bytes),
            self.copy_gigabytes_per_second,
            report::table(heading, self.kernels.iter().map(row)),
        );
        for (kernels, offered) in &self.left_out_groups {
            let offers = if kernels.len() == 1 { "offers" } else { "offer" };
            text += &format!("left out: {}, which {offers} {offered}\n", conjunction(kernels));
        }
        if self.is_simulated {
            text += report::SIMULATED;
        }
        text
    }
}

fn error_text(error: f64) -> String {
    if error == 0.0 { "0".to_owned() } else { format!("{error:.2e}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use launch::DeviceChoice;

    fn simulator() -> Device {
        Device::open(DeviceChoice::Sim, &[]).unwrap()
    }

    #[derive(Serialize)]
    struct Problem {
        n: usize,
    }

    #[test]
    fn a_report_shows_rates_and_fails_for_a_wrong_result() {
        let mut report = Report::new(&simulator(), 10.0, "walk", "walk, n = 5".to_owned(), Problem { n: 5 }, 5000);
        report.add("slow", Timing { seconds: 1e-6, runs: 7 }, Deviation::default());
        for kernel in ["hop", "leap"] {
            let requested = "5 steps".to_owned();
            let reason =
                AlgorithmError::NotBuilt { algorithm: "walk", rung: kernel, requested, offered: "1 step".to_owned() }
                    .into();
            report.leave_out(kernel, &reason);
        }
        let text = report.text();
        for part in [
            "walk, n = 5 on simulator",
            "slow",
            "1.00 µs",
            "5.00",
            "50.0 %",
            "7",
            "left out: hop and leap, which offer 1 step",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(report.finish(true).is_ok());
        let mut deviation = Deviation::default();
        deviation.add(3, 1.0, 2.0, 0.5);
        report.add("hop", Timing { seconds: 1e-6, runs: 7 }, deviation);
        let message = report.finish(false).unwrap_err().to_string();
        assert_eq!(message, "the result of kernel hop is wrong: element 3 is 1, and should be 2");
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["n"], 5);
        assert_eq!(json["left_out"][1], "walk's rung leap does not offer 5 steps: it offers 1 step");
        assert_eq!(json["kernels"][0]["share_of_copy"], 0.5);
        assert_eq!(json["kernels"][1]["wrong"]["index"], 3);
    }

    #[test]
    fn a_report_of_operations_shows_their_rate() {
        let report = Report::new(&simulator(), 10.0, "walk", "walk".to_owned(), Problem { n: 5 }, 5000);
        let mut report = report.operations(Some(8_000_000));
        report.add("slow", Timing { seconds: 1e-6, runs: 7 }, Deviation::default());
        let text = report.text();
        assert!(text.contains("TFLOP/s") && text.contains("8.00") && !text.contains("of copy"), "{text}");
    }

    #[test]
    fn the_copy_has_a_speed() {
        assert!(copy_speed(&simulator(), 0).unwrap() > 0.0);
    }
}
