//! Works of any size for a benchmark of teams: their inputs repeat a pattern, so that no host holds a vector, and their results
//! are known by it.

use std::ops::Range;

use cuda_std::Ladder;
use gpu::operator::{Operator, Sum};
use launch::{Buffer, Element};

use super::life::{self, Life};
use super::{Repeated, RoundScan, Rounds, SplitHistogram, SplitReduction, SplitWork, Team, saxpy};
use crate::deviation::Deviation;
use crate::error::AlgorithmError;
use crate::histogram::{Bins, HistogramRung};
use crate::inputs::RandomVector;
use crate::numbers::Number;
use crate::reduce::{self, Reducible};
use crate::saxpy::SaxpyRung;
use crate::scan::{self, ScanKind};

/// A work that a benchmark runs on teams of more and more members.
pub struct ScalingWork {
    /// The algorithm's name.
    pub algorithm: &'static str,
    /// The type of its elements.
    pub number: &'static str,
    /// Bytes that one run reads and writes at least, for each element.
    pub bytes: f64,
    /// Bytes of device memory for each element.
    pub memory: f64,
    /// The most elements of a member.
    pub most: usize,
    /// The share of the elements that a member has at most, of so many members.
    pub share: fn(usize) -> f64,
    /// Elements of the largest input that it has of at most so many.
    pub whole: fn(usize) -> usize,
    /// Makes it ready for vectors of that many elements.
    pub prepare: Prepare,
}

/// Makes a work of so many elements ready on a team.
pub type Prepare = for<'t> fn(&'t Team<'t>, usize) -> Result<Box<dyn SplitWork + 't>, AlgorithmError>;

/// All such works, each by its fastest rung.
pub fn works() -> Vec<ScalingWork> {
    const ALL: usize = usize::MAX;
    let work = |algorithm, number, [bytes, memory]: [f64; 2], most, prepare| {
        let share = |members| 1.0 / members as f64;
        ScalingWork { algorithm, number, bytes, memory, most, share, whole: |n| n, prepare }
    };
    // Two boards of bits, with their margins and halos.
    let life = work("life", "cells", [0.0, 0.3], ALL, |team, n| Life::prepare(team, n));
    let scan = work("scan", "f32", [8.0, 8.0], ALL, |team, n| Scan::prepare(team, n));
    vec![
        work("reduce", "f32", [4.0, 4.0], ALL, |team, n| Reduce::prepare(team, n, |bits| (bits % 17) as f32 - 8.0)),
        work("reduce", "i32", [4.0, 4.0], ALL, |team, n| Reduce::prepare(team, n, |bits| bits as i32)),
        ScalingWork { share: Rounds::largest_share, ..scan },
        work("saxpy", "f32", [12.0, 8.0], ALL, |team, n| Saxpy::prepare(team, n)),
        work("histogram", "u8", [1.0, 1.0], u32::MAX as usize, |team, n| Histogram::prepare(team, n)),
        ScalingWork { whole: life::cells, ..life },
    ]
}

/// Elements of a pattern. A prime, so that parts and tiles begin anywhere in it.
const PERIOD: usize = 65_521;

/// How much of a part is looked at: so many pieces of so many elements, from its first to its last.
const PIECES: usize = 16;
const PIECE: usize = 4096;

/// A pattern of what `element` makes of random bits.
fn pattern<T: Element>(vector: u64, element: impl Fn(u64) -> T) -> Repeated<T> {
    let random = RandomVector::<u64>::new(0, vector);
    Repeated::new((0..PERIOD).map(|index| element(random.bits(index))).collect())
}

/// Compares pieces of this rank's parts of a result of `n` elements with what `expected` gives for each index.
fn compare<T: Number>(
    team: &Team<'_>,
    n: usize,
    parts: &[Buffer<T>],
    expected: impl Fn(usize) -> T,
) -> Result<Deviation, AlgorithmError> {
    let mut deviation = Deviation::default();
    for (buffer, part) in parts.iter().zip(team.parts(n)) {
        deviation = deviation.merge(compare_part(buffer, part.start, &expected)?);
    }
    Ok(deviation)
}

/// As [`compare`], of the part that begins with element `first`.
fn compare_part<T: Number>(
    part: &Buffer<T>,
    first: usize,
    expected: impl Fn(usize) -> T,
) -> Result<Deviation, AlgorithmError> {
    let mut deviation = Deviation::default();
    for piece in pieces(part.len()) {
        let mut found = vec![T::zeroed(); piece.len()];
        part.download_range(piece.start, &mut found)?;
        for (at, found) in piece.zip(found) {
            deviation.add_exact(first + at, found, expected(first + at));
        }
    }
    Ok(deviation)
}

