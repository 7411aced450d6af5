//! The cases of saxpy: every rung with its planned launch, in a grid smaller than the vector, and on views that are not
//! aligned.

use gpu::saxpy::{saxpy_unaligned, saxpy_vectorised};
use launch::{Call, LaunchConfig};

use crate::case::{Case, CaseError, Stage, equal, right};
use crate::inputs::RandomVector;
use crate::saxpy::reference::{self, Reference};
use cuda_std::{Global, GlobalMut, GpuFloat, Ladder};
use gridstride::saxpy::{SaxpyElement, SaxpyRung, launch, plan};

/// The lengths of the vectors: a single element, and several blocks with a tail.
const LENGTHS: [usize; 2] = [1, 2081];

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &rung in SaxpyRung::ALL {
        let mut add = |what: &str, work: fn(&Stage, SaxpyRung) -> Result<(), CaseError>| {
            cases.push(Case::new("saxpy", rung.name(), &rung.families()[..1], what, move |stage| work(stage, rung)));
        };
        add("f32, 1 and 2081 elements, the planned launch", |stage, rung| {
            LENGTHS.into_iter().try_for_each(|n| check::<f32>(stage, rung, n, plan::<f32>(rung, n, &stage.device)))
        });
        match rung {
            SaxpyRung::Monolithic => {}
            _ => add("f32, 2 blocks of 64 threads with a grid-stride loop", |stage, rung| {
                check::<f32>(stage, rung, 4099, LaunchConfig::new(2, 64))
            }),
        }
        if rung == SaxpyRung::Vectorised {
            add("f64, 3 blocks of 32 threads with a grid-stride loop", |stage, rung| {
                check::<f64>(stage, rung, 1501, LaunchConfig::new(3, 32))
            });
            add("f32, 2 blocks of 64 threads, views that are not aligned", |stage, _| check_not_aligned(stage));
            let mut add = |what: &str, work: fn(&Stage) -> Result<(), CaseError>| {
                cases.push(Case::new("saxpy", rung.name(), &rung.families()[1..], what, work));
            };
            add("f32, 2 blocks of 64 threads, x and y with equal misalignment", |stage| {
                check_from(stage, 1, 1, saxpy_unaligned::<f32, 4>)
            });
            add("f32, 2 blocks of 64 threads, x and y with different misalignment", |stage| {
                check_from(stage, 0, 3, saxpy_unaligned::<f32, 4>)
            });
            add("f64, 2 blocks of 64 threads, x and y with equal misalignment", |stage| {
                check_from(stage, 1, 3, saxpy_unaligned::<f64, 2>)
            });
            add("f64, 2 blocks of 64 threads, x and y with different misalignment", |stage| {
                check_from(stage, 1, 0, saxpy_unaligned::<f64, 2>)
            });
        }
    }
    cases
}

fn inputs<T: SaxpyElement>() -> [RandomVector<T>; 2] {
    [0, 1].map(|vector| RandomVector::new(1, vector))
}

fn vectors<T: SaxpyElement>(n: usize) -> [Vec<T>; 2] {
    inputs().map(|input| (0..n).map(|index| input.element(index)).collect())
}

fn check<T: Reference>(stage: &Stage, rung: SaxpyRung, n: usize, config: LaunchConfig) -> Result<(), CaseError> {
    let [x, y] = vectors::<T>(n);
    let (x, mut y) = (stage.device.upload(&x)?, stage.device.upload(&y)?);
    let a = T::from_f64(2.5);
    launch(stage.device.queue(), rung, config, a, x.view(), y.view_mut())?;
    let [input_x, input_y] = inputs();
    right(reference::deviation(a, input_x, input_y, &y.download()?))
}

fn check_not_aligned(stage: &Stage) -> Result<(), CaseError> {
    check_from(stage, 1, 1, saxpy_vectorised::<f32, 4>)
}

/// Runs `kernel` on views that begin with element `from` of one buffer and element `to` of another. Both buffers extend
/// beyond the views.
fn check_from<T: Reference>(
    stage: &Stage,
    from: usize,
    to: usize,
    kernel: impl for<'a> Fn(T, Global<'a, T>, GlobalMut<'a, T>) -> Call<'a>,
) -> Result<(), CaseError> {
    let n = 597;
    let [x, before] = vectors::<T>(n + 4);
    let (dx, mut y) = (stage.device.upload(&x)?, stage.device.upload(&before)?);
    let a = T::from_f64(2.5);
    stage.device.launch(LaunchConfig::new(2, 64), kernel(a, dx.view().part(from, n), y.view_mut().part(to, n)))?;
    let mut expected = before.clone();
    for i in 0..n {
        expected[to + i] = GpuFloat::mul_add(a, x[from + i], before[to + i]);
    }
    equal("y", &y.download()?, &expected)
}
