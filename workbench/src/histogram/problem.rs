//! The implementation of [`Algorithm`] for histogram.

use std::sync::OnceLock;

use cuda_std::{Ladder, Rung};
use gpu::histogram::{Key, STATE_WORDS};
use launch::{Device, Held, Queue, Resources};

use super::scaling::SplitCounts;
use crate::algorithm::{Aim, Algorithm, Fact, Measurement, Options, Problem, ProblemOption, Shape, Target, rung_of};
use crate::deviation::Deviation;
use crate::error::{WorkbenchError, invalid};
use crate::inputs::{self, RandomVector};
use crate::scaling::{ScalingMeasurement, SplitWork};
use crate::vectors::{Computation, HostVector, Layout, Layouts, VectorProblem, Vectors, typed};
use gridstride::capabilities;
use gridstride::histogram::{Bins, Histogram, HistogramRung};
use gridstride::numbers::{Number, NumberType, with_number};
use multi::team::Team;

/// The algorithm histogram, which counts random keys in bins.
pub struct HistogramAlgorithm;

impl Algorithm for HistogramAlgorithm {
    fn rungs(&self) -> &'static [Rung] {
        HistogramRung::RUNGS
    }

    fn about(&self) -> &'static str {
        "Measure the histogram of random keys in bins of equal width and check it\n\n\
         Times are medians of several runs after a warm-up, by device events on a GPU and by the clock in the \
         simulator. Bandwidth counts each key once, in GB of 10⁹ bytes. It is shown beside the speed of the \
         device's own copy in the same run. The bins cover all values of a key. Every count must equal the count \
         of a reference on the CPU, which finds bins by division."
    }

    fn options(&self) -> &'static [ProblemOption] {
        const TYPE: ProblemOption = ProblemOption { default: "u8", ..ProblemOption::NUMBER };
        const BINS: ProblemOption = ProblemOption {
            name: "bins",
            value: "BINS",
            help: "Number of bins, 1 to 65536",
            default: "256",
            check: |text| match text.parse::<u32>() {
                Ok(1..=65536) => Ok(()),
                _ => Err("it must be a whole number from 1 to 65536".into()),
            },
        };
        const KEYS: ProblemOption = ProblemOption {
            name: "keys",
            value: "KIND",
            help: "Keys: uniform, constant (all equal) or skewed (small keys are more frequent)",
            default: "uniform",
            check: |text| Keys::parse(text).map(drop).map_err(|error| error.to_string()),
        };
        &[TYPE, BINS, KEYS]
    }

    fn problem(&self, shape: Shape, options: &Options) -> Result<Box<dyn Problem>, WorkbenchError> {
        let (n, seed) = (shape.elements(), options.seed);
        let number = options.element_type(self.name(), &self.types())?;
        let kind = Keys::parse(options.get("keys").unwrap_or("uniform"))?;
        let bins = Bins::even(options.value("bins", 256)?, 0, 1 << (8 * number.bytes()))?;
        Ok(Box::new(HistogramProblem { n, seed, kind, bins, number, expected: OnceLock::new() }))
    }

    fn measurements(&self) -> Vec<Measurement> {
        const OF_BYTES: &[Target] = &[Target::Peer(1.3, "CUB")];
        const OF_WORDS: &[Target] = &[Target::Peer(3.0, "CUB")];
        const IN_MANY_BINS: &[Target] = &[Target::Peer(4.0, "CUB")];
        let (bytes, words) = (Measurement::vectors("u8"), Measurement::vectors("u32"));
        vec![
            bytes
                .variant("256-uniform", &[("bins", "256")])
                .ladder()
                .aims(const { &[Aim::vector("histogram of uniform u8 in 256 bins", 28, OF_BYTES)] })
                .small(),
            bytes
                .variant("256-constant", &[("bins", "256"), ("keys", "constant")])
                .aims(const { &[Aim::vector("histogram of constant u8 in 256 bins", 28, OF_BYTES)] }),
            bytes
                .variant("256-skewed", &[("bins", "256"), ("keys", "skewed")])
                .aims(const { &[Aim::vector("histogram of skewed u8 in 256 bins", 28, OF_BYTES)] }),
            words
                .variant("256-uniform", &[("bins", "256")])
                .aims(const { &[Aim::vector("histogram of uniform u32 in 256 bins", 28, OF_WORDS)] }),
            words
                .variant("65536-uniform", &[("bins", "65536")])
                .aims(const { &[Aim::vector("histogram of uniform u32 in 65536 bins", 28, IN_MANY_BINS)] }),
        ]
    }

    fn scaling_measurements(&self) -> Vec<ScalingMeasurement> {
        super::scaling::measurements()
    }
}

/// The distribution of the random keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Keys {
    Uniform,
    Constant,
    /// Keys that are products of two uniform fractions, so that small keys are more frequent than large keys.
    Skewed,
}

impl Keys {
    fn parse(text: &str) -> Result<Self, WorkbenchError> {
        match [Self::Uniform, Self::Constant, Self::Skewed].into_iter().find(|keys| keys.name() == text) {
            Some(keys) => Ok(keys),
            None => invalid!("there is no kind of keys '{text}': use uniform, constant or skewed"),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Constant => "constant",
            Self::Skewed => "skewed",
        }
    }
}

/// The problem of counting `n` random keys in bins.
struct HistogramProblem {
    n: usize,
    seed: u64,
    kind: Keys,
    bins: Bins,
    number: NumberType,
    /// The counts of the reference, computed when they are first needed.
    expected: OnceLock<Vec<u32>>,
}

