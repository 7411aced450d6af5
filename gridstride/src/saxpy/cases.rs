//! saxpy: every rung as planned, in a grid that it goes over several times, and on views that are not aligned.

use gpu::saxpy::saxpy_vectorised;
use launch::LaunchConfig;

use crate::case::{Case, CaseError, Stage, equal, right};
use crate::inputs::RandomVector;
use crate::saxpy::reference::{self, Reference};
use crate::saxpy::{Real, SaxpyRung, launch, plan};
use cuda_std::Ladder;

/// Lengths: one element, several blocks with a tail.
const LENGTHS: [usize; 2] = [1, 2081];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &rung in SaxpyRung::ALL {
        let mut add = |what: &str, work: fn(&Stage, SaxpyRung) -> Result<(), CaseError>| {
            cases.push(Case::new("saxpy", rung.name(), rung.families(), what, move |stage| work(stage, rung)));
        };
        add("f32, as planned", |stage, rung| {
            LENGTHS.into_iter().try_for_each(|n| check::<f32>(stage, rung, n, plan::<f32>(rung, n, &stage.device)))
        });
        match rung {
            SaxpyRung::Monolithic => {}
            _ => add("f32, 2 blocks of 64 again and again", |stage, rung| {
                check::<f32>(stage, rung, 4099, LaunchConfig::new(2, 64))
            }),
        }
        if rung == SaxpyRung::Vectorised {
            add("f64, 3 blocks of 32 again and again", |stage, rung| {
                check::<f64>(stage, rung, 1501, LaunchConfig::new(3, 32))
            });
            add("f32, views that are not aligned", |stage, _| check_not_aligned(stage));
        }
    }
    cases
}

fn inputs<T: Real>() -> [RandomVector<T>; 2] {
    [0, 1].map(|vector| RandomVector::new(1, vector))
}

fn vectors<T: Real>(n: usize) -> [Vec<T>; 2] {
    inputs().map(|input| (0..n).map(|index| input.element(index)).collect())
}

fn check<T: Reference>(stage: &Stage, rung: SaxpyRung, n: usize, config: LaunchConfig) -> Result<(), CaseError> {
    let [x, y] = vectors::<T>(n);
    let (x, mut y) = (stage.device.upload(&x)?, stage.device.upload(&y)?);
    let a = T::from_f64(2.5);
    launch(stage.device.queue(), rung, config, a, &x, &mut y)?;
    let [input_x, input_y] = inputs();
    right(reference::deviation(a, input_x, input_y, &y.download()?))
}

fn check_not_aligned(stage: &Stage) -> Result<(), CaseError> {
    let n = 600;
    let [x, y] = vectors::<f32>(n);
    let (x, mut y) = (stage.device.upload(&x)?, stage.device.upload(&y)?);
    let call = saxpy_vectorised::<f32, 4>(2.5, x.view().part(1, n - 1), y.view_mut().part(1, n - 1));
    stage.device.launch(LaunchConfig::new(2, 64), call)?;
    let [x, before] = vectors::<f32>(n);
    let mut expected: Vec<f32> = x.iter().zip(&before).map(|(&x, &y)| 2.5_f32.mul_add(x, y)).collect();
    expected[0] = before[0];
    equal("y", &y.download()?, &expected)
}
