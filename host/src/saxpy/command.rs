//! `host saxpy`: each kernel's time, bandwidth, and error against the reference.

use std::str::FromStr;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use clap::Args;
use launch::{Buffer, Device};
use serde::Serialize;

use super::inputs::{self, Input};
use super::reference::Wrong;
use super::{SaxpyKernel, UnknownKernel, plan, saxpy_on};
use crate::options::{DeviceOption, parse_count};
use crate::report::{self, Bytes};

/// Bytes read and written for an element: x and y read, y written.
const BYTES_AN_ELEMENT: u64 = 12;

/// Timed runs of a kernel: at least so many, and more as long as they are short.
const FEWEST_RUNS: usize = 5;
const MOST_RUNS: usize = 101;
const TIME_FOR_RUNS: Duration = Duration::from_millis(500);

/// Measure y = a·x + y in single precision and check it
///
/// Times are medians of several runs after a first one, by device events on a GPU and by the clock in the simulator.
/// Bandwidth counts 12 bytes an element, in GB of 10⁹ bytes. A result is right if it is within ε·(|a·x| + |y|) of a
/// reference in double precision, ε = 2⁻²³.
#[derive(Args, Debug)]
pub struct SaxpyOptions {
    /// Elements of x and y, such as 1000000, 1_000_000 or 2^28
    #[arg(long, value_name = "N", default_value = "2^24", value_parser = parse_count)]
    n: usize,

    /// The factor a
    #[arg(long, value_name = "A", default_value = "2.0", value_parser = parse_factor, allow_negative_numbers = true)]
    a: f32,

    /// Kernel: monolithic, grid_stride or all
    #[arg(long, value_name = "NAME", default_value = "all", value_parser = parse_kernels)]
    kernel: Kernels,

    #[command(flatten)]
    device: DeviceOption,

    /// Seed of x and y
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
}

/// Which kernels to run.
#[derive(Clone, Copy, Debug)]
enum Kernels {
    All,
    One(SaxpyKernel),
}

fn parse_kernels(text: &str) -> Result<Kernels, String> {
    match SaxpyKernel::from_str(text) {
        Ok(kernel) => Ok(Kernels::One(kernel)),
        Err(_) if text == "all" => Ok(Kernels::All),
        Err(error @ UnknownKernel(_)) => Err(format!("{error}, or all")),
    }
}

fn parse_factor(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(a) if a.is_finite() => Ok(a),
        _ => Err("it must be a finite number, such as 2.5".into()),
    }
}

/// What is printed.
#[derive(Serialize, Debug)]
struct Report {
    device: String,
    n: usize,
    a: f32,
    seed: u64,
    bytes: u64,
    kernels: Vec<Measurement>,
}

/// One kernel's part of it.
#[derive(Serialize, Debug)]
struct Measurement {
    kernel: &'static str,
    runs: usize,
    seconds: f64,
    gigabytes_per_second: f64,
    largest_error: f64,
    largest_error_of_bound: f64,
    #[serde(skip)]
    wrong: Option<Wrong>,
}

impl SaxpyOptions {
    /// Runs the command.
    ///
    /// # Errors
    /// When the device fails or has too little memory, or when a result is wrong.
    pub fn run(self) -> anyhow::Result<()> {
        let device = self.device.open()?;
        let report = Report {
            device: device.name().to_owned(),
            n: self.n,
            a: self.a,
            seed: self.seed,
            bytes: self.bytes(),
            kernels: self.measure(&device)?,
        };
        if self.json {
            report::print_json(&report)?;
        } else {
            print(&report)?;
        }
        let wrong = report.kernels.iter().find_map(|kernel| Some((kernel.kernel, kernel.wrong?)));
        if let Some((kernel, Wrong { index, found, expected })) = wrong {
            bail!("the result of kernel {kernel} is wrong: y[{index}] is {found}, and should be {expected}");
        }
        Ok(())
    }

    /// Bytes that one run reads and writes.
    fn bytes(&self) -> u64 {
        (self.n as u64).saturating_mul(BYTES_AN_ELEMENT)
    }

    fn measure(&self, device: &Device) -> anyhow::Result<Vec<Measurement>> {
        let mut x = device.alloc(self.n)?;
        let mut y = device.alloc(self.n)?;
        let mut host = host_memory(self.n)?;
        Input::x(self.seed).fill(&mut host);
        x.upload(&host)?;
        let kernels = match self.kernel {
            Kernels::All => SaxpyKernel::ALL.to_vec(),
            Kernels::One(kernel) => vec![kernel],
        };
        kernels.into_iter().map(|kernel| self.measure_one(device, kernel, &x, &mut y, &mut host)).collect()
    }

    /// Checks the first run, which also warms up, and times the following ones.
    fn measure_one(
        &self,
        device: &Device,
        kernel: SaxpyKernel,
        x: &Buffer<f32>,
        y: &mut Buffer<f32>,
        host: &mut [f32],
    ) -> anyhow::Result<Measurement> {
        Input::y(self.seed).fill(host);
        y.upload(host)?;
        let plan = plan(kernel, self.n, device);
        saxpy_on(device, kernel, plan, self.a, x, y)?;
        y.download_into(host)?;
        let deviation = inputs::compare(self.a, self.seed, host);

        let begun = Instant::now();
        let mut times = Vec::new();
        while times.len() < FEWEST_RUNS || (times.len() < MOST_RUNS && begun.elapsed() < TIME_FOR_RUNS) {
            let ((), time) = device.time(|| saxpy_on(device, kernel, plan, self.a, x, y))?;
            times.push(time);
        }
        times.sort_unstable();
        let seconds = times[times.len() / 2].as_secs_f64();
        Ok(Measurement {
            kernel: kernel.name(),
            runs: times.len(),
            seconds,
            gigabytes_per_second: if self.n == 0 { 0.0 } else { self.bytes() as f64 / seconds / 1e9 },
            largest_error: deviation.largest,
            largest_error_of_bound: deviation.of_bound,
            wrong: deviation.wrong,
        })
    }
}

/// Zeroed memory for `n` elements, on the host.
fn host_memory(n: usize) -> anyhow::Result<Vec<f32>> {
    let mut host = Vec::new();
    host.try_reserve_exact(n).map_err(|_| {
        let bytes = Bytes((n as u64).saturating_mul(4));
        anyhow!("{n} elements need {bytes} of memory on the host, which are not to be had: ask for fewer with --n")
    })?;
    host.resize(n, 0.0);
    Ok(host)
}

fn print(report: &Report) -> anyhow::Result<()> {
    let rows: Vec<_> = report
        .kernels
        .iter()
        .map(|kernel| {
            [
                kernel.kernel.to_owned(),
                report::Seconds(kernel.seconds).to_string(),
                format!("{:.1}", kernel.gigabytes_per_second),
                kernel.runs.to_string(),
                format!("{:.2e}", kernel.largest_error),
                format!("{:.2}", kernel.largest_error_of_bound),
            ]
        })
        .collect();
    let table = report::table(["kernel", "median time", "GB/s", "runs", "largest error", "of allowed"], &rows);
    let bytes = Bytes(report.bytes);
    let text = format!(
        "saxpy on {}, f32, n = {}, a = {}: {bytes} read and written\n{table}",
        report.device, report.n, report.a
    );
    report::print(&text).context("the result is lost")
}
