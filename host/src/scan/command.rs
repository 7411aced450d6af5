//! `host scan`: each kernel's time, bandwidth, and error against the reference.

use clap::Args;
use gpu::operator::Operator;
use launch::{Buffer, Device};
use serde::Serialize;

use super::inputs::ScanInput;
use super::{ScanKernel, ScanKind, Scannable, Scanner, reference};
use crate::deviation::Deviation;
use crate::error::UsageError;
use crate::inputs;
use crate::measure::{self, LengthOption, MeasureOptions, Report};
use crate::numbers::{NamedOperator, Number, NumberType, OperatorName, with_number, with_operator};
use crate::report::progress;
use crate::rungs::{Kernels, Rung};

/// What to do about a lack of memory.
const FEWER: &str = "ask for fewer elements with --n";

/// Measure the prefix scan of a random vector and check it
///
/// Times are medians of several runs after a first one, by device events on a GPU and by the clock in the simulator.
/// Bandwidth counts for every kernel the bytes that a scan cannot do without: each element read once and written once, in
/// GB of 10⁹ bytes; it stands beside the speed of the device's own copy in the same run. A sum of floats is right if it is
/// within depth·ε·Σ|x| of a reference in double precision or better, depth being that of the kernel's additions, and if
/// sums that no order of additions rounds are exact; all else must be exact.
#[derive(Args, Debug)]
#[command(after_long_help = measure::help::<ScanKernel>())]
pub struct ScanOptions {
    #[command(flatten)]
    length: LengthOption,

    /// Kernel: naive_block, naive, work_efficient, look_back, pipelined or all (of those that take the type, operator and length)
    #[arg(long, value_name = "NAME", default_value = "all", value_parser = Kernels::<ScanKernel>::parse)]
    kernel: Kernels<ScanKernel>,

    /// Element type: f32, f64, i32, u32, i64 or u64
    #[arg(long = "type", value_name = "TYPE", default_value = "f32")]
    number: NumberType,

    /// Operator: sum, product, min or max; integers wrap
    #[arg(long = "op", value_name = "OPERATOR", default_value = "sum")]
    operator: OperatorName,

    /// Leave each element out of its own prefix
    #[arg(long)]
    exclusive: bool,

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
    exclusive: bool,
    seed: u64,
}

impl ScanOptions {
    /// Runs the command.
    ///
    /// # Errors
    /// [`UsageError`] when the kernel asked for is not for such a vector; when the device fails or has too little
    /// memory, or when a result is wrong.
    pub fn run(self) -> anyhow::Result<()> {
        with_number!(self.number, T => with_operator!(self.operator, O => self.run_with::<T, O>()))
    }

    fn kind(&self) -> ScanKind {
        if self.exclusive { ScanKind::Exclusive } else { ScanKind::Inclusive }
    }

    fn run_with<T, O>(self) -> anyhow::Result<()>
    where
        T: Number + Scannable<O>,
        O: Operator<T> + NamedOperator,
    {
        let device = self.measure.device.open()?;
        let most = match self.kernel {
            Kernels::One(ScanKernel::NaiveBlock) => gpu::scan::BLOCK_ELEMENTS,
            _ => usize::MAX,
        };
        let n = self.length.on(&device, most);
        let mut kernels = Vec::new();
        let mut left_out = Vec::new();
        for kernel in self.kernel.list() {
            match (kernel.check_on::<T, O>(&device, n), self.kernel) {
                (Ok(()), _) => kernels.push(kernel),
                (Err(reason), Kernels::All) => left_out.push((kernel.name(), reason)),
                (Err(reason), Kernels::One(_)) => return Err(UsageError::of(reason).into()),
            }
        }
        let bytes = (n as u64).saturating_mul(2 * size_of::<T>() as u64);
        let temporary = kernels.iter().map(|kernel| kernel.temporary_bytes::<T, O>(n)).max().unwrap_or(0);
        measure::check_memory(&device, bytes.saturating_add(temporary), FEWER)?;

        let name = if self.exclusive { "exclusive" } else { "inclusive" };
        let title = format!("{name} scan, {} of {}, n = {n}", self.operator, self.number);
        let problem = Problem {
            n,
            number: self.number,
            operator: self.operator,
            exclusive: self.exclusive,
            seed: self.measure.seed,
        };
        let mut report = Report::new(&device, "scan", title, problem, bytes)?;
        left_out.iter().for_each(|(kernel, reason)| report.leave_out(kernel, reason));
        self.measure_all::<T, O>(&device, n, &kernels, &mut report)?;
        report.finish(self.measure.json)
    }

    fn measure_all<T, O>(
        &self,
        device: &Device,
        n: usize,
        kernels: &[ScanKernel],
        report: &mut Report<Problem>,
    ) -> anyhow::Result<()>
    where
        T: Number + Scannable<O>,
        O: Operator<T> + NamedOperator,
    {
        let kind = self.kind();
        let input = ScanInput::<T, O>::new(self.measure.seed, n);
        let mut host = inputs::host_memory(n, FEWER)?;
        let mut x = device.alloc(n)?;
        let mut y = device.alloc(n)?;

        let sums_round = T::EPSILON.is_some() && self.operator == OperatorName::Sum;
        let mut exact = vec![Deviation::default(); kernels.len()];
        if sums_round {
            let element = |index| input.exact_element(index);
            inputs::fill_with(&mut host, element);
            x.upload(&host)?;
            for (kernel, exact) in progress::rungs(kernels.to_vec()).zip(&mut exact) {
                let mut scanner = Scanner::<T, O>::new(device, kernel, n)?;
                run_once(&mut scanner, kind, &x, &mut y, &mut host)?;
                *exact = reference::compare_exact::<T, O>(kind, element, &host);
            }
        }

        let element = |index| input.element(index);
        inputs::fill_with(&mut host, element);
        x.upload(&host)?;
        for (kernel, exact) in progress::rungs(kernels.to_vec()).zip(exact) {
            let mut scanner = Scanner::<T, O>::new(device, kernel, n)?;
            run_once(&mut scanner, kind, &x, &mut y, &mut host)?;
            let deviation = if sums_round {
                reference::compare_sums(kernel, kind, element, &host)
            } else {
                reference::compare_exact::<T, O>(kind, element, &host)
            };
            let timing = measure::median_time(device, || scanner.scan(kind, &x, &mut y))?;
            report.add(kernel.name(), timing, exact.merge(deviation));
        }
        Ok(())
    }
}

/// Scans over zeros, so that what an earlier run left cannot pass for a result, and downloads it.
fn run_once<T: Number + Scannable<O>, O>(
    scanner: &mut Scanner<T, O>,
    kind: ScanKind,
    x: &Buffer<T>,
    y: &mut Buffer<T>,
    host: &mut [T],
) -> anyhow::Result<()> {
    y.fill_zero()?;
    scanner.scan(kind, x, y)?;
    y.download_into(host)?;
    Ok(())
}
