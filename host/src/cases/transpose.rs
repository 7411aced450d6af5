//! transpose: every rung on elements of every size; matrices of whole tiles and of parts, of whole vectors and not.

use gpu::transpose::{Bits, transpose_vectorised};

use super::{Case, CaseError, Stage, bits, equal};
use crate::options::Size;
use crate::rungs::Rung;
use crate::transpose::{Plan, TransposeKernel, plan, reference, transpose};

/// Whole vectors, of which some tiles are whole and some not; no whole vectors; less than a tile; and a single element.
const SIZES: [(usize, usize); 4] = [(160, 144), (133, 67), (5, 70), (1, 1)];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &kernel in TransposeKernel::ALL {
        let mut add = |what: &str, work: fn(&Stage, TransposeKernel) -> Result<(), CaseError>| {
            cases
                .push(Case::new("transpose", kernel.name(), kernel.families(), what, move |stage| work(stage, kernel)));
        };
        add("bytes", |stage, kernel| check::<u8>(stage, kernel, |bits| bits as u8));
        add("halves", |stage, kernel| check::<u16>(stage, kernel, |bits| bits as u16));
        add("words", |stage, kernel| check::<u32>(stage, kernel, |bits| bits as u32));
        add("double words", |stage, kernel| check::<u64>(stage, kernel, |bits| bits));
        if kernel == TransposeKernel::Vectorised {
            add("words, views that are not aligned", |stage, _| check_not_aligned(stage));
        }
    }
    cases
}

fn check<T: Bits + PartialEq + std::fmt::Debug>(
    stage: &Stage,
    kernel: TransposeKernel,
    element: fn(u64) -> T,
) -> Result<(), CaseError> {
    for (width, height) in SIZES {
        let size = Size { width, height };
        let x: Vec<T> = (0..width * height).map(|index| element(bits(index))).collect();
        let (dx, mut dy) = (stage.device.upload(&x)?, stage.device.alloc(x.len())?);
        transpose(&stage.device, kernel, size, &dx, &mut dy)?;
        let expected = if kernel.is_transpose() { reference::transpose(size, &x) } else { x };
        equal("y", &dy.download()?, &expected)?;
    }
    Ok(())
}

fn check_not_aligned(stage: &Stage) -> Result<(), CaseError> {
    let size = Size { width: 68, height: 132 };
    let n = size.width * size.height;
    let x: Vec<u32> = (0..n + 1).map(|index| bits(index) as u32).collect();
    let (dx, mut dy) = (stage.device.upload(&x)?, stage.device.zeroed(n + 1)?);
    let Plan { config, band } = plan::<u32>(TransposeKernel::Vectorised, size);
    let (from, to) = (dx.view().part(1, n), dy.view_mut().part(1, n));
    stage.device.launch(config, transpose_vectorised(from, to, size.width, size.height, band))?;
    let y = dy.download()?;
    equal("y", &y[..1], &[0])?;
    equal("y", &y[1..], &reference::transpose(size, &x[1..]))
}
