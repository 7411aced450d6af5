//! The rungs of scale.

use gpu::scale::MOST_ELEMENTS;
use launch::Device;

use super::{LENGTH, Problem, Subject, Wanted};
use crate::rungs::Rung;
use crate::scale::{Scalable, ScaleKernel, scale};

const ALGORITHM: &str = ScaleKernel::ALGORITHM;

pub(super) fn subjects() -> Vec<Subject> {
    ScaleKernel::ALL.iter().map(|&kernel| Subject::rung(kernel, kernel.families(), run)).collect()
}

fn run(kernel: ScaleKernel, device: &Device, wanted: &Wanted) -> anyhow::Result<Problem> {
    wanted.no_operator(ALGORITHM)?;
    let default = if kernel == ScaleKernel::OneBlock { MOST_ELEMENTS } else { LENGTH };
    let n = wanted.length(ALGORITHM, default)?;
    match wanted.element(ALGORITHM, &["f32", "i32"])? {
        "i32" => run_as::<i32>(kernel, device, n),
        _ => run_as::<f32>(kernel, device, n),
    }
}

fn run_as<T: Scalable>(kernel: ScaleKernel, device: &Device, n: usize) -> anyhow::Result<Problem> {
    let [x] = super::vectors::<T, 1>(n)?;
    let (x, mut y) = (device.upload(&x)?, device.alloc(n)?);
    scale(device, kernel, T::from_f64(3.0), &x, &mut y)?;
    Ok(Problem::vector(n, T::TYPE))
}
