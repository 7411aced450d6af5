//! The measurements of histogram on teams.

use cuda_std::Ladder;
use launch::Buffer;

use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use crate::scaling::SplitWork;
use crate::scaling::{PERIOD, ScalingMeasurement, pattern};
use gridstride::capabilities;
use gridstride::histogram::{Bins, HistogramRung};
use multi::histogram::SplitHistogram;
use multi::team::Team;

/// Returns the measurements.
pub(crate) fn measurements() -> Vec<ScalingMeasurement> {
    let any = ScalingMeasurement::new("u8", 1.0, 1.0, |team, n| Histogram::prepare(team, n));
    vec![ScalingMeasurement { max_elements: u32::MAX as usize, ..any }]
}

/// A histogram of uniform bytes in 256 bins.
struct Histogram<'t> {
    keys: Vec<Buffer<u8>>,
    histogram: SplitHistogram<'t>,
    expected: Vec<u64>,
}

impl<'t> Histogram<'t> {
    fn prepare(team: &'t Team<'t>, n: usize) -> Result<Box<dyn SplitWork + 't>, WorkbenchError> {
        let bins = Bins::even(256, 0, 256)?;
        let keys = pattern(0, |bits| bits as u8);
        let mut expected = vec![0; 256];
        for (index, &key) in keys.pattern().iter().enumerate() {
            expected[usize::from(key)] += (n / PERIOD + usize::from(index < n % PERIOD)) as u64;
        }
        let keys = keys.on(team, n)?;
        let histogram =
            SplitHistogram::new(team, HistogramRung::default_rung(&capabilities::of_type::<u8>()), bins, &keys)?;
        Ok(Box::new(Self { keys, histogram, expected }))
    }
}

impl SplitWork for Histogram<'_> {
    fn run(&mut self) -> Result<(), WorkbenchError> {
        self.histogram.run(&self.keys)?;
        Ok(self.histogram.counts().map(drop)?)
    }

    fn verify(&mut self) -> Result<Deviation, WorkbenchError> {
        self.histogram.run(&self.keys)?;
        Ok(Deviation::of_exact(&self.histogram.counts()?, |bin| self.expected[bin]))
    }
}
