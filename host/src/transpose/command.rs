//! `host transpose`: each kernel's time and bandwidth, and how many elements it gets wrong.

use std::fmt;
use std::str::FromStr;

use clap::Args;
use launch::{Device, Element};
use serde::Serialize;

use super::{TransposeKernel, reference, transpose};
use crate::deviation::Deviation;
use crate::inputs::{self, Inputs};
use crate::measure::{self, MeasureOptions, Report};
use crate::options::Size;
use crate::report::progress;
use crate::rungs::{Kernels, Rung, alternatives};

/// What to do about a lack of memory.
const SMALLER: &str = "ask for a smaller matrix with --size";

/// Columns and rows of a matrix whose size is not given.
const SIDE_GPU: usize = 8192;
const SIDE_SIMULATOR: usize = 1024;

/// Measure the transpose of a matrix and check it
///
/// Times are medians of several runs after a first one, by device events on a GPU and by the clock in the simulator.
/// Bandwidth counts each element once read and once written, in GB of 10⁹ bytes, and stands beside the speed of the
/// device's own copy in the same run. Elements are random bits, and each must arrive bit for bit; copy and copy_tile, the
/// yardsticks, are compared with the matrix itself.
#[derive(Args, Debug)]
#[command(after_long_help = measure::help::<TransposeKernel>())]
pub struct TransposeOptions {
    /// Width x height of the matrix, such as 16384x16384 [default: 8192x8192, in the simulator 1024x1024]
    #[arg(long, value_name = "WxH")]
    size: Option<Size>,

    /// Kernel: copy, copy_tile, naive, tile, padded, vectorised or all
    #[arg(long, value_name = "NAME", default_value = "all", value_parser = Kernels::<TransposeKernel>::parse)]
    kernel: Kernels<TransposeKernel>,

    /// Element type: f32, f64, u8, u16, u32 or u64
    #[arg(long = "type", value_name = "TYPE", default_value = "f32")]
    element: ElementType,

    #[command(flatten)]
    measure: MeasureOptions,
}

/// An element type: a name, and so many bytes that are moved as they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ElementType {
    name: &'static str,
    bytes: usize,
}

impl ElementType {
    const ALL: [Self; 6] = [
        Self { name: "f32", bytes: 4 },
        Self { name: "f64", bytes: 8 },
        Self { name: "u8", bytes: 1 },
        Self { name: "u16", bytes: 2 },
        Self { name: "u32", bytes: 4 },
        Self { name: "u64", bytes: 8 },
    ];
}

impl FromStr for ElementType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|element| element.name == text).ok_or_else(|| {
            let names = Self::ALL.map(|element| element.name);
            format!("transpose has no element type '{text}': use {}", alternatives(&names))
        })
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

/// What was computed.
#[derive(Serialize, Debug)]
struct Problem {
    width: usize,
    height: usize,
    #[serde(rename = "type")]
    element: &'static str,
    seed: u64,
}

impl TransposeOptions {
    /// Runs the command.
    ///
    /// # Errors
    /// When the device fails or has too little memory, or when a result is wrong.
    pub fn run(self) -> anyhow::Result<()> {
        let device = self.measure.device.open()?;
        let side = if device.is_simulated() { SIDE_SIMULATOR } else { SIDE_GPU };
        let size = self.size.unwrap_or(Size { width: side, height: side });
        let Size { width, height } = size;
        let bytes = (width as u64).saturating_mul(height as u64).saturating_mul(2 * self.element.bytes as u64);
        measure::check_memory(&device, bytes, SMALLER)?;
        let title = format!("transpose, {}, {size}", self.element);
        let problem = Problem { width, height, element: self.element.name, seed: self.measure.seed };
        let mut report = Report::new(&device, "transpose", title, problem, bytes)?;
        match self.element.bytes {
            1 => self.measure_all(&device, size, &mut report, |bits| bits as u8),
            2 => self.measure_all(&device, size, &mut report, |bits| bits as u16),
            4 => self.measure_all(&device, size, &mut report, |bits| bits as u32),
            _ => self.measure_all(&device, size, &mut report, |bits| bits),
        }?;
        report.finish(self.measure.json)
    }

    /// Measures with the elements that `element` makes of random bits.
    fn measure_all<T: Element + PartialEq + fmt::Display>(
        &self,
        device: &Device,
        size: Size,
        report: &mut Report<Problem>,
        element: impl Fn(u64) -> T + Sync,
    ) -> anyhow::Result<()> {
        let n = size.width * size.height;
        let bits = Inputs::<u64>::new(self.measure.seed, 0);
        let mut host = inputs::host_memory(n, SMALLER)?;
        let mut x = device.alloc(n)?;
        let mut y = device.alloc(n)?;
        inputs::fill_with(&mut host, |index| element(bits.bits(index)));
        x.upload(&host)?;
        for kernel in progress::rungs(self.kernel.list()) {
            // So that what the kernel before wrote is not taken for this one's.
            y.fill_zero()?;
            // The first run is checked, and warms up.
            transpose(device, kernel, size, &x, &mut y)?;
            y.download_into(&mut host)?;
            let source = |index| if kernel.is_transpose() { reference::source(size, index) } else { index };
            let deviation = compare(&host, |index| element(bits.bits(source(index))));
            let timing = measure::median_time(device, || transpose(device, kernel, size, &x, &mut y))?;
            report.add(kernel.name(), timing, deviation);
        }
        Ok(())
    }
}

/// Compares each element with what `expected` gives for its index.
fn compare<T: Element + PartialEq + fmt::Display>(found: &[T], expected: impl Fn(usize) -> T + Sync) -> Deviation {
    let of_part = |part: std::ops::Range<usize>| {
        let mut deviation = Deviation::default();
        for index in part {
            deviation.add_exact(index, found[index], expected(index));
        }
        deviation
    };
    inputs::in_parts(found.len(), of_part).into_iter().fold(Deviation::default(), Deviation::merge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_as_they_are_written() {
        for element in ElementType::ALL {
            assert_eq!(element.to_string().parse(), Ok(element));
        }
        let message = "i128".parse::<ElementType>().unwrap_err();
        assert_eq!(message, "transpose has no element type 'i128': use f32, f64, u8, u16, u32 or u64");
    }

    #[test]
    fn every_wrong_element_is_counted() {
        let found: Vec<u16> = (0..1000).collect();
        assert_eq!(compare(&found, |index| index as u16), Deviation::default());
        let deviation = compare(&found, |index| if index % 10 == 7 { 0 } else { index as u16 });
        assert_eq!(deviation.wrong_elements, 100);
        assert_eq!(deviation.wrong.unwrap().to_string(), "element 7 is 7, and should be 0");
    }
}
