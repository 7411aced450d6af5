//! The problem of a histogram on a team.

use gpu::histogram::Key;
use launch::Buffer;

use super::SplitHistogram;
use crate::deviation::Deviation;
use crate::error::AlgorithmError;
use crate::histogram::HistogramRung;
use crate::histogram::problem::Counting;
use crate::numbers::Number;
use crate::split::{SplitWork, Team};

/// The histogram of random keys that are split over a team.
pub(in crate::histogram) struct Split<'a, K: Key + Number> {
    problem: &'a Counting<K>,
    keys: Vec<Buffer<K>>,
    histogram: SplitHistogram<'a>,
}

impl<'a, K: Key + Number> Split<'a, K> {
    pub(in crate::histogram) fn new(
        problem: &'a Counting<K>,
        team: &'a Team<'a>,
        rung: HistogramRung,
    ) -> Result<Self, AlgorithmError> {
        let keys = team.filled(problem.n, |index| problem.key(index))?;
        let histogram = SplitHistogram::new(team, rung, problem.bins, &keys)?;
        Ok(Self { problem, keys, histogram })
    }
}

impl<K: Key + Number> SplitWork for Split<'_, K> {
    fn run(&mut self) -> Result<(), AlgorithmError> {
        self.histogram.run(&self.keys)?;
        self.histogram.counts().map(drop)
    }

    fn verify(&mut self) -> Result<Deviation, AlgorithmError> {
        self.histogram.run(&self.keys)?;
        let (found, expected) = (self.histogram.counts()?, self.problem.expected());
        Ok(Deviation::of_exact(&found, |bin| u64::from(expected[bin])))
    }
}
