//! The histogram as an [`Algorithm`].

use cuda_std::{Ladder, Rung};
use gpu::histogram::Key;
use launch::{Buffer, Device, Held, Queue, Resources};

use crate::algorithm::{
    Aim, Algorithm, Fact, Inputs, Measurement, Options, PreparedRung, Problem, ProblemOption, Shape, Target, rung_of,
};
use crate::case::Case;
use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use crate::inputs::{self, REMEDY, RandomVector};
use crate::scaling::ScalingMeasurement;
use crate::scaling::SplitWork;
use gridstride::capabilities;
use gridstride::histogram::{Bins, Histogram, HistogramRung, Plan};
use gridstride::numbers::{Number, with_number};
use multi::histogram::SplitHistogram;
use multi::team::Team;

/// Histograms of random keys.
pub struct Histograms;

impl Algorithm for Histograms {
    fn name(&self) -> &'static str {
        HistogramRung::ALGORITHM
    }

    fn rungs(&self) -> &'static [Rung] {
        HistogramRung::RUNGS
    }

    fn about(&self) -> &'static str {
        "Measure the histogram of random keys in bins of equal width and check it\n\n\
         Times are medians of several runs after a first one, by device events on a GPU and by the clock in the simulator. \
         Bandwidth counts each key once, in GB of 10⁹ bytes, and stands beside the speed of the device's own copy in the same \
         run. The bins lie over all values of a key. Every count must be that of a reference that divides."
    }

    fn options(&self) -> &'static [ProblemOption] {
        const TYPE: ProblemOption = ProblemOption { default: "u8", ..ProblemOption::NUMBER };
        const BINS: ProblemOption = ProblemOption {
            name: "bins",
            value: "BINS",
            help: "Bins, 1 to 65536",
            default: "256",
            check: |text| match text.parse::<u32>() {
                Ok(1..=65536) => Ok(()),
                _ => Err("it must be a whole number from 1 to 65536".into()),
            },
        };
        const KEYS: ProblemOption = ProblemOption {
            name: "keys",
            value: "KIND",
            help: "Keys: uniform, constant (all alike) or skewed (small ones are more)",
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
        with_number!(number, [u8 u32], K => Ok(Box::new(Counting::<K> { n, seed, kind, bins, key: K::from_random })), _ => {
            Err(WorkbenchError::Options(format!("histogram has no element type '{number}'")))
        })
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

    fn cases(&self) -> Vec<Case> {
        super::cases::cases()
    }
}

/// The distribution of the keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Keys {
    Uniform,
    Constant,
    /// The product of two uniform ones as fractions.
    Skewed,
}

impl Keys {
    fn parse(text: &str) -> Result<Self, WorkbenchError> {
        match text {
            "uniform" => Ok(Self::Uniform),
            "constant" => Ok(Self::Constant),
            "skewed" => Ok(Self::Skewed),
            _ => Err(WorkbenchError::Options(format!("there are no keys '{text}': use uniform, constant or skewed"))),
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

/// The histogram of `n` random keys.
pub(super) struct Counting<K> {
    pub(super) n: usize,
    seed: u64,
    kind: Keys,
    pub(super) bins: Bins,
    /// The key that the upper bits of 64 make.
    key: fn(u64) -> K,
}

/// Constant keys.
const CONSTANT: u64 = 42;

impl<K: Key + Number> Counting<K> {
    pub(super) fn key(&self, index: usize) -> K {
        let bits = RandomVector::<u64>::new(self.seed, 0).bits(index);
        let width = K::TYPE.bytes() as u32 * 8;
        match self.kind {
            Keys::Uniform => (self.key)(bits),
            Keys::Constant => (self.key)(CONSTANT << (64 - width)),
            Keys::Skewed => {
                let product = (bits >> (64 - width)) * (bits << width >> (64 - width));
                (self.key)(product >> width << (64 - width))
            }
        }
    }

    /// The reference's counts.
    pub(super) fn expected(&self) -> Vec<u32> {
        let of_part = |part: std::ops::Range<usize>| {
            let mut counts = vec![0_u32; self.bins.count() as usize];
            for bin in part.filter_map(|index| self.bins.of(self.key(index).value())) {
                counts[bin] += 1;
            }
            counts
        };
        let mut counts = vec![0; self.bins.count() as usize];
        for part in inputs::in_parts(self.n, of_part) {
            counts.iter_mut().zip(part).for_each(|(count, part)| *count += part);
        }
        counts
    }
}

impl<K: Key + Number> Problem for Counting<K> {
    fn title(&self) -> String {
        format!("histogram, {} keys of {} in {} bins, n = {}", self.kind.name(), K::TYPE, self.bins.count(), self.n)
    }

    fn facts(&self) -> Vec<(&'static str, Fact)> {
        vec![
            ("n", Fact::Count(self.n as u64)),
            ("type", Fact::Name(K::TYPE.name())),
            ("bins", Fact::Count(self.bins.count().into())),
            ("keys", Fact::Name(self.kind.name())),
        ]
    }

    fn detail(&self) -> Option<String> {
        Some(format!("{} bins, {} keys", self.bins.count(), self.kind.name()))
    }

    fn elements(&self) -> u64 {
        self.n as u64
    }

    fn bytes(&self) -> u64 {
        (self.n as u64).saturating_mul(size_of::<K>() as u64)
    }

    fn memory_bytes(&self, _device: &Device, _rungs: &[&Rung]) -> u64 {
        self.bytes().saturating_add(4 * u64::from(self.bins.count()))
    }

    fn check(&self, _device: &Device, rung: &Rung) -> Result<(), WorkbenchError> {
        match u32::try_from(self.n) {
            Ok(_) => Ok(capabilities::check(rung_of::<HistogramRung>(rung)?, &capabilities::of_type::<K>(), self.n)?),
            Err(_) => {
                let offered = format!("up to {} keys, whose counts have 32 bits", u32::MAX);
                Err(capabilities::refused(rung, format!("{} keys", self.n), offered).into())
            }
        }
    }

    fn default_rungs(&self, _device: &Device) -> Vec<&'static Rung> {
        vec![HistogramRung::default_rung(&capabilities::of_type::<K>()).rung()]
    }

    fn inputs(&self, device: &Device) -> Result<Box<dyn Inputs + '_>, WorkbenchError> {
        let mut host = inputs::host_memory(self.n, REMEDY)?;
        inputs::fill_with(&mut host, |index| self.key(index));
        let counts = device.alloc(self.bins.count() as usize)?;
        Ok(Box::new(OnDevice { problem: self, keys: device.upload(&host)?, counts, expected: None }))
    }

    fn split<'a>(&'a self, team: &'a Team<'a>, rung: &Rung) -> Result<Box<dyn SplitWork + 'a>, WorkbenchError> {
        Ok(Box::new(Split::new(self, team, rung_of(rung)?)?))
    }
}

