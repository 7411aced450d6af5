//! The rungs of saxpy.

use launch::Device;

use super::{LENGTH, Problem, Subject, Wanted};
use crate::rungs::Rung;
use crate::saxpy::{Real, SaxpyKernel, saxpy};

const ALGORITHM: &str = SaxpyKernel::ALGORITHM;

pub(super) fn subjects() -> Vec<Subject> {
    SaxpyKernel::ALL.iter().map(|&kernel| Subject::rung(kernel, kernel.families(), run)).collect()
}

fn run(kernel: SaxpyKernel, device: &Device, wanted: &Wanted) -> anyhow::Result<Problem> {
    wanted.no_operator(ALGORITHM)?;
    let n = wanted.length(ALGORITHM, LENGTH)?;
    match wanted.element(ALGORITHM, &["f32", "f64"])? {
        "f64" => run_as::<f64>(kernel, device, n),
        _ => run_as::<f32>(kernel, device, n),
    }
}

fn run_as<T: Real>(kernel: SaxpyKernel, device: &Device, n: usize) -> anyhow::Result<Problem> {
    kernel.check_offers::<T>()?;
    let [x, y] = super::vectors::<T, 2>(n)?;
    let (x, mut y) = (device.upload(&x)?, device.upload(&y)?);
    saxpy(device, kernel, T::from_f64(2.0), &x, &mut y)?;
    Ok(Problem::vector(n, T::TYPE))
}
