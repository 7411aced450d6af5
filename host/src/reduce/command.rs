//! `host reduce`: each rung's time, bandwidth, and error against the reference.

use clap::Args;
use launch::{Buffer, Device};
use serde::Serialize;

use super::inputs::{Factor, element};
use super::reducible::check_offered;
use super::reference::{self, Answer, Reference};
use super::{Plan, ReduceKernel, Reducible, Reduction};
use crate::error::UsageError;
use crate::inputs::{self, Inputs};
use crate::measure::{self, LengthOption, MeasureOptions, Report};
use crate::numbers::{NumberType, OperatorName, with_number, with_operator};
use crate::report::progress;
use crate::rungs::{AlgorithmError, Kernels, Rung};

/// What to do about a lack of memory.
const FEWER: &str = "ask for fewer elements with --n";

/// Measure the reduction of a vector to its sum, product, minimum or maximum, and check it
///
/// Times are medians of several runs after a first one, by device events on a GPU and by the clock in the simulator.
/// Bandwidth counts each element once, in GB of 10⁹ bytes, and stands beside the speed of the device's own copy in the
/// same run. Integers, minima and maxima must be exact. The sum of floats must be within r·ε·Σ|x| of a reference in
/// compensated double precision, where r is the number of roundings on the longest way through the rung's tree; their
/// product within the error that n roundings of mean zero can add up to.
#[derive(Args, Debug)]
#[command(after_long_help = measure::help::<ReduceKernel>())]
pub struct ReduceOptions {
    #[command(flatten)]
    length: LengthOption,

    /// Kernel: neighboured, interleaved, unrolled_2, unrolled_4, unrolled_8, unrolled_last_warp, completely_unrolled,
    /// shuffle, grid_stride, or all that offer the type and operator
    #[arg(long, value_name = "NAME", default_value = "all", value_parser = Kernels::<ReduceKernel>::parse)]
    kernel: Kernels<ReduceKernel>,

    /// Element type: f32, f64, i32, u32, i64 or u64
    #[arg(long = "type", value_name = "TYPE", default_value = "f32")]
    number: NumberType,

    /// Operator: sum, product, min or max
    #[arg(long = "op", value_name = "NAME", default_value = "sum")]
    operator: OperatorName,

    #[command(flatten)]
    measure: MeasureOptions,
}

/// What was computed.
#[derive(Serialize, Debug)]
struct Problem {
    n: usize,
    #[serde(rename = "type")]
    number: NumberType,
    operator: OperatorName,
    seed: u64,
}

impl ReduceOptions {
    /// Runs the command.
    ///
    /// # Errors
    /// [`UsageError`] when the kernel asked for does not offer type and operator; when the device fails or has too little
    /// memory, or when a result is wrong.
    pub fn run(self) -> anyhow::Result<()> {
        if let Kernels::One(kernel) = self.kernel {
            check_offered(kernel, self.operator, self.number).map_err(UsageError::of)?;
        }
        let device = self.measure.device.open()?;
        with_number!(self.number, T => with_operator!(self.operator, O => self.run_as::<T, O>(&device)))
    }

    fn run_as<T: Factor + Reducible<O>, O: Reference<T>>(&self, device: &Device) -> anyhow::Result<()> {
        let n = self.length.on(device, usize::MAX);
        let multiprocessors = device.multiprocessors();
        let plan = |kernel| Plan::new(kernel, n, size_of::<T>(), multiprocessors);
        let bytes = (n as u64).saturating_mul(size_of::<T>() as u64);
        let workspace = self.kernel.list().into_iter().map(|kernel| plan(kernel).workspace_bytes()).max();
        measure::check_memory(device, bytes.saturating_add(workspace.unwrap_or(0)), FEWER)?;

        let title = format!("reduce, {} of {}, n = {n}", self.operator, self.number);
        let problem = Problem { n, number: self.number, operator: self.operator, seed: self.measure.seed };
        let mut report = Report::new(device, ReduceKernel::ALGORITHM, title, problem, bytes)?;
        let (x, answer) = self.input::<T, O>(device, n)?;
        for kernel in progress::rungs(self.kernel.list()) {
            let mut reduction = match Reduction::<T, O>::with_plan(device, plan(kernel)) {
                Err(error @ AlgorithmError::NotOffered { .. }) => {
                    report.leave_out(kernel.name(), &error);
                    continue;
                }
                reduction => reduction?,
            };
            // The first run is checked, and warms up.
            let found = reduction.reduce(&x)?;
            let timing = measure::median_time(device, || reduction.run(&x).map(drop))?;
            report.add(kernel.name(), timing, answer.deviation(found, reduction.plan().roundings()));
        }
        report.finish(self.measure.json)
    }

    /// The elements on the device, and what they are combined.
    fn input<T: Factor, O: Reference<T>>(&self, device: &Device, n: usize) -> anyhow::Result<(Buffer<T>, Answer<T>)> {
        let (operator, inputs) = (self.operator, Inputs::<T>::new(self.measure.seed, 0));
        let mut x = device.alloc(n)?;
        let mut host = inputs::host_memory(n, FEWER)?;
        inputs::fill_with(&mut host, |index| element(operator, inputs, n, index));
        x.upload(&host)?;
        let answer = reference::reduce::<T, O>(n, |index| host[index]);
        Ok((x, answer))
    }
}