/// Pieces of `0..len`, from its first element to its last. All of it where it is short.
fn pieces(len: usize) -> Vec<Range<usize>> {
    let (count, size) = if len <= PIECES * PIECE { (1, len) } else { (PIECES, PIECE) };
    let piece = |piece: usize| {
        // Without a product of the length, which might overflow.
        let start = if piece + 1 == count { len - size } else { (len - size) / (count - 1) * piece };
        start..start + size
    };
    (0..count).map(piece).collect()
}

/// Sums of numbers so small that no order of additions rounds: of floats, whole ones from −8 to 8.
struct Reduce<'t, T: Reducible<Sum>>
where
    Sum: Operator<T>,
{
    x: Vec<Buffer<T>>,
    reduction: SplitReduction<'t, T, Sum>,
    expected: T,
}

impl<'t, T: Number + Reducible<Sum>> Reduce<'t, T>
where
    Sum: Operator<T>,
{
    fn prepare(team: &'t Team<'t>, n: usize, element: fn(u64) -> T) -> Result<Box<dyn SplitWork + 't>, AlgorithmError> {
        let x = pattern(0, element);
        let sum = |elements: &[T]| elements.iter().copied().fold(Sum::IDENTITY, Sum::combine);
        let mut expected = sum(&x.pattern()[..n % PERIOD]);
        // n / PERIOD times the pattern, by doubling.
        let (mut times, mut power) = (n / PERIOD, sum(x.pattern()));
        while times > 0 {
            if times % 2 == 1 {
                expected = Sum::combine(expected, power);
            }
            (times, power) = (times / 2, Sum::combine(power, power));
        }
        let x = x.on(team, n)?;
        let reduction = SplitReduction::new(team, reduce::best_for::<T, Sum>(), &x)?;
        Ok(Box::new(Self { x, reduction, expected }))
    }
}

impl<T: Number + Reducible<Sum>> SplitWork for Reduce<'_, T>
where
    Sum: Operator<T>,
{
    fn run(&mut self) -> Result<(), AlgorithmError> {
        self.reduction.reduce(&self.x).map(drop)
    }

    fn verify(&mut self) -> Result<Deviation, AlgorithmError> {
        let mut deviation = Deviation::default();
        deviation.add_exact(0, self.reduction.reduce(&self.x)?, self.expected);
        Ok(deviation)
    }
}

/// Inclusive sums of floats, of which each is a number of a pattern: an element is what changes the prefix before it. All are
/// multiples of 2⁻¹⁹ between −1/2 and 1/2, so that no sum of elements next to each other rounds.
struct Scan<'t> {
    rounds: Rounds,
    prefixes: Repeated<f32>,
    x: Vec<Vec<Buffer<f32>>>,
    y: Vec<Vec<Buffer<f32>>>,
    scan: RoundScan<'t, f32, Sum>,
}

impl<'t> Scan<'t> {
    fn prepare(team: &'t Team<'t>, n: usize) -> Result<Box<dyn SplitWork + 't>, AlgorithmError> {
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
        let scan = RoundScan::new(team, scan::best_for::<f32>, &x)?;
        Ok(Box::new(Self { rounds, prefixes, y, x, scan }))
    }
}

impl SplitWork for Scan<'_> {
    fn run(&mut self) -> Result<(), AlgorithmError> {
        self.scan.scan(ScanKind::Inclusive, &mut self.x, &mut self.y)
    }

    fn verify(&mut self) -> Result<Deviation, AlgorithmError> {
        self.y.iter_mut().flatten().try_for_each(Buffer::fill_zero)?;
        self.run()?;
        let mut deviation = Deviation::default();
        for (round, parts) in self.y.iter().enumerate() {
            for (device, part) in parts.iter().enumerate() {
                let first = self.rounds.part(round, device).start;
                deviation = deviation.merge(compare_part(part, first, |index| self.prefixes.element(index))?);
            }
        }
        Ok(deviation)
    }
}

/// y = 2x + y of whole numbers.
struct Saxpy<'t> {
    team: &'t Team<'t>,
    rung: SaxpyRung,
    n: usize,
    patterns: [Repeated<f32>; 2],
    x: Vec<Buffer<f32>>,
    y: Vec<Buffer<f32>>,
}

impl<'t> Saxpy<'t> {
    const A: f32 = 2.0;

