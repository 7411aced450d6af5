//! The rungs of transpose, and the kernel of the last that takes any size.

use gpu::transpose::transpose_unaligned;
use launch::{Buffer, Device, Element};

use super::{Problem, Subject, Wanted};
use crate::inputs::{self, Inputs};
use crate::options::Size;
use crate::rungs::{AlgorithmError, Rung};
use crate::transpose::{TransposeKernel, transpose, unaligned_plan};

const ALGORITHM: &str = TransposeKernel::ALGORITHM;

/// Whole tiles for every rung, and a column of them for the last.
const DEFAULT: Size = Size { width: 512, height: 512 };

/// No row or column that begins where the one before does in its sector.
const DEFAULT_UNALIGNED: Size = Size { width: 511, height: 513 };

pub(super) fn subjects() -> Vec<Subject> {
    let rung = |&kernel: &TransposeKernel| Subject::rung(kernel, kernel.families(), run);
    let mut subjects: Vec<Subject> = TransposeKernel::ALL.iter().map(rung).collect();
    subjects.push(Subject {
        algorithm: ALGORITHM,
        rung: "unaligned",
        idea: "The last rung where rows or columns begin anywhere.",
        families: &["transpose_unaligned"],
        is_rung: false,
        run: Box::new(run_unaligned),
    });
    subjects
}

fn run(kernel: TransposeKernel, device: &Device, wanted: &Wanted) -> anyhow::Result<Problem> {
    let (size, element) = problem(wanted, DEFAULT)?;
    macro_rules! run_as {
        ($bits:ty) => {
            run_as::<$bits>(device, size, |bits| bits as $bits, |x, y| transpose(device, kernel, size, x, y))
        };
    }
    match element {
        "u8" => run_as!(u8),
        "u16" => run_as!(u16),
        "f64" | "u64" => run_as!(u64),
        _ => run_as!(u32),
    }?;
    Ok(Problem::matrix(size, element))
}

/// That kernel, also where the other one would do.
fn run_unaligned(device: &Device, wanted: &Wanted) -> anyhow::Result<Problem> {
    let (size, element) = problem(wanted, DEFAULT_UNALIGNED)?;
    let Size { width, height } = size;
    macro_rules! run_as {
        ($bits:ty) => {
            run_as::<$bits>(
                device,
                size,
                |bits| bits as $bits,
                |x, y| {
                    let call = transpose_unaligned(x.view(), y.view_mut(), width, height);
                    Ok(device.launch(unaligned_plan::<$bits>(size).config, call)?)
                },
            )
        };
    }
    match element {
        "u8" => run_as!(u8),
        "u16" => run_as!(u16),
        "f64" | "u64" => run_as!(u64),
        _ => run_as!(u32),
    }?;
    Ok(Problem::matrix(size, element))
}

fn problem(wanted: &Wanted, default: Size) -> anyhow::Result<(Size, &'static str)> {
    wanted.no_operator(ALGORITHM)?;
    let size = wanted.size(ALGORITHM, "matrix", default)?;
    let element = wanted.element(ALGORITHM, &["f32", "f64", "u8", "u16", "u32", "u64"])?;
    Ok((size, element))
}

/// Runs `transpose` on a matrix of the elements that `element` makes of random bits.
fn run_as<T: Element>(
    device: &Device,
    size: Size,
    element: impl Fn(u64) -> T + Sync,
    transpose: impl FnOnce(&Buffer<T>, &mut Buffer<T>) -> Result<(), AlgorithmError>,
) -> anyhow::Result<()> {
    let n = size.width * size.height;
    let bits = Inputs::<u64>::new(0, 0);
    let mut host = inputs::host_memory(n, super::SMALLER)?;
    inputs::fill_with(&mut host, |index| element(bits.bits(index)));
    transpose(&device.upload(&host)?, &mut device.alloc(n)?)?;
    Ok(())
}
