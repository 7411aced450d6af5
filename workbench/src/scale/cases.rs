//! The cases of scale: every rung with vectors of several lengths, from a single element on.

use cuda_std::Ladder;
use gpu::scale::scale_unaligned;
use launch::LaunchConfig;

use crate::case::{Case, CaseError, Stage, equal};
use crate::inputs::RandomVector;
use crate::scale::reference::{self, Product};
use gridstride::scale::{ScaleElement, ScaleRung, launch, scale};

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &rung in ScaleRung::ALL {
        let mut add = |what: &str, work: fn(&Stage, ScaleRung) -> Result<(), CaseError>| {
            cases.push(Case::new("scale", rung.name(), &rung.families()[..1], what, move |stage| work(stage, rung)));
        };
        add("f32, 1 to 1000 elements, the planned launch", |stage, rung| {
            [1, 33, 1000].into_iter().try_for_each(|n| check(stage, rung, n, 1.5_f32))
        });
        add("i32, 1 to 1024 elements, the planned launch", |stage, rung| {
            [1, 257, 1024].into_iter().try_for_each(|n| check(stage, rung, n, -7_i32))
        });
        if rung == ScaleRung::Grid {
            add("i32, 2 blocks of 64 threads with a grid-stride loop", |stage, _| {
                let x = input::<i32>(1001);
                let (dx, mut y) = (stage.device.upload(&x)?, stage.device.alloc(x.len())?);
                launch(stage.device.queue(), ScaleRung::Grid, LaunchConfig::new(2, 64), 3, dx.view(), y.view_mut())?;
                equal("y", &y.download()?, &reference::scale(3, &x))
            });
        }
        if rung == ScaleRung::Vectorised {
            let mut add = |what: &str, from, to| {
                let work = move |stage: &Stage| check_from(stage, from, to);
                cases.push(Case::new("scale", rung.name(), &rung.families()[1..], what, work));
            };
            add("i32, 2 blocks of 64 threads, x and y with equal misalignment", 1, 1);
            add("i32, 2 blocks of 64 threads, x and y with different misalignment", 3, 0);
        }
    }
    cases
}

fn input<T: ScaleElement>(n: usize) -> Vec<T> {
    let inputs = RandomVector::new(2, 0);
    (0..n).map(|index| inputs.element(index)).collect()
}

/// Checks the scaling of one view into another. The input view begins with element `from` of its buffer, and the output
/// view with element `to`. Both buffers extend beyond the views.
fn check_from(stage: &Stage, from: usize, to: usize) -> Result<(), CaseError> {
    let (n, x) = (601, input::<i32>(605));
    let (dx, mut y) = (stage.device.upload(&x)?, stage.device.zeroed(x.len())?);
    let call = scale_unaligned::<i32, 4>(3, dx.view().part(from, n), y.view_mut().part(to, n));
    stage.device.launch(LaunchConfig::new(2, 64), call)?;
    let mut expected = vec![0; x.len()];
    expected[to..to + n].copy_from_slice(&reference::scale(3, &x[from..from + n]));
    equal("y", &y.download()?, &expected)
}

fn check<T: ScaleElement + Product>(stage: &Stage, rung: ScaleRung, n: usize, s: T) -> Result<(), CaseError> {
    let x = input::<T>(n);
    let (dx, mut y) = (stage.device.upload(&x)?, stage.device.alloc(n)?);
    scale(&stage.device, rung, s, &dx, &mut y)?;
    equal("y", &y.download()?, &reference::scale(s, &x))
}
