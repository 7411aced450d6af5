//! The problem of a reduction on a team.

use launch::Buffer;

use super::SplitReduction;
use crate::deviation::Deviation;
use crate::error::AlgorithmError;
use crate::reduce::inputs::Factor;
use crate::reduce::problem::Reducing;
use crate::reduce::reference::{self, Answer, Reference};
use crate::reduce::{ReduceRung, Reducible};
use crate::split::{SplitWork, Team};

/// A reduction of random elements that are split over a team.
pub(in crate::reduce) struct Split<'a, T: Factor + Reducible<O>, O: Reference<T>> {
    x: Vec<Buffer<T>>,
    reduction: SplitReduction<'a, T, O>,
    answer: Answer<T>,
}

impl<'a, T: Factor + Reducible<O>, O: Reference<T>> Split<'a, T, O> {
    pub(in crate::reduce) fn new(
        problem: &Reducing<T, O>,
        team: &'a Team<'a>,
        rung: ReduceRung,
    ) -> Result<Self, AlgorithmError> {
        let x = team.filled(problem.n, |index| problem.element(index))?;
        let reduction = SplitReduction::new(team, rung, &x)?;
        let answer = reference::reduce::<T, O>(problem.n, |index| problem.element(index));
        Ok(Self { x, reduction, answer })
    }
}

impl<T: Factor + Reducible<O>, O: Reference<T>> SplitWork for Split<'_, T, O> {
    fn run(&mut self) -> Result<(), AlgorithmError> {
        self.reduction.reduce(&self.x).map(drop)
    }

    fn verify(&mut self) -> Result<Deviation, AlgorithmError> {
        let found = self.reduction.reduce(&self.x)?;
        Ok(self.answer.deviation(found, self.reduction.roundings()))
    }
}