/// The value of all keys of the distribution `constant`.
const CONSTANT: u64 = 42;

impl HistogramProblem {
    fn key<K: Number>(&self, index: usize) -> K {
        let bits = RandomVector::<u64>::new(self.seed, 0).bits(index);
        let width = K::TYPE.bytes() as u32 * 8;
        match self.kind {
            Keys::Uniform => K::from_random(bits),
            Keys::Constant => K::from_random(CONSTANT << (64 - width)),
            Keys::Skewed => {
                let product = (bits >> (64 - width)) * (bits << width >> (64 - width));
                K::from_random(product >> width << (64 - width))
            }
        }
    }

    /// Returns the counts of the reference.
    fn expected(&self) -> &[u32] {
        self.expected.get_or_init(|| {
            with_number!(self.number, [u8 u32], K => self.counts(|index| self.key::<K>(index).value()), _ => Vec::new())
        })
    }

    fn counts(&self, key: impl Fn(usize) -> u32 + Sync) -> Vec<u32> {
        let of_segment = |segment: std::ops::Range<usize>| {
            let mut counts = vec![0_u32; self.bins.count() as usize];
            for bin in segment.filter_map(|index| self.bins.of(key(index))) {
                counts[bin] += 1;
            }
            counts
        };
        let mut counts = vec![0; self.bins.count() as usize];
        for segment in inputs::in_parts(self.n, of_segment) {
            counts.iter_mut().zip(segment).for_each(|(count, more)| *count += more);
        }
        counts
    }
}

impl VectorProblem for HistogramProblem {
    fn heading(&self) -> String {
        format!("histogram, {} keys of {} in {} bins, n = {}", self.kind.name(), self.number, self.bins.count(), self.n)
    }

    fn properties(&self) -> Vec<(&'static str, Fact)> {
        vec![
            ("n", Fact::Count(self.n as u64)),
            ("type", Fact::Name(self.number.name())),
            ("bins", Fact::Count(self.bins.count().into())),
            ("keys", Fact::Name(self.kind.name())),
        ]
    }

    fn distinction(&self) -> Option<String> {
        Some(format!("{} bins, {} keys", self.bins.count(), self.kind.name()))
    }

    fn supports(&self, _device: &Device, rung: &Rung) -> Result<(), WorkbenchError> {
        match u32::try_from(self.n) {
            Ok(_) => Ok(capabilities::check(rung_of::<HistogramRung>(rung)?, &self.instance(), self.n)?),
            Err(_) => {
                let offered = format!("up to {} keys, because counts have 32 bits", u32::MAX);
                Err(capabilities::refused(rung, format!("{} keys", self.n), offered).into())
            }
        }
    }

    fn on_team<'a>(&'a self, team: &'a Team<'a>, rung: &Rung) -> Result<Box<dyn SplitWork + 'a>, WorkbenchError> {
        let expected = self.expected().iter().copied().map(u64::from).collect();
        typed!(self.number, [u8 u32], K => {
            let keys = team.filled(self.n, |index| self.key::<K>(index))?;
            SplitCounts::boxed(team, rung_of(rung)?, self.bins, keys, expected)
        })
    }

    fn ladder(&self) -> &'static [Rung] {
        HistogramRung::RUNGS
    }

    fn layouts(&self) -> Layouts {
        let x = Layout { number: self.number, from: 0, len: self.n };
        let y = Layout { number: NumberType::U32, from: 0, len: self.bins.count() as usize };
        Layouts { x, y, accesses: 1 }
    }

    fn fill(&self, _is_exact: bool, x: &mut HostVector) -> Result<(), WorkbenchError> {
        typed!(self.number, [u8 u32], K => {
            x.fill::<K>(|index| self.key(index));
            Ok(())
        })
    }

    fn computation(&self, device: &Device, rung: &Rung) -> Result<Box<dyn Computation + '_>, WorkbenchError> {
        let histogram = typed!(self.number, [u8 u32], K => {
            Ok(Histogram::new::<K>(device, rung_of(rung)?, self.n, self.bins)?)
        });
        Ok(Box::new(HistogramComputation { problem: self, histogram: histogram? }))
    }
}

struct HistogramComputation<'p> {
    problem: &'p HistogramProblem,
    histogram: Histogram,
}

impl Computation for HistogramComputation<'_> {
    fn run(&mut self, queue: Queue<'_>, Vectors { x, y, .. }: Vectors<'_>) -> Result<(), WorkbenchError> {
        typed!(self.problem.number, [u8 u32], K => {
            Ok(self.histogram.run::<K>(queue, x.buffer()?, y.buffer_mut()?)?)
        })
    }

    fn reset(&mut self, Vectors { y, .. }: Vectors<'_>) -> Result<(), WorkbenchError> {
        // Sets wrong counts, because earlier counts must not affect the result.
        Ok(y.buffer_mut()?.upload(&vec![u32::MAX; self.problem.bins.count() as usize])?)
    }

    fn compare(&mut self, Vectors { y, .. }: Vectors<'_>) -> Result<Deviation, WorkbenchError> {
        let (found, expected) = (y.buffer::<u32>()?.download()?, self.problem.expected());
        Ok(Deviation::of_exact(&found, |bin| expected[bin]))
    }

    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.histogram.hold(held);
    }

    fn workspace_bytes(&self) -> u64 {
        4 * STATE_WORDS as u64
    }
}
