//! The problem of saxpy on a team.

use launch::Buffer;

use super::split_saxpy;
use crate::deviation::Deviation;
use crate::error::AlgorithmError;
use crate::inputs::fill_with;
use crate::saxpy::SaxpyRung;
use crate::saxpy::problem::Axpy;
use crate::saxpy::reference::{self, Reference};
use crate::split::{SplitWork, Team};

/// saxpy of random vectors that are split over a team.
pub(in crate::saxpy) struct Split<'a, T: Reference> {
    problem: &'a Axpy<T>,
    team: &'a Team<'a>,
    rung: SaxpyRung,
    x: Vec<Buffer<T>>,
    y: Vec<Buffer<T>>,
}

impl<'a, T: Reference> Split<'a, T> {
    pub(in crate::saxpy) fn new(problem: &'a Axpy<T>, team: &'a Team<'a>, rung: SaxpyRung) -> Result<Self, AlgorithmError> {
        let [x, y] = problem.vectors().map(|vector| team.filled(problem.n, move |index| vector.element(index)));
        Ok(Self { problem, team, rung, x: x?, y: y? })
    }
}

impl<T: Reference> SplitWork for Split<'_, T> {
    fn run(&mut self) -> Result<(), AlgorithmError> {
        split_saxpy(self.team, self.rung, self.problem.a, &self.x, &mut self.y)
    }

    fn verify(&mut self) -> Result<Deviation, AlgorithmError> {
        let [x, y] = self.problem.vectors();
        let mut host = Vec::new();
        for (buffer, part) in self.y.iter_mut().zip(self.team.parts(self.problem.n)) {
            host.resize(part.len(), T::zeroed());
            fill_with(&mut host, |index| y.element(part.start + index));
            buffer.upload(&host)?;
        }
        self.run()?;
        let mut deviation = Deviation::default();
        for (buffer, part) in self.y.iter().zip(self.team.parts(self.problem.n)) {
            let found = buffer.download()?;
            deviation = deviation.merge(reference::deviation_from(part.start, self.problem.a, x, y, &found));
        }
        Ok(deviation)
    }
}
