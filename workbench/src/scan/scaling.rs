//! The measurements of scan on teams of devices.

use gpu::operator::Sum;
use launch::Buffer;

use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use crate::scaling::{PERIOD, ScalingMeasurement, SplitWork, compare_segment, pattern};
use gridstride::scan::{ScanKind, default_rung};
use multi::scan::{RoundScan, Rounds};
use multi::team::{Repeated, Team};

/// Returns the measurements of scan on teams.
pub(crate) fn measurements() -> Vec<ScalingMeasurement> {
    let even = ScalingMeasurement::new("f32", 8.0, 8.0, |team, n| Scan::prepare(team, n));
    vec![ScalingMeasurement { share: Rounds::largest_share, ..even }]
}

/// The work of an inclusive sum whose results are a repeated pattern of small whole floats. An element is the
/// difference of two results, so that no sum of adjacent elements rounds.
struct Scan<'t> {
    rounds: Rounds,
    prefixes: Repeated<f32>,
    x: Vec<Vec<Buffer<f32>>>,
    y: Vec<Vec<Buffer<f32>>>,
    scan: RoundScan<'t, f32, Sum>,
}

impl<'t> Scan<'t> {
    fn prepare(team: &'t Team<'t>, n: usize) -> Result<Box<dyn SplitWork + 't>, WorkbenchError> {
        // Small whole numbers are exact in any order of additions and for any length.
        let mut prefixes = pattern(0, |bits| (bits % 17) as f32 - 8.0).pattern().to_vec();
        // The last result is 0, so that the pattern can repeat.
        prefixes[PERIOD - 1] = 0.0;
        let changes = (0..PERIOD).map(|index| prefixes[index] - prefixes[(index + PERIOD - 1) % PERIOD]).collect();
        let (changes, prefixes) = (Repeated::new(changes), Repeated::new(prefixes));
        let rounds = Rounds::new::<f32>(team, n);
        let x = rounds.make(team, |device, part| {
            let mut buffer = device.alloc(part.len())?;
            changes.fill(&mut buffer, part.start)?;
            Ok(buffer)
        })?;
        let y = rounds.make(team, |device, part| Ok(device.alloc(part.len())?))?;
        let scan = RoundScan::new(team, default_rung::<f32>, &x)?;
        Ok(Box::new(Self { rounds, prefixes, y, x, scan }))
    }
}

impl SplitWork for Scan<'_> {
    fn run(&mut self) -> Result<(), WorkbenchError> {
        Ok(self.scan.scan(ScanKind::Inclusive, &mut self.x, &mut self.y)?)
    }

    fn verify(&mut self) -> Result<Deviation, WorkbenchError> {
        self.y.iter_mut().flatten().try_for_each(Buffer::fill_zero)?;
        self.run()?;
        let mut deviation = Deviation::default();
        for (round, parts) in self.y.iter().enumerate() {
            for (device, part) in parts.iter().enumerate() {
                let first = self.rounds.segment(round, device).start;
                deviation = deviation.merge(compare_segment(part, first, |index| self.prefixes.element(index))?);
            }
        }
        Ok(deviation)
    }
}
