//! The measurements of saxpy on teams of devices.

use cuda_std::Ladder;
use launch::Buffer;

use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use crate::scaling::{ScalingMeasurement, SplitWork, compare, pattern};
use gridstride::saxpy::SaxpyRung;
use multi::saxpy::split_saxpy;
use multi::team::{Repeated, Team};

/// Returns the measurements of saxpy on teams of devices.
pub(crate) fn measurements() -> Vec<ScalingMeasurement> {
    vec![ScalingMeasurement::new("f32", 12.0, 8.0, |team, n| Saxpy::prepare(team, n))]
}

/// The work of computing `y = 2x + y` on vectors of small whole numbers, split over a team of devices.
struct Saxpy<'t> {
    team: &'t Team<'t>,
    n: usize,
    patterns: [Repeated<f32>; 2],
    x: Vec<Buffer<f32>>,
    y: Vec<Buffer<f32>>,
}

impl<'t> Saxpy<'t> {
    const A: f32 = 2.0;

    fn prepare(team: &'t Team<'t>, n: usize) -> Result<Box<dyn SplitWork + 't>, WorkbenchError> {
        let patterns = [0, 1].map(|vector| pattern(vector, |bits| (bits % 17) as f32 - 8.0));
        let (x, y) = (patterns[0].on(team, n)?, patterns[1].on(team, n)?);
        Ok(Box::new(Self { team, n, patterns, x, y }))
    }
}

impl SplitWork for Saxpy<'_> {
    fn run(&mut self) -> Result<(), WorkbenchError> {
        Ok(split_saxpy(self.team, SaxpyRung::LAST, Self::A, &self.x, &mut self.y)?)
    }

    fn verify(&mut self) -> Result<Deviation, WorkbenchError> {
        for (buffer, segment) in self.y.iter_mut().zip(self.team.segments(self.n)) {
            self.patterns[1].fill(buffer, segment.start)?;
        }
        self.run()?;
        let [x, y] = &self.patterns;
        compare(self.team, self.n, &self.y, |index| Self::A * x.element(index) + y.element(index))
    }
}
