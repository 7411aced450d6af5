//! `host bandwidth`: measures the speed of reading, writing and copying, by operand size, unroll factor and block size.

use std::fmt::Write;
use std::ops::Range;

use anyhow::anyhow;
use clap::Args;
use clap::builder::PossibleValuesParser;
use gpu::probe::{Operand, U32x4};
use launch::{Device, LaunchConfig};
use serde::Serialize;

use crate::error::UsageError;
use crate::measure;
use crate::options::parse_count;
use crate::report::plot::{LinePlot, Series};
use crate::report::progress::Progress;
use crate::report::{self, Bytes};
use units::alternatives;
use workbench::inputs::{self, RandomVector};

use workbench::probe::{Arrays, BLOCKS, BandwidthKernel, Instance, Measured, WORD, full_grid};

use super::{ProbeOptions, Thorough, percent};

/// The sizes of operands, in bytes.
const OPERANDS: [&str; 5] = ["1", "2", "4", "8", "16"];

/// The number of bytes of a result that are checked without `--thorough`.
const CHECKED_BYTES: usize = 64 << 20;

/// The remedy for too little memory.
const FEWER: &str = "use fewer --bytes";

/// Measure a GPU's bandwidth of reading, writing and copying by operand size, unroll factor and block size
///
/// Follows the CUDA Handbook's globalRead, globalWrite, globalCopy and globalCopy2. A kernel that writes has as many
/// blocks as the data needs; the kernel that only reads has as many blocks as the GPU holds at once. The first run of
/// each combination is checked: 64 MiB of its result, a different part for each combination. Times are medians of the
/// later runs, by device events. Bandwidth counts the bytes read and written, in GB of 10⁹ bytes, and is compared with
/// the device's own copy.
#[derive(Args, Debug)]
pub struct BandwidthOptions {
    /// What to measure: read, write, copy, copy2 (two arrays read, one written) or copy_alternating (each element
    /// stored before the next is loaded)
    #[arg(value_name = "WHAT", value_parser = parse_kernel)]
    kernel: BandwidthKernel,

    /// Bytes of each array, such as 1_000_000 or 2^30
    #[arg(long, value_name = "N", default_value = "2^30", value_parser = parse_count)]
    bytes: usize,

    /// Operand sizes in bytes
    #[arg(long, value_name = "SIZES", value_delimiter = ',', default_value = "1,2,4,8,16")]
    #[arg(value_parser = PossibleValuesParser::new(OPERANDS))]
    operand: Vec<String>,

    #[command(flatten)]
    thorough: Thorough,

    #[command(flatten)]
    probe: ProbeOptions,
}

fn parse_kernel(text: &str) -> Result<BandwidthKernel, String> {
    BandwidthKernel::ALL.into_iter().find(|kernel| kernel.name() == text).ok_or_else(|| {
        let names = BandwidthKernel::ALL.map(BandwidthKernel::name);
        format!("there is no bandwidth kernel '{text}': use {}", alternatives(&names))
    })
}

/// The result that the command prints.
#[derive(Serialize, Debug)]
struct Summary {
    kernel: &'static str,
    device: String,
    /// A description of how the number of blocks is chosen.
    blocks: &'static str,
    bytes_of_an_array: usize,
    arrays: u64,
    copy_gigabytes_per_second: f64,
    best: Option<Cell>,
    measurements: Vec<Cell>,
}

/// The measurement of one combination.
#[derive(Clone, Copy, Serialize, Debug)]
struct Cell {
    operand: &'static str,
    operand_bytes: usize,
    unroll: usize,
    block: u32,
    grid: u32,
    runs: usize,
    seconds: f64,
    gigabytes_per_second: f64,
}

impl BandwidthOptions {
    /// Runs the command.
    ///
    /// # Errors
    /// [`UsageError`] in the simulator and for wrong options; another error if the device fails or has too little
    /// memory, or a result is wrong.
    pub fn run(self) -> anyhow::Result<()> {
        if self.bytes < size_of::<U32x4>() {
            let text =
                format!("--bytes: an array of {} bytes holds no operand of 16 bytes: use at least 16", self.bytes);
            return Err(UsageError(text).into());
        }
        let device = self.probe.open_gpu("bandwidth", "")?;
        measure::check_memory(&device, (self.bytes as u64).saturating_mul(3), FEWER)?;
        let summary = self.measure(&device)?;
        self.probe.finish(&summary, &summary.text(), || summary.plot())
    }

