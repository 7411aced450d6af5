//! `host scale`: each kernel's time and bandwidth, and whether its products are exact.

use std::str::FromStr;

use clap::Args;
use launch::Device;
use serde::Serialize;

use super::reference::Product;
use super::{Scalable, ScaleKernel, plan, scale};
use crate::deviation::Deviation;
use crate::error::UsageError;
use crate::inputs::{self, Inputs};
use crate::measure::{self, LengthOption, MeasureOptions, Report};
use crate::numbers::NumberType;
use crate::report::progress;
use crate::rungs::{Kernels, Rung};

/// Bytes read and written for an element, which has 4.
const BYTES_AN_ELEMENT: u64 = 8;

/// What to do about a lack of memory.
const FEWER: &str = "ask for fewer elements with --n";

/// Measure y = s·x and check it
///
/// Times are medians of several runs after a first one, by device events on a GPU and by the clock in the simulator.
/// Bandwidth counts 8 bytes an element, in GB of 10⁹ bytes, and stands beside the speed of the device's own copy in the
/// same run. A result is right if it is the exact product, rounded once to a float or wrapped to an integer.
#[derive(Args, Debug)]
#[command(after_long_help = measure::help::<ScaleKernel>())]
pub struct ScaleOptions {
    #[command(flatten)]
    length: LengthOption,

    /// The factor s
    #[arg(long, value_name = "S", default_value = "3", allow_negative_numbers = true)]
    factor: String,

    /// Kernel: one_block (up to 1024 elements), grid or all
    #[arg(long, value_name = "NAME", default_value = "all", value_parser = Kernels::<ScaleKernel>::parse)]
    kernel: Kernels<ScaleKernel>,

    /// Element type: f32 or i32
    #[arg(long = "type", value_name = "TYPE", default_value = "f32", value_parser = parse_type)]
    number: NumberType,

    #[command(flatten)]
    measure: MeasureOptions,
}

fn parse_type(text: &str) -> Result<NumberType, String> {
    match text.parse() {
        Ok(number @ (NumberType::F32 | NumberType::I32)) => Ok(number),
        _ => Err(format!("scale has no element type '{text}': use f32 or i32")),
    }
}

fn parse_factor<T: FromStr + Scalable>(text: &str) -> Result<T, UsageError> {
    text.parse().ok().filter(|&factor: &T| factor.to_f64().is_finite()).ok_or_else(|| {
        let number = match T::TYPE {
            NumberType::F32 => "a finite number, such as 2.5",
            _ => "a whole number from -2147483648 to 2147483647",
        };
        UsageError(format!("'{text}' is no --factor for {}: it must be {number}", T::TYPE))
    })
}

/// What was computed.
#[derive(Serialize, Debug)]
struct Problem {
    n: usize,
    factor: f64,
    #[serde(rename = "type")]
    number: NumberType,
    seed: u64,
}

impl ScaleOptions {
    /// Runs the command.
    ///
    /// # Errors
    /// [`UsageError`] when the kernel does not take so many elements; when the device fails or has too little memory, or
    /// when a result is wrong.
    pub fn run(self) -> anyhow::Result<()> {
        match self.number {
            NumberType::I32 => self.run_for::<i32>(),
            _ => self.run_for::<f32>(),
        }
    }

    fn run_for<T: Scalable + Product + FromStr>(&self) -> anyhow::Result<()> {
        let factor = parse_factor::<T>(&self.factor)?;
        let device = self.measure.device.open()?;
        let most = match self.kernel {
            Kernels::One(ScaleKernel::OneBlock) => gpu::scale::MOST_ELEMENTS,
            _ => usize::MAX,
        };
        let n = self.length.on(&device, most);
        if let Kernels::One(kernel) = self.kernel {
            plan(kernel, n, &device).map_err(UsageError::of)?;
        }
        let bytes = (n as u64).saturating_mul(BYTES_AN_ELEMENT);
        measure::check_memory(&device, bytes, FEWER)?;
        let title = format!("scale, {}, n = {n}, s = {factor}", self.number);
        let problem = Problem { n, factor: factor.to_f64(), number: self.number, seed: self.measure.seed };
        let mut report = Report::new(&device, "scale", title, problem, bytes)?;
        self.measure_all(&device, n, factor, &mut report)?;
        report.finish(self.measure.json)
    }

    fn measure_all<T: Scalable + Product>(
        &self,
        device: &Device,
        n: usize,
        factor: T,
        report: &mut Report<Problem>,
    ) -> anyhow::Result<()> {
        let input = Inputs::<T>::new(self.measure.seed, 0);
        let mut host = inputs::host_memory(n, FEWER)?;
        let mut x = device.alloc(n)?;
        let mut y = device.alloc(n)?;
        input.fill(&mut host);
        x.upload(&host)?;
        for kernel in progress::rungs(self.kernel.list()) {
            if let Err(error) = plan(kernel, n, device) {
                report.leave_out(kernel.name(), &error);
                continue;
            }
            // So that what the kernel before wrote is not taken for this one's.
            y.fill_zero()?;
            // The first run is checked, and warms up.
            scale(device, kernel, factor, &x, &mut y)?;
            y.download_into(&mut host)?;
            let deviation = compare(&host, |index| T::product(factor, input.element(index)));
            let timing = measure::median_time(device, || scale(device, kernel, factor, &x, &mut y))?;
            report.add(kernel.name(), timing, deviation);
        }
        Ok(())
    }
}

/// Compares each element with what `expected` gives for its index.
fn compare<T: Scalable>(found: &[T], expected: impl Fn(usize) -> T + Sync) -> Deviation {
    let of_part = |part: std::ops::Range<usize>| {
        let mut deviation = Deviation::default();
        for index in part {
            deviation.add(index, found[index].to_f64(), expected(index).to_f64(), 0.0);
        }
        deviation
    };
    inputs::in_parts(found.len(), of_part).into_iter().fold(Deviation::default(), Deviation::merge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_numbers_of_the_type() {
        assert_eq!(parse_factor::<f32>("-2.5").unwrap(), -2.5);
        assert_eq!(parse_factor::<i32>("-7").unwrap(), -7);
        for (message, part) in [
            (parse_factor::<f32>("inf").unwrap_err(), "finite"),
            (parse_factor::<f32>("x").unwrap_err(), "f32"),
            (parse_factor::<i32>("2.5").unwrap_err(), "whole number"),
            (parse_factor::<i32>("2147483648").unwrap_err(), "2147483647"),
        ] {
            assert!(message.to_string().contains(part), "{message}");
        }
    }

    #[test]
    fn a_product_that_is_off_by_one_bit_is_wrong() {
        let found = [1.0_f32, 2.0, 3.0];
        assert_eq!(compare(&found, |index| index as f32 + 1.0), Deviation::default());
        let deviation = compare(&found, |index| (index as f32 + 1.0).next_up());
        assert_eq!(deviation.wrong_elements, 3);
    }
}
