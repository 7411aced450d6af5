//! The rungs of reduce.

use launch::Device;

use super::{LENGTH, Problem, Subject, Wanted};
use crate::numbers::{Number, OperatorName, with_number, with_operator};
use crate::reduce::{ReduceKernel, Reducible, Reduction};
use crate::rungs::Rung;

pub(super) fn subjects() -> Vec<Subject> {
    ReduceKernel::ALL.iter().map(|&kernel| Subject::rung(kernel, kernel.families(), run)).collect()
}

fn run(kernel: ReduceKernel, device: &Device, wanted: &Wanted) -> anyhow::Result<Problem> {
    let n = wanted.length(ReduceKernel::ALGORITHM, LENGTH)?;
    let operator = wanted.operator.unwrap_or(OperatorName::Sum);
    let number = wanted.number()?;
    with_number!(number, T => with_operator!(operator, O => run_as::<T, O>(kernel, device, n)))?;
    Ok(Problem { operator: Some(operator), ..Problem::vector(n, number) })
}

fn run_as<T: Number + Reducible<O>, O: gpu::operator::Operator<T>>(
    kernel: ReduceKernel,
    device: &Device,
    n: usize,
) -> anyhow::Result<()> {
    let mut reduction = Reduction::<T, O>::new(device, kernel, n)?;
    let [x] = super::vectors::<T, 1>(n)?;
    reduction.run(&device.upload(&x)?)?;
    Ok(())
}