    fn measure(&self, device: &Device) -> anyhow::Result<Summary> {
        let arrays = self.kernel.arrays();
        let copy = measure::copy_speed(device, arrays.saturating_mul(self.bytes as u64))?;
        let count = self.operand.len() * u32::INSTANCES.len() * BLOCKS.len();
        let progress = Progress::new(count as u64, "combinations");
        let mut combinations = Combinations { options: self, device, cells: Vec::new(), progress };
        for size in OPERANDS.into_iter().filter(|size| self.operand.iter().any(|operand| operand == size)) {
            match size {
                "1" => combinations.operand::<u8>()?,
                "2" => combinations.operand::<u16>()?,
                "4" => combinations.operand::<u32>()?,
                "8" => combinations.operand::<u64>()?,
                _ => combinations.operand::<U32x4>()?,
            }
        }
        let measurements = combinations.cells;
        let best =
            measurements.iter().copied().max_by(|a, b| a.gigabytes_per_second.total_cmp(&b.gigabytes_per_second));
        Ok(Summary {
            kernel: self.kernel.name(),
            device: device.name().to_owned(),
            blocks: self.kernel.grid_in_words(),
            bytes_of_an_array: self.bytes,
            arrays,
            copy_gigabytes_per_second: copy,
            best,
            measurements,
        })
    }
}

/// Measures the combinations of a command.
struct Combinations<'a> {
    options: &'a BandwidthOptions,
    device: &'a Device,
    cells: Vec<Cell>,
    progress: Progress,
}

impl Combinations<'_> {
    /// Measures every unroll factor and block size with operands `T`.
    fn operand<T: Measured>(&mut self) -> anyhow::Result<()> {
        let n = self.options.bytes / size_of::<T>();
        let mut expected = inputs::host_memory::<T>(n, FEWER)?;
        let mut found = inputs::host_memory::<T>(n, FEWER)?;
        let mut arrays = Arrays { a: self.device.alloc(n)?, b: self.device.alloc(n)?, y: self.device.alloc(n)? };
        let [a, b] = [0, 1].map(|vector| RandomVector::<u64>::new(0, vector));
        inputs::fill_with(&mut expected, |i| T::from_word(a.bits(i)));
        inputs::fill_with(&mut found, |i| T::from_word(b.bits(i)));
        arrays.a.upload(&expected)?;
        arrays.b.upload(&found)?;
        match self.options.kernel {
            BandwidthKernel::Write => inputs::fill_with(&mut expected, |_| T::from_word(WORD)),
            BandwidthKernel::Copy2 => {
                inputs::fill_with(&mut expected, |i| T::from_word(a.bits(i)) ^ T::from_word(b.bits(i)));
            }
            BandwidthKernel::Read | BandwidthKernel::Copy | BandwidthKernel::CopyAlternating => {}
        }
        let expected = Expected { all: combined(&expected), elements: expected };
        for instance in T::INSTANCES {
            for block in BLOCKS {
                let cell = self.cell(instance, block, &mut arrays, &expected, &mut found)?;
                self.cells.push(cell);
                self.progress.set(self.cells.len() as u64, 1e9 * cell.gigabytes_per_second, "B");
            }
        }
        Ok(())
    }

    /// Checks the first run, which also warms up, and times the runs after it.
    fn cell<T: Measured>(
        &self,
        instance: Instance<T>,
        block: u32,
        arrays: &mut Arrays<T>,
        Expected { elements: expected, all }: &Expected<T>,
        found: &mut [T],
    ) -> anyhow::Result<Cell> {
        let kernel = self.options.kernel;
        let info = (instance.info)(kernel);
        let needed = expected.len().div_ceil(block as usize * instance.unroll);
        let grid = kernel.grid(needed, full_grid(self.device, info, block)?);
        let config = LaunchConfig::new(grid, block);
        let wrong = if kernel == BandwidthKernel::Read {
            arrays.y = self.device.zeroed(grid as usize * block as usize)?;
            (instance.launch)(self.device, kernel, config, arrays)?;
            let parts = arrays.y.download()?;
            // The timed runs only read.
            arrays.y = self.device.alloc(0)?;
            wrong_combination(&parts, *all)
        } else {
            arrays.y.fill_zero()?;
            (instance.launch)(self.device, kernel, config, arrays)?;
            let part = self.part_to_check::<T>(expected.len());
            arrays.y.download_range(part.start, &mut found[part.clone()])?;
            wrong_element(found, expected, part)
        };
        if let Some(wrong) = wrong {
            return Err(anyhow!("the result of {} with {grid} blocks of {block} is wrong: {wrong}", info.name));
        }
        let run = || (instance.launch)(self.device, kernel, config, arrays);
        let timing = self.options.thorough.time(self.device, run)?;
        let bytes = kernel.arrays() as f64 * size_of_val(&expected[..]) as f64;
        Ok(Cell {
            operand: T::NAME,
            operand_bytes: size_of::<T>(),
            unroll: instance.unroll,
            block,
            grid,
            runs: timing.runs,
            seconds: timing.seconds,
            gigabytes_per_second: bytes / timing.seconds / 1e9,
        })
    }
}

