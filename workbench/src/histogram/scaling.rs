//! The measurements of histogram on teams of devices.

use cuda_std::Ladder;
use gpu::histogram::Key;
use launch::Buffer;

use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use crate::scaling::{PERIOD, ScalingMeasurement, SplitWork, pattern};
use gridstride::histogram::{Bins, HistogramRung};
use multi::histogram::SplitHistogram;
use multi::team::Team;

/// Returns the measurements of histogram on teams of devices.
pub(crate) fn measurements() -> Vec<ScalingMeasurement> {
    let any = ScalingMeasurement::new("u8", 1.0, 1.0, prepare);
    vec![ScalingMeasurement { max_elements: u32::MAX as usize, ..any }]
}

/// Prepares the histogram of `n` uniform bytes in 256 bins.
fn prepare<'t>(team: &'t Team<'t>, n: usize) -> Result<Box<dyn SplitWork + 't>, WorkbenchError> {
    let keys = pattern(0, |bits| bits as u8);
    let mut expected = vec![0; 256];
    for (index, &key) in keys.pattern().iter().enumerate() {
        expected[usize::from(key)] += (n / PERIOD + usize::from(index < n % PERIOD)) as u64;
    }
    SplitCounts::boxed(team, HistogramRung::LAST, Bins::even(256, 0, 256)?, keys.on(team, n)?, expected)
}

/// The work of counting keys that are split over a team of devices.
pub(super) struct SplitCounts<'t, K: Key> {
    keys: Vec<Buffer<K>>,
    histogram: SplitHistogram<'t>,
    expected: Vec<u64>,
}

impl<'t, K: Key> SplitCounts<'t, K> {
    pub(super) fn boxed(
        team: &'t Team<'t>,
        rung: HistogramRung,
        bins: Bins,
        keys: Vec<Buffer<K>>,
        expected: Vec<u64>,
    ) -> Result<Box<dyn SplitWork + 't>, WorkbenchError> {
        let histogram = SplitHistogram::new(team, rung, bins, &keys)?;
        Ok(Box::new(Self { keys, histogram, expected }))
    }
}

impl<K: Key> SplitWork for SplitCounts<'_, K> {
    fn run(&mut self) -> Result<(), WorkbenchError> {
        self.histogram.run(&self.keys)?;
        Ok(self.histogram.counts().map(drop)?)
    }

    fn verify(&mut self) -> Result<Deviation, WorkbenchError> {
        self.histogram.run(&self.keys)?;
        Ok(Deviation::of_exact(&self.histogram.counts()?, |bin| self.expected[bin]))
    }
}
