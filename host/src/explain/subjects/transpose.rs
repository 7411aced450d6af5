//! The rungs of transpose.

use launch::{Device, Element};

use super::{Problem, Subject, Wanted};
use crate::inputs::{self, Inputs};
use crate::options::Size;
use crate::rungs::Rung;
use crate::transpose::{TransposeKernel, transpose};

const ALGORITHM: &str = TransposeKernel::ALGORITHM;

/// Whole tiles for every rung, and a column of them for a band.
const DEFAULT: Size = Size { width: 512, height: 512 };

pub(super) fn subjects() -> Vec<Subject> {
    TransposeKernel::ALL.iter().map(|&kernel| Subject::rung(kernel, kernel.families(), run)).collect()
}

fn run(kernel: TransposeKernel, device: &Device, wanted: &Wanted) -> anyhow::Result<Problem> {
    wanted.no_operator(ALGORITHM)?;
    let size = wanted.size(ALGORITHM, "matrix", DEFAULT)?;
    let element = wanted.element(ALGORITHM, &["f32", "f64", "u8", "u16", "u32", "u64"])?;
    match element {
        "u8" => run_as(kernel, device, size, |bits| bits as u8),
        "u16" => run_as(kernel, device, size, |bits| bits as u16),
        "f64" | "u64" => run_as(kernel, device, size, |bits| bits),
        _ => run_as(kernel, device, size, |bits| bits as u32),
    }?;
    Ok(Problem::matrix(size, element))
}

fn run_as<T: Element>(
    kernel: TransposeKernel,
    device: &Device,
    size: Size,
    element: impl Fn(u64) -> T + Sync,
) -> anyhow::Result<()> {
    let n = size.width * size.height;
    let bits = Inputs::<u64>::new(0, 0);
    let mut host = inputs::host_memory(n, super::SMALLER)?;
    inputs::fill_with(&mut host, |index| element(bits.bits(index)));
    transpose(device, kernel, size, &device.upload(&host)?, &mut device.alloc(n)?)?;
    Ok(())
}
