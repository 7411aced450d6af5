//! `host saxpy`: each kernel's time, bandwidth, and error against the reference.

use clap::Args;
use launch::Device;
use serde::Serialize;

use super::{SaxpyKernel, plan, reference, saxpy_on};
use crate::inputs::{self, Inputs};
use crate::measure::{self, MeasureOptions, Report};
use crate::options::parse_count;
use crate::rungs::{Kernels, Rung};

/// Bytes read and written for an element: x and y read, y written.
const BYTES_AN_ELEMENT: u64 = 12;

/// What to do about a lack of memory.
const FEWER: &str = "ask for fewer elements with --n";

/// Measure y = a·x + y in single precision and check it
///
/// Times are medians of several runs after a first one, by device events on a GPU and by the clock in the simulator.
/// Bandwidth counts 12 bytes an element, in GB of 10⁹ bytes, and stands beside the speed of the device's own copy in the
/// same run. A result is right if it is within ε·(|a·x| + |y|) of a reference in double precision, ε = 2⁻²³.
#[derive(Args, Debug)]
pub struct SaxpyOptions {
    /// Elements of x and y, such as 1000000, 1_000_000 or 2^28
    #[arg(long, value_name = "N", default_value = "2^24", value_parser = parse_count)]
    n: usize,

    /// The factor a
    #[arg(long, value_name = "A", default_value = "2.0", value_parser = parse_factor, allow_negative_numbers = true)]
    a: f32,

    /// Kernel: monolithic, grid_stride or all
    #[arg(long, value_name = "NAME", default_value = "all", value_parser = Kernels::<SaxpyKernel>::parse)]
    kernel: Kernels<SaxpyKernel>,

    #[command(flatten)]
    measure: MeasureOptions,
}

fn parse_factor(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(a) if a.is_finite() => Ok(a),
        _ => Err("it must be a finite number, such as 2.5".into()),
    }
}

/// What was computed.
#[derive(Serialize, Debug)]
struct Problem {
    n: usize,
    a: f32,
    seed: u64,
}

impl SaxpyOptions {
    /// Runs the command.
    ///
    /// # Errors
    /// When the device fails or has too little memory, or when a result is wrong.
    pub fn run(self) -> anyhow::Result<()> {
        let device = self.measure.device.open()?;
        measure::check_memory(&device, (self.n as u64).saturating_mul(8), FEWER)?;
        let title = format!("saxpy, f32, n = {}, a = {}", self.n, self.a);
        let problem = Problem { n: self.n, a: self.a, seed: self.measure.seed };
        let bytes = (self.n as u64).saturating_mul(BYTES_AN_ELEMENT);
        let mut report = Report::new(&device, "saxpy", title, problem, bytes)?;
        self.measure_all(&device, &mut report)?;
        report.finish(self.measure.json)
    }

    /// The vectors x and y.
    fn inputs(&self) -> [Inputs<f32>; 2] {
        [0, 1].map(|vector| Inputs::new(self.measure.seed, vector))
    }

    fn measure_all(&self, device: &Device, report: &mut Report<Problem>) -> anyhow::Result<()> {
        let mut host = inputs::host_memory(self.n, FEWER)?;
        let mut x = device.alloc(self.n)?;
        let mut y = device.alloc(self.n)?;
        let [input_x, input_y] = self.inputs();
        input_x.fill(&mut host);
        x.upload(&host)?;
        for kernel in self.kernel.list() {
            let plan = plan(kernel, self.n, device);
            // The first run is checked, and warms up.
            input_y.fill(&mut host);
            y.upload(&host)?;
            saxpy_on(device, kernel, plan, self.a, &x, &mut y)?;
            y.download_into(&mut host)?;
            let deviation = reference::deviation(self.a, input_x, input_y, &host);
            let timing = measure::median_time(device, || saxpy_on(device, kernel, plan, self.a, &x, &mut y))?;
            report.add(kernel.name(), timing, deviation);
        }
        Ok(())
    }
}