struct OnDevice<'p, K: Key + Number> {
    problem: &'p Counting<K>,
    keys: Buffer<K>,
    counts: Buffer<u32>,
    /// The reference's counts, computed when they are first needed.
    expected: Option<Vec<u32>>,
}

impl<K: Key + Number> Inputs for OnDevice<'_, K> {
    fn prepare<'a>(&'a mut self, rung: &Rung) -> Result<Box<dyn PreparedRung + 'a>, WorkbenchError> {
        let Counting { n, bins, .. } = *self.problem;
        let plan = Plan::new::<K>(rung_of(rung)?, n, bins.count(), self.keys.device());
        let histogram = Histogram::with_plan(self.keys.device(), plan, n, bins)?;
        Ok(Box::new(Ready { histogram, on: self }))
    }
}

struct Ready<'a, 'p, K: Key + Number> {
    histogram: Histogram,
    on: &'a mut OnDevice<'p, K>,
}

impl<K: Key + Number> Resources for Ready<'_, '_, K> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        held.shared(&self.on.keys);
        self.on.counts.hold(held);
        self.histogram.hold(held);
    }
}

impl<K: Key + Number> PreparedRung for Ready<'_, '_, K> {
    fn run(&mut self, queue: Queue<'_>) -> Result<(), WorkbenchError> {
        Ok(self.histogram.run(queue, &self.on.keys, &mut self.on.counts)?)
    }

    fn refresh(&mut self) -> Result<(), WorkbenchError> {
        // What was there before must not count.
        Ok(self.on.counts.upload(&vec![u32::MAX; self.on.problem.bins.count() as usize])?)
    }

    fn compare(&mut self) -> Result<Deviation, WorkbenchError> {
        let found = self.on.counts.download()?;
        let problem = self.on.problem;
        let expected = self.on.expected.get_or_insert_with(|| problem.expected());
        Ok(Deviation::of_exact(&found, |bin| expected[bin]))
    }

    fn workspace_bytes(&self) -> u64 {
        4 * gpu::histogram::STATE_WORDS as u64
    }
}

/// The histogram of random keys that are split over a team.
struct Split<'a, K: Key + Number> {
    problem: &'a Counting<K>,
    keys: Vec<Buffer<K>>,
    histogram: SplitHistogram<'a>,
}

impl<'a, K: Key + Number> Split<'a, K> {
    fn new(problem: &'a Counting<K>, team: &'a Team<'a>, rung: HistogramRung) -> Result<Self, WorkbenchError> {
        let keys = team.filled(problem.n, |index| problem.key(index))?;
        let histogram = SplitHistogram::new(team, rung, problem.bins, &keys)?;
        Ok(Self { problem, keys, histogram })
    }
}

impl<K: Key + Number> SplitWork for Split<'_, K> {
    fn run(&mut self) -> Result<(), WorkbenchError> {
        self.histogram.run(&self.keys)?;
        Ok(self.histogram.counts().map(drop)?)
    }

    fn verify(&mut self) -> Result<Deviation, WorkbenchError> {
        self.histogram.run(&self.keys)?;
        let (found, expected) = (self.histogram.counts()?, self.problem.expected());
        Ok(Deviation::of_exact(&found, |bin| u64::from(expected[bin])))
    }
}