/// The elements that kernels with operands `T` must read or write, and the exclusive or of all of them.
struct Expected<T> {
    elements: Vec<T>,
    all: T,
}

impl Combinations<'_> {
    /// Returns the range of elements, out of `n`, to check after the first run of the next combination.
    fn part_to_check<T>(&self, n: usize) -> Range<usize> {
        let part = CHECKED_BYTES / size_of::<T>();
        if self.options.thorough.thorough || part >= n {
            return 0..n;
        }
        let start = self.cells.len() * part % n;
        start..n.min(start + part)
    }
}

/// Returns the exclusive or of all elements.
fn combined<T: Operand>(elements: &[T]) -> T {
    let of_part = |part: Range<usize>| elements[part].iter().fold(T::ZERO, |all, &element| all ^ element);
    inputs::in_parts(elements.len(), of_part).into_iter().fold(T::ZERO, |all, part| all ^ part)
}

fn wrong_combination<T: Operand>(parts: &[T], expected: T) -> Option<String> {
    let found = combined(parts);
    (found != expected).then(|| format!("the exclusive or of what was read is {found:?}, and should be {expected:?}"))
}

fn wrong_element<T: Operand>(found: &[T], expected: &[T], among: Range<usize>) -> Option<String> {
    let first = among.start;
    let of_part = |part: Range<usize>| (first + part.start..first + part.end).find(|&i| found[i] != expected[i]);
    let first = inputs::in_parts(among.len(), of_part).into_iter().flatten().next();
    first.map(|i| format!("element {i} is {:?}, and should be {:?}", found[i], expected[i]))
}

impl Summary {
    fn text(&self) -> String {
        let counted = Bytes(self.arrays.saturating_mul(self.bytes_of_an_array as u64));
        let how = match self.arrays {
            1 => format!("one array of {counted}"),
            arrays => format!("{arrays} arrays of {}, {counted} counted", Bytes(self.bytes_of_an_array as u64)),
        };
        let mut text =
            format!("{} on {}: {how}; GB/s of 10⁹ bytes, medians; {}\n", self.kernel, self.device, self.blocks);
        for operands in self.measurements.chunk_by(|a, b| a.operand_bytes == b.operand_bytes) {
            let size = operands[0].operand_bytes;
            let name = operands[0].operand;
            let rows = operands.chunk_by(|a, b| a.unroll == b.unroll).map(|row| {
                let rate = |block: u32| {
                    let cell = row.iter().find(|cell| cell.block == block);
                    cell.map_or_else(String::new, |cell| format!("{:.1}", cell.gigabytes_per_second))
                };
                let [a, b, c, d, e] = BLOCKS.map(rate);
                [row[0].unroll.to_string(), a, b, c, d, e]
            });
            let heading = ["unroll", "block 32", "64", "128", "256", "512"];
            let bytes = if size == 1 { "byte" } else { "bytes" };
            let _ = write!(text, "\noperand of {size} {bytes} ({name})\n{}\n", report::table(heading, rows));
        }
        if let Some(best) = &self.best {
            let _ = write!(
                text,
                "\nbest: {:.1} GB/s with {}, unroll {}, {} blocks of {} threads: {} of the device's own copy, \
                 {:.1} GB/s\n",
                best.gigabytes_per_second,
                best.operand,
                best.unroll,
                best.grid,
                best.block,
                percent(best.gigabytes_per_second, self.copy_gigabytes_per_second),
                self.copy_gigabytes_per_second
            );
        }
        text
    }

    /// Returns the plot: for each operand the best block at each unroll factor, and the device's copy.
    fn plot(&self) -> LinePlot {
        let mut series: Vec<Series> = self
            .measurements
            .chunk_by(|a, b| a.operand_bytes == b.operand_bytes)
            .map(|operands| {
                let best = |row: &[Cell]| row.iter().map(|cell| cell.gigabytes_per_second).fold(0.0, f64::max);
                let rows = operands.chunk_by(|a, b| a.unroll == b.unroll);
                Series {
                    name: format!("{} B", operands[0].operand_bytes),
                    points: rows.map(|row| (row[0].unroll as f64, best(row))).collect(),
                }
            })
            .collect();
        let ends = [1.0, 16.0].map(|unroll| (unroll, self.copy_gigabytes_per_second));
        series.push(Series { name: "device's copy".into(), points: ends.to_vec() });
        LinePlot {
            title: format!("{} on {}, best block", self.kernel, self.device),
            x_label: "unroll factor".into(),
            y_label: "GB/s".into(),
            x_log2: true,
            series,
        }
    }
}

#[cfg(test)]
mod tests;
