//! scale: every rung, at its ends.

use cuda_std::Ladder;
use launch::LaunchConfig;

use crate::case::{Case, CaseError, Stage, equal};
use crate::inputs::RandomVector;
use crate::scale::reference::{self, Product};
use crate::scale::{Scalable, ScaleRung, launch, scale};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &rung in ScaleRung::ALL {
        let mut add = |what: &str, work: fn(&Stage, ScaleRung) -> Result<(), CaseError>| {
            cases.push(Case::new("scale", rung.name(), rung.families(), what, move |stage| work(stage, rung)));
        };
        add("f32, as planned", |stage, rung| {
            [1, 33, 1000].into_iter().try_for_each(|n| check(stage, rung, n, 1.5_f32))
        });
        add("i32, as planned", |stage, rung| {
            [1, 257, 1024].into_iter().try_for_each(|n| check(stage, rung, n, -7_i32))
        });
        if rung == ScaleRung::Grid {
            add("i32, 2 blocks of 64 again and again", |stage, _| {
                let x = input::<i32>(1001);
                let (dx, mut y) = (stage.device.upload(&x)?, stage.device.alloc(x.len())?);
                launch(stage.device.queue(), ScaleRung::Grid, LaunchConfig::new(2, 64), 3, &dx, &mut y)?;
                equal("y", &y.download()?, &reference::scale(3, &x))
            });
        }
    }
    cases
}

fn input<T: Scalable>(n: usize) -> Vec<T> {
    let inputs = RandomVector::new(2, 0);
    (0..n).map(|index| inputs.element(index)).collect()
}

fn check<T: Scalable + Product>(stage: &Stage, rung: ScaleRung, n: usize, s: T) -> Result<(), CaseError> {
    let x = input::<T>(n);
    let (dx, mut y) = (stage.device.upload(&x)?, stage.device.alloc(n)?);
    scale(&stage.device, rung, s, &dx, &mut y)?;
    equal("y", &y.download()?, &reference::scale(s, &x))
}
