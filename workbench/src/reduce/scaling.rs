//! The measurements of reduce on teams.

use gpu::operator::{Operator, Sum};
use launch::Buffer;

use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use crate::scaling::SplitWork;
use crate::scaling::{PERIOD, ScalingMeasurement, pattern};
use gridstride::numbers::Number;
use gridstride::reduce::{ReduceElement, default_rung};
use multi::reduce::SplitReduction;
use multi::team::Team;

/// Returns the measurements.
pub(crate) fn measurements() -> Vec<ScalingMeasurement> {
    vec![
        ScalingMeasurement::new("f32", 4.0, 4.0, |team, n| Reduce::prepare(team, n, |bits| (bits % 17) as f32 - 8.0)),
        ScalingMeasurement::new("i32", 4.0, 4.0, |team, n| Reduce::prepare(team, n, |bits| bits as i32)),
    ]
}

/// A sum that does not round in any order: of integers, or of whole floats from −8 to 8.
struct Reduce<'t, T: ReduceElement<Sum>>
where
    Sum: Operator<T>,
{
    x: Vec<Buffer<T>>,
    reduction: SplitReduction<'t, T, Sum>,
    expected: T,
}

impl<'t, T: Number + ReduceElement<Sum>> Reduce<'t, T>
where
    Sum: Operator<T>,
{
    fn prepare(team: &'t Team<'t>, n: usize, element: fn(u64) -> T) -> Result<Box<dyn SplitWork + 't>, WorkbenchError> {
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
        let x = x.on(team, n)?;
        let reduction = SplitReduction::new(team, default_rung::<T, Sum>(), &x)?;
        Ok(Box::new(Self { x, reduction, expected }))
    }
}

impl<T: Number + ReduceElement<Sum>> SplitWork for Reduce<'_, T>
where
    Sum: Operator<T>,
{
    fn run(&mut self) -> Result<(), WorkbenchError> {
        Ok(self.reduction.reduce(&self.x).map(drop)?)
    }

    fn verify(&mut self) -> Result<Deviation, WorkbenchError> {
        let mut deviation = Deviation::default();
        deviation.add_exact(0, self.reduction.reduce(&self.x)?, self.expected);
        Ok(deviation)
    }
}
