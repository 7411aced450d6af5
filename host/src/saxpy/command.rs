//! `host saxpy`: each kernel's time, bandwidth, and error against the reference.

use clap::Args;
use launch::Device;
use serde::Serialize;

use super::reference::{self, Reference};
use super::{SaxpyKernel, plan, saxpy_on};
use crate::error::UsageError;
use crate::inputs::{self, Inputs};
use crate::measure::{self, LengthOption, MeasureOptions, Report};
use crate::numbers::NumberType;
use crate::report::progress;
use crate::rungs::{Kernels, Rung};

/// What to do about a lack of memory.
const FEWER: &str = "ask for fewer elements with --n";

/// Measure y = a·x + y and check it
///
/// Times are medians of several runs after a first one, by device events on a GPU and by the clock in the simulator.
/// Bandwidth counts three elements for each, two read and one written, in GB of 10⁹ bytes, and stands beside the speed of
/// the device's own copy in the same run. A result is right if it is within ε·(|a·x| + |y|) of a reference in double
/// precision, ε = 2⁻²³ for f32 and 2⁻⁵² for f64.
#[derive(Args, Debug)]
#[command(after_long_help = measure::help::<SaxpyKernel>())]
pub struct SaxpyOptions {
    #[command(flatten)]
    length: LengthOption,

    /// The factor a
    #[arg(long, value_name = "A", default_value = "2.0", value_parser = parse_factor, allow_negative_numbers = true)]
    a: f64,

    /// Kernel: monolithic, grid_stride, unrolled_2, unrolled_4, unrolled_8, vectorised or all
    #[arg(long, value_name = "NAME", default_value = "all", value_parser = Kernels::<SaxpyKernel>::parse)]
    kernel: Kernels<SaxpyKernel>,

    /// Element type: f32, or f64 with kernel vectorised
    #[arg(long = "type", value_name = "TYPE", default_value = "f32", value_parser = parse_type)]
    number: NumberType,

    #[command(flatten)]
    measure: MeasureOptions,
}

fn parse_factor(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(a) if a.is_finite() => Ok(a),
        _ => Err("it must be a finite number, such as 2.5".into()),
    }
}

fn parse_type(text: &str) -> Result<NumberType, String> {
    match text.parse() {
        Ok(number @ (NumberType::F32 | NumberType::F64)) => Ok(number),
        _ => Err(format!("saxpy has no element type '{text}': use f32 or f64")),
    }
}

/// What was computed.
#[derive(Serialize, Debug)]
struct Problem {
    n: usize,
    a: f64,
    #[serde(rename = "type")]
    number: NumberType,
    seed: u64,
}

impl SaxpyOptions {
    /// Runs the command.
    ///
    /// # Errors
    /// [`UsageError`] when the kernel is not built for the type or the factor is none of it; when the device fails or has
    /// too little memory, or when a result is wrong.
    pub fn run(self) -> anyhow::Result<()> {
        match self.number {
            NumberType::F64 => self.run_for(self.a),
            _ if !(self.a as f32).is_finite() => {
                Err(UsageError(format!("--a {:e} is too large for f32: use --type f64, or a lesser one", self.a))
                    .into())
            }
            _ => self.run_for(self.a as f32),
        }
    }

    fn run_for<T: Reference>(&self, a: T) -> anyhow::Result<()> {
        if let Kernels::One(kernel) = self.kernel {
            kernel.check_offers::<T>().map_err(UsageError::of)?;
        }
        let device = self.measure.device.open()?;
        let n = self.length.on(&device, usize::MAX);
        let element_bytes = size_of::<T>() as u64;
        measure::check_memory(&device, (n as u64).saturating_mul(2 * element_bytes), FEWER)?;
        let title = format!("saxpy, {}, n = {n}, a = {a}", self.number);
        let problem = Problem { n, a: a.to_f64(), number: self.number, seed: self.measure.seed };
        // x and y are read, y is written.
        let bytes = (n as u64).saturating_mul(3 * element_bytes);
        let mut report = Report::new(&device, "saxpy", title, problem, bytes)?;
        self.measure_all(&device, n, a, &mut report)?;
        report.finish(self.measure.json)
    }

    /// The vectors x and y.
    fn inputs<T: Reference>(&self) -> [Inputs<T>; 2] {
        [0, 1].map(|vector| Inputs::new(self.measure.seed, vector))
    }

    fn measure_all<T: Reference>(
        &self,
        device: &Device,
        n: usize,
        a: T,
        report: &mut Report<Problem>,
    ) -> anyhow::Result<()> {
        let mut host = inputs::host_memory(n, FEWER)?;
        let mut x = device.alloc(n)?;
        let mut y = device.alloc(n)?;
        let [input_x, input_y] = self.inputs::<T>();
        input_x.fill(&mut host);
        x.upload(&host)?;
        for kernel in progress::rungs(self.kernel.list()) {
            if let Err(error) = kernel.check_offers::<T>() {
                report.leave_out(kernel.name(), &error);
                continue;
            }
            let plan = plan::<T>(kernel, n, device);
            // The first run is checked, and warms up.
            input_y.fill(&mut host);
            y.upload(&host)?;
            saxpy_on(device, kernel, plan, a, &x, &mut y)?;
            y.download_into(&mut host)?;
            let deviation = reference::deviation(a, input_x, input_y, &host);
            let timing = measure::median_time(device, || saxpy_on(device, kernel, plan, a, &x, &mut y))?;
            report.add(kernel.name(), timing, deviation);
        }
        Ok(())
    }
}