    fn prepare(team: &'t Team<'t>, n: usize) -> Result<Box<dyn SplitWork + 't>, AlgorithmError> {
        let patterns = [0, 1].map(|vector| pattern(vector, |bits| (bits % 17) as f32 - 8.0));
        let (x, y) = (patterns[0].on(team, n)?, patterns[1].on(team, n)?);
        Ok(Box::new(Self { team, rung: SaxpyRung::last_for(&["f32"]), n, patterns, x, y }))
    }
}

impl SplitWork for Saxpy<'_> {
    fn run(&mut self) -> Result<(), AlgorithmError> {
        saxpy(self.team, self.rung, Self::A, &self.x, &mut self.y)
    }

    fn verify(&mut self) -> Result<Deviation, AlgorithmError> {
        let [x, y] = &self.patterns;
        for (buffer, part) in self.y.iter_mut().zip(self.team.parts(self.n)) {
            y.fill(buffer, part.start)?;
        }
        saxpy(self.team, self.rung, Self::A, &self.x, &mut self.y)?;
        compare(self.team, self.n, &self.y, |index| Self::A * x.element(index) + y.element(index))
    }
}

/// Uniform bytes in 256 bins.
struct Histogram<'t> {
    keys: Vec<Buffer<u8>>,
    histogram: SplitHistogram<'t>,
    expected: Vec<u64>,
}

impl<'t> Histogram<'t> {
    fn prepare(team: &'t Team<'t>, n: usize) -> Result<Box<dyn SplitWork + 't>, AlgorithmError> {
        let bins = Bins::even(256, 0, 256)?;
        let keys = pattern(0, |bits| bits as u8);
        let mut expected = vec![0; 256];
        for (index, &key) in keys.pattern().iter().enumerate() {
            expected[usize::from(key)] += (n / PERIOD + usize::from(index < n % PERIOD)) as u64;
        }
        let keys = keys.on(team, n)?;
        let histogram = SplitHistogram::new(team, HistogramRung::last_for(&["u8"]), bins, &keys)?;
        Ok(Box::new(Self { keys, histogram, expected }))
    }
}

impl SplitWork for Histogram<'_> {
    fn run(&mut self) -> Result<(), AlgorithmError> {
        self.histogram.run(&self.keys)?;
        self.histogram.counts().map(drop)
    }

    fn verify(&mut self) -> Result<Deviation, AlgorithmError> {
        self.histogram.run(&self.keys)?;
        Ok(Deviation::of_exact(&self.histogram.counts()?, |bin| self.expected[bin]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::{alone, in_threads};
    use launch::Group;

    #[test]
    fn every_work_is_right_on_teams_of_any_size() {
        let group = |text: &str| Group::open(&text.parse().unwrap(), crate::MODULES).unwrap();
        let check = |team: &Team<'_>, n| {
            for work in works() {
                let mut prepared = (work.prepare)(team, n).unwrap();
                for _ in 0..2 {
                    assert_eq!(prepared.verify().unwrap(), Deviation::default(), "{} of {n}", work.algorithm);
                    assert!(team.time(&mut *prepared).unwrap() > 0.0);
                }
            }
        };
        for (text, n) in [("sim:1", 1000), ("sim:3", 0), ("sim:3", 2 * PERIOD + 77)] {
            let ranks = alone();
            check(&Team::new(&group(text), &ranks).unwrap(), n);
        }
        in_threads(2, |ranks| check(&Team::new(&group("sim:2"), ranks).unwrap(), PERIOD + 1));
    }

    #[test]
    fn pieces_reach_from_the_first_element_to_the_last() {
        for len in [0, 1, PIECES * PIECE, PIECES * PIECE + 1, 1 << 35, usize::MAX] {
            let pieces = pieces(len);
            assert_eq!((pieces[0].start, pieces[pieces.len() - 1].end), (0, len));
            assert!(pieces.iter().all(|piece| piece.end <= len && piece.len() <= PIECES * PIECE), "{pieces:?}");
        }
    }

    #[test]
    fn a_wrong_element_is_found() {
        let (ranks, group) = (alone(), Group::open(&"sim:2".parse().unwrap(), crate::MODULES).unwrap());
        let team = Team::new(&group, &ranks).unwrap();
        let x = pattern(0, |bits| bits as u32);
        let mut parts = x.on(&team, 5000).unwrap();
        assert_eq!(compare(&team, 5000, &parts, |index| x.element(index)).unwrap(), Deviation::default());
        parts[1].upload_range(7, &[x.element(2507) ^ 1]).unwrap();
        assert_eq!(compare(&team, 5000, &parts, |index| x.element(index)).unwrap().wrong.unwrap().index, 2507);
    }
}
