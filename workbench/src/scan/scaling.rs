//! A scan on teams of more and more members.

use gpu::operator::Sum;
use launch::Buffer;

use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use crate::scaling::SplitWork;
use crate::scaling::{PERIOD, ScalingWork, compare_part, pattern};
use gridstride::scan::{ScanKind, default_rung};
use multi::scan::{RoundScan, Rounds};
use multi::team::{Repeated, Team};

/// The works of that kind.
pub(crate) fn works() -> Vec<ScalingWork> {
    let even = ScalingWork::new("f32", 8.0, 8.0, |team, n| Scan::prepare(team, n));
    vec![ScalingWork { share: Rounds::largest_share, ..even }]
}

/// Inclusive sums of floats, of which each is a number of a pattern: an element is what changes the prefix before it.
/// All are multiples of 2⁻¹⁹ between −1/2 and 1/2, so that no sum of elements next to each other rounds.
struct Scan<'t> {
    rounds: Rounds,
    prefixes: Repeated<f32>,
    x: Vec<Vec<Buffer<f32>>>,
    y: Vec<Vec<Buffer<f32>>>,
    scan: RoundScan<'t, f32, Sum>,
}

impl<'t> Scan<'t> {
    fn prepare(team: &'t Team<'t>, n: usize) -> Result<Box<dyn SplitWork + 't>, WorkbenchError> {
        // Whole and small: exact in whichever order they are added, and however long the vector is.
        let mut prefixes = pattern(0, |bits| (bits % 17) as f32 - 8.0).pattern().to_vec();
        // The last is what the first changes: the pattern begins anew.
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
                deviation = deviation.merge(compare_part(part, first, |index| self.prefixes.element(index))?);
            }
        }
        Ok(deviation)
    }
}
