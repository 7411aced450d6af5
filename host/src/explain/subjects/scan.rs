//! The rungs of scan.

use gpu::operator::Operator;
use gpu::scan::BLOCK_ELEMENTS;
use launch::Device;

use super::{LENGTH, Problem, Subject, Wanted};
use crate::numbers::{Number, OperatorName, with_number, with_operator};
use crate::rungs::Rung;
use crate::scan::{ScanKernel, ScanKind, Scannable, Scanner};

pub(super) fn subjects() -> Vec<Subject> {
    ScanKernel::ALL.iter().map(|&kernel| Subject::rung(kernel, kernel.families(), run)).collect()
}

fn run(kernel: ScanKernel, device: &Device, wanted: &Wanted) -> anyhow::Result<Problem> {
    let default = if kernel == ScanKernel::NaiveBlock { BLOCK_ELEMENTS } else { LENGTH };
    let n = wanted.length(ScanKernel::ALGORITHM, default)?;
    let operator = wanted.operator.unwrap_or(OperatorName::Sum);
    let number = wanted.number()?;
    with_number!(number, T => with_operator!(operator, O => run_as::<T, O>(kernel, device, n)))?;
    Ok(Problem { operator: Some(operator), ..Problem::vector(n, number).with_detail("inclusive") })
}

fn run_as<T: Number + Scannable<O>, O: Operator<T>>(
    kernel: ScanKernel,
    device: &Device,
    n: usize,
) -> anyhow::Result<()> {
    let mut scanner = Scanner::<T, O>::new(device, kernel, n)?;
    let [x] = super::vectors::<T, 1>(n)?;
    scanner.scan(ScanKind::Inclusive, &device.upload(&x)?, &mut device.alloc(n)?)?;
    Ok(())
}
