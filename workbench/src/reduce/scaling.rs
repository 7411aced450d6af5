//! The measurements of reduce on teams of devices.

use gpu::operator::{Operator, Sum};
use launch::Buffer;

use super::reference::Answer;
use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use crate::scaling::{PERIOD, ScalingMeasurement, SplitWork, pattern};
use gridstride::numbers::Number;
use gridstride::reduce::{ReduceElement, ReduceRung, default_rung};
use multi::reduce::SplitReduction;
use multi::team::Team;

/// Returns the measurements of reduce on teams of devices.
pub(crate) fn measurements() -> Vec<ScalingMeasurement> {
    vec![
        ScalingMeasurement::new("f32", 4.0, 4.0, |team, n| prepare(team, n, |bits| (bits % 17) as f32 - 8.0)),
        ScalingMeasurement::new("i32", 4.0, 4.0, |team, n| prepare(team, n, |bits| bits as i32)),
    ]
}

/// Prepares a sum that does not round in any order: a sum of integers, or of whole floats from −8 to 8.
fn prepare<'t, T: Number + ReduceElement<Sum>>(
    team: &'t Team<'t>,
    n: usize,
    element: fn(u64) -> T,
) -> Result<Box<dyn SplitWork + 't>, WorkbenchError>
where
    Sum: Operator<T>,
{
    let x = pattern(0, element);
    let sum = |elements: &[T]| elements.iter().copied().fold(Sum::IDENTITY, Sum::combine);
    let mut expected = sum(&x.pattern()[..n % PERIOD]);
    // Adds n / PERIOD times the sum of the pattern, by doubling.
    let (mut times, mut power) = (n / PERIOD, sum(x.pattern()));
    while times > 0 {
        if times % 2 == 1 {
            expected = Sum::combine(expected, power);
        }
        (times, power) = (times / 2, Sum::combine(power, power));
    }
    SplitReduce::<T, Sum>::boxed(team, default_rung::<T, Sum>(), x.on(team, n)?, Answer::Exact(expected))
}

/// The work of reducing a vector that is split over a team of devices.
pub(super) struct SplitReduce<'t, T: ReduceElement<O>, O: Operator<T>> {
    x: Vec<Buffer<T>>,
    reduction: SplitReduction<'t, T, O>,
    answer: Answer<T>,
}

impl<'t, T: Number + ReduceElement<O>, O: Operator<T>> SplitReduce<'t, T, O> {
    pub(super) fn boxed(
        team: &'t Team<'t>,
        rung: ReduceRung,
        x: Vec<Buffer<T>>,
        answer: Answer<T>,
    ) -> Result<Box<dyn SplitWork + 't>, WorkbenchError> {
        let reduction = SplitReduction::new(team, rung, &x)?;
        Ok(Box::new(Self { x, reduction, answer }))
    }
}

impl<T: Number + ReduceElement<O>, O: Operator<T>> SplitWork for SplitReduce<'_, T, O> {
    fn run(&mut self) -> Result<(), WorkbenchError> {
        Ok(self.reduction.reduce(&self.x).map(drop)?)
    }

    fn verify(&mut self) -> Result<Deviation, WorkbenchError> {
        let found = self.reduction.reduce(&self.x)?;
        Ok(self.answer.deviation(found, self.reduction.roundings()))
    }
}
