//! The problem of a scan on a team.

use gpu::operator::Operator;
use launch::Buffer;

use super::SplitScan;
use crate::deviation::Deviation;
use crate::error::AlgorithmError;
use crate::inputs::fill_with;
use crate::numbers::{NamedOperator, Number, OperatorName};
use crate::reduce::Reducible;
use crate::scan::problem::Scanning;
use crate::scan::reference::{compare_exact_from, compare_sums_from, sum_depth};
use crate::scan::{ScanRung, Scannable};
use crate::split::{SplitWork, Team};

/// The scan of random elements that are split over a team.
pub(in crate::scan) struct Split<'a, T: Number + Scannable<O> + Reducible<O>, O: Operator<T> + NamedOperator> {
    problem: &'a Scanning<T, O>,
    team: &'a Team<'a>,
    rung: ScanRung,
    x: Vec<Buffer<T>>,
    y: Vec<Buffer<T>>,
    scan: SplitScan<'a, T, O>,
}

impl<'a, T: Number + Scannable<O> + Reducible<O>, O: Operator<T> + NamedOperator> Split<'a, T, O> {
    pub(in crate::scan) fn new(problem: &'a Scanning<T, O>, team: &'a Team<'a>, rung: ScanRung) -> Result<Self, AlgorithmError> {
        let input = problem.input();
        let x = team.filled(problem.n, |index| input.element(index))?;
        let scan = SplitScan::new(team, |_, _| rung, &x)?;
        Ok(Self { problem, team, rung, y: team.alloc(problem.n)?, x, scan })
    }

    /// Runs on the input whose elements `element` gives, and compares each part by `compare`, which is given its first index.
    fn checked(
        &mut self,
        element: impl Fn(usize) -> T + Sync,
        compare: impl Fn(usize, &[T]) -> Deviation,
    ) -> Result<Deviation, AlgorithmError> {
        let mut host = Vec::new();
        for ((x, y), part) in self.x.iter_mut().zip(&mut self.y).zip(self.team.parts(self.problem.n)) {
            host.resize(part.len(), T::zeroed());
            fill_with(&mut host, |index| element(part.start + index));
            x.upload(&host)?;
            y.fill_zero()?;
        }
        self.run()?;
        let mut deviation = Deviation::default();
        for (y, part) in self.y.iter().zip(self.team.parts(self.problem.n)) {
            deviation = deviation.merge(compare(part.start, &y.download()?));
        }
        Ok(deviation)
    }
}

impl<T: Number + Scannable<O> + Reducible<O>, O: Operator<T> + NamedOperator> SplitWork for Split<'_, T, O> {
    fn run(&mut self) -> Result<(), AlgorithmError> {
        self.scan.scan(self.problem.kind, &mut self.x, &mut self.y)
    }

    fn verify(&mut self) -> Result<Deviation, AlgorithmError> {
        let (kind, input, rung) = (self.problem.kind, self.problem.input(), self.rung);
        let element = |index| input.element(index);
        if T::EPSILON.is_none() || O::NAME != OperatorName::Sum {
            return self.checked(element, |first, found| compare_exact_from::<T, O>(first, kind, element, found));
        }
        // As on one device: sums that no order of additions rounds, which must be exact, and sums that round. The inputs of
        // the latter stay.
        let whole = |index| input.exact_element(index);
        let exact = self.checked(whole, |first, found| compare_exact_from::<T, O>(first, kind, whole, found))?;
        let roundings = self.scan.roundings()? as f64;
        let rounded = self.checked(element, |first, found| {
            let depth = |at| roundings + sum_depth(rung, at, found.len(), size_of::<T>());
            compare_sums_from(first, depth, kind, element, found)
        })?;
        Ok(exact.merge(rounded))
    }
}
