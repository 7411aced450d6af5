//! The cases of streams: saxpy on host data, by each program of [`crate::stream`].

use std::num::NonZeroUsize;

use launch::Error;

use crate::case::{Case, CaseError, Stage, right};
use crate::inputs::RandomVector;
use crate::saxpy::reference;
use crate::stream::{DeviceVectors, Times, mapped};

const N: usize = 1003;
const A: f32 = 2.0;

pub(super) fn cases() -> Vec<Case> {
    let kernels: &[&str] = &["saxpy_grid_stride"];
    vec![
        Case::new("stream", "synchronous", kernels, "copies and the kernel, one after the other", |stage| {
            let [x, y] = vectors();
            let mut out = vec![0.0; N];
            DeviceVectors::new(&stage.device, N)?.synchronous(A, &x, &y, &mut out)?;
            check(&out)
        }),
        Case::new("stream", "streams", kernels, "three streams with a chunk each", in_streams),
        Case::new("stream", "stages", kernels, "one stream per stage, five chunks", in_stages),
        Case::new("stream", "mapped", kernels, "a kernel that accesses mapped host memory", |stage| {
            let [x, y] = vectors();
            let (mut mapped_x, mut mapped_y) = (stage.device.mapped(N)?, stage.device.mapped(N)?);
            mapped_x.as_mut_slice()?.copy_from_slice(&x);
            mapped_y.as_mut_slice()?.copy_from_slice(&y);
            mapped(A, &mapped_x, &mut mapped_y)?;
            check(mapped_y.as_slice()?)
        }),
    ]
}

fn inputs() -> [RandomVector<f32>; 2] {
    [0, 1].map(|vector| RandomVector::new(6, vector))
}

fn vectors() -> [Vec<f32>; 2] {
    inputs().map(|input| (0..N).map(|index| input.element(index)).collect())
}

fn check(found: &[f32]) -> Result<(), CaseError> {
    let [x, y] = inputs();
    right(reference::deviation(A, x, y, found))
}

fn in_streams(stage: &Stage) -> Result<(), CaseError> {
    pinned(stage, |vectors, x, y, out| vectors.in_streams(NonZeroUsize::MIN.saturating_add(2), A, x, y, out))
}

fn in_stages(stage: &Stage) -> Result<(), CaseError> {
    pinned(stage, |vectors, x, y, out| vectors.in_stages(NonZeroUsize::MIN.saturating_add(4), A, x, y, out))
}

/// Runs `program` on page-locked vectors and checks its result.
fn pinned(
    stage: &Stage,
    program: impl FnOnce(&mut DeviceVectors, &[f32], &[f32], &mut [f32]) -> Result<Times, Error>,
) -> Result<(), CaseError> {
    let [x, y] = vectors();
    let (mut pinned_x, mut pinned_y) = (stage.device.pinned(N)?, stage.device.pinned(N)?);
    pinned_x.copy_from_slice(&x);
    pinned_y.copy_from_slice(&y);
    let mut out = stage.device.pinned(N)?;
    program(&mut DeviceVectors::new(&stage.device, N)?, &pinned_x, &pinned_y, &mut out)?;
    check(&out)
}
