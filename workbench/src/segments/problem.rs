//! The implementation of [`Algorithm`] for segments.

use std::ops::Range;

use cuda_std::{Ladder, Rung};
use gpu::accumulate::{ArgMax, Indexed};
use gpu::operator::{Operator, Sum};
use launch::{Buffer, Device, Held, Queue, Resources};

use super::inputs::{Lengths, range};
use crate::algorithm::{Aim, Algorithm, Fact, Measurement, Options, Problem, ProblemOption, Shape, Target, rung_of};
use crate::deviation::Deviation;
use crate::error::{WorkbenchError, invalid};
use crate::inputs::{RandomVector, in_parts};
use crate::vectors::{Computation, HostVector, Layout, Layouts, VectorProblem, Vectors, typed};
use gridstride::numbers::{Number, NumberType};
use gridstride::scan::ScanKind;
use gridstride::segments::{SegmentBounds, SegmentElement, SegmentRunner, SegmentsRung};

/// The algorithm segments, which reduces or scans each segment of a vector.
pub struct SegmentsAlgorithm;

impl Algorithm for SegmentsAlgorithm {
    fn rungs(&self) -> &'static [Rung] {
        SegmentsRung::RUNGS
    }

    fn about(&self) -> &'static str {
        "Measure the sums, scans and greatest elements of segments and check them\n\n\
         The tasks are reduce, inclusive and exclusive (scans), and argmax. Offsets are u64. Times are medians of \
         several runs after a warm-up, by device events on a GPU and by the clock in the simulator. Bandwidth counts \
         each element and offset once read and each result once written, in GB of 10⁹ bytes. It is shown beside the \
         speed of the device's own copy in the same run. The elements are small whole numbers, so no sum rounds: every \
         result must equal that of a reference on the CPU."
    }

    fn options(&self) -> &'static [ProblemOption] {
        const TYPE: ProblemOption = ProblemOption { default: "u32", ..ProblemOption::NUMBER };
        const TASK: ProblemOption = ProblemOption {
            name: "task",
            value: "TASK",
            help: "Task: reduce, inclusive, exclusive or argmax",
            default: "reduce",
            check: |text| Task::parse(text).map(drop).map_err(|error| error.to_string()),
        };
        const SEGMENTS: ProblemOption = ProblemOption {
            name: "segments",
            value: "LENGTHS",
            help: "Segments: average length, rows:LENGTH for equal lengths without offsets, or power (a power law)",
            default: "1024",
            check: |text| Lengths::parse(text).map(drop).map_err(|error| error.to_string()),
        };
        const { &[TYPE, TASK, SEGMENTS] }
    }

    fn types(&self) -> Vec<NumberType> {
        use NumberType::{F32, F64, I32, I64, U32, U64};
        vec![U32, F32, I32, U64, F64, I64]
    }

    fn problem(&self, shape: Shape, options: &Options) -> Result<Box<dyn Problem>, WorkbenchError> {
        let (mut n, lengths) = (shape.elements(), Lengths::parse(options.get("segments").unwrap_or("1024"))?);
        if let Lengths::Rows(length) = lengths {
            n -= n % length;
        }
        Ok(Box::new(SegmentsProblem {
            n,
            seed: options.seed,
            task: Task::parse(options.get("task").unwrap_or("reduce"))?,
            lengths,
            offsets: lengths.offsets(n, options.seed),
            number: options.element_type(self.name(), &self.types())?,
        }))
    }

    fn measurements(&self) -> Vec<Measurement> {
        const COPY: &[Target] = &[Target::Copy(90.0)];
        let of = Measurement::vectors("f32");
        vec![
            of.variant("reduce", &[("task", "reduce")])
                .ladder()
                .aims(const { &[Aim::vector("reduce segments f32, of 2¹⁰", 28, COPY)] })
                .small(),
            of.variant("reduce-16", &[("task", "reduce"), ("segments", "16")])
                .aims(const { &[Aim::vector("reduce segments f32, of 2⁴", 28, COPY)] }),
            of.variant("reduce-2^20", &[("task", "reduce"), ("segments", "1048576")])
                .aims(const { &[Aim::vector("reduce segments f32, of 2²⁰", 28, COPY)] }),
            of.variant("reduce-power", &[("task", "reduce"), ("segments", "power")])
                .aims(const { &[Aim::vector("reduce segments f32, power law", 28, COPY)] }),
            of.variant("inclusive", &[("task", "inclusive")])
                .aims(const { &[Aim::vector("scan segments f32, of 2¹⁰", 28, COPY)] }),
            of.variant("inclusive-16", &[("task", "inclusive"), ("segments", "16")])
                .aims(const { &[Aim::vector("scan segments f32, of 2⁴", 28, COPY)] }),
            of.variant("inclusive-2^20", &[("task", "inclusive"), ("segments", "1048576")])
                .aims(const { &[Aim::vector("scan segments f32, of 2²⁰", 28, COPY)] }),
            of.variant("inclusive-power", &[("task", "inclusive"), ("segments", "power")])
                .aims(const { &[Aim::vector("scan segments f32, power law", 28, COPY)] }),
            of.variant("argmax", &[("task", "argmax")]),
            Measurement::vectors("f64").variant("reduce", &[("task", "reduce")]),
        ]
    }
}

/// What is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Task {
    Reduce,
    Scan(ScanKind),
    ArgMax,
}

impl Task {
    const ALL: [Self; 4] =
        [Self::Reduce, Self::Scan(ScanKind::Inclusive), Self::Scan(ScanKind::Exclusive), Self::ArgMax];

    fn parse(text: &str) -> Result<Self, WorkbenchError> {
        match Self::ALL.into_iter().find(|task| task.name() == text) {
            Some(task) => Ok(task),
            None => invalid!("there is no task '{text}': use reduce, inclusive, exclusive or argmax"),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Reduce => "reduce",
            Self::Scan(ScanKind::Inclusive) => "inclusive",
            Self::Scan(ScanKind::Exclusive) => "exclusive",
            Self::ArgMax => "argmax",
        }
    }
}

/// The problem of computing on segments of `n` random elements.
struct SegmentsProblem {
    n: usize,
    seed: u64,
    task: Task,
    lengths: Lengths,
    offsets: Vec<u64>,
    number: NumberType,
}

impl SegmentsProblem {
    /// Returns element `index`: 0, 1, 2 or 3.
    fn element<T: Number>(&self, index: usize) -> T {
        T::from_f64((RandomVector::<u64>::new(self.seed, 0).bits(index) >> 62) as f64)
    }

    fn segments(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Compares the results of the segments `part` with those of a loop.
    fn deviation<T>(&self, part: Range<usize>, y: &[T], positions: &[Indexed<T>]) -> Deviation
    where
        T: Number,
        Sum: Operator<T>,
    {
        let (mut deviation, zero) = (Deviation::default(), <Sum as Operator<T>>::IDENTITY);
        for segment in part {
            let (mut sum, mut best) = (zero, (Indexed::<T>::NONE, zero));
            for (position, index) in range(&self.offsets, segment).enumerate() {
                let (before, element) = (sum, self.element::<T>(index));
                sum = Sum::combine(sum, element);
                if best.0 == Indexed::<T>::NONE || element > best.1 {
                    best = (position as u64, element);
                }
                if let Task::Scan(kind) = self.task {
                    let expected = if kind == ScanKind::Inclusive { sum } else { before };
                    deviation.add_exact(index, y[index], expected);
                }
            }
            match self.task {
                Task::Reduce => deviation.add_exact(segment, y[segment], sum),
                Task::ArgMax => {
                    deviation.add_exact(segment, positions[segment].index, best.0);
                    deviation.add_exact(segment, positions[segment].value, best.1);
                }
                Task::Scan(_) => {}
            }
        }
        deviation
    }
}

impl VectorProblem for SegmentsProblem {
    fn heading(&self) -> String {
        let Self { n, task, lengths, number, .. } = self;
        format!("{} of segments of {number}, lengths {}, n = {n}", task.name(), lengths.name())
    }

    fn properties(&self) -> Vec<(&'static str, Fact)> {
        vec![
            ("n", Fact::Count(self.n as u64)),
            ("type", Fact::Name(self.number.name())),
            ("task", Fact::Name(self.task.name())),
            ("segments", Fact::Count(self.segments() as u64)),
        ]
    }

    fn distinction(&self) -> Option<String> {
        Some(format!("{}, segments {}", self.task.name(), self.lengths.name()))
    }

    fn supports(&self, _device: &Device, _rung: &Rung) -> Result<(), WorkbenchError> {
        Ok(())
    }

    fn ladder(&self) -> &'static [Rung] {
        SegmentsRung::RUNGS
    }

    fn default_rung(&self, _device: &Device) -> &'static Rung {
        SegmentsRung::LookBack.rung()
    }

    fn layouts(&self) -> Layouts {
        let x = Layout { number: self.number, from: 0, len: self.n };
        Layouts { x, y: x, accesses: 2 }
    }

    fn moved_bytes(&self) -> u64 {
        let (value, segments) = (self.number.bytes(), self.segments());
        let offsets = if matches!(self.lengths, Lengths::Rows(_)) { 0 } else { 8 * (segments + 1) };
        let written = match self.task {
            Task::Reduce => segments * value,
            Task::Scan(_) => self.n * value,
            // An index of 8 bytes and an element, aligned to 8 bytes.
            Task::ArgMax => segments * (8 + value),
        };
        (self.n * value + offsets + written) as u64
    }

    fn fill(&self, _is_exact: bool, x: &mut HostVector) -> Result<(), WorkbenchError> {
        typed!(self.number, [f32 f64 i32 u32 i64 u64], T => {
            x.fill::<T>(|index| self.element(index));
            Ok(())
        })
    }

    fn computation(&self, device: &Device, rung: &Rung) -> Result<Box<dyn Computation + '_>, WorkbenchError> {
        let SegmentsRung::LookBack = rung_of(rung)?;
        let offsets = device.upload(if matches!(self.lengths, Lengths::Rows(_)) { &[] } else { &self.offsets[..] })?;
        typed!(self.number, [f32 f64 i32 u32 i64 u64], T => {
            let is_position = self.task == Task::ArgMax;
            let positions = device.alloc::<Indexed<T>>(if is_position { self.segments() } else { 0 })?;
            let runners = if is_position {
                Runners::Position(SegmentRunner::new(device, self.n)?)
            } else {
                Runners::Sum(SegmentRunner::new(device, self.n)?)
            };
            let computation: Box<dyn Computation + '_> =
                Box::new(SegmentsComputation::<T> { problem: self, runners, offsets, positions });
            Ok(computation)
        })
    }
}

/// The runner of a task.
enum Runners<T: SegmentElement<Sum> + SegmentElement<ArgMax>> {
    Sum(SegmentRunner<T, Sum>),
    Position(SegmentRunner<T, ArgMax>),
}

struct SegmentsComputation<'p, T: SegmentElement<Sum> + SegmentElement<ArgMax>> {
    problem: &'p SegmentsProblem,
    runners: Runners<T>,
    /// The offsets, unless the segments are rows.
    offsets: Buffer<u64>,
    positions: Buffer<Indexed<T>>,
}

impl<T> Computation for SegmentsComputation<'_, T>
where
    T: Number + SegmentElement<Sum, Output = T> + SegmentElement<ArgMax, Output = Indexed<T>>,
    Sum: Operator<T>,
{
    fn run(&mut self, queue: Queue<'_>, vectors: Vectors<'_>) -> Result<(), WorkbenchError> {
        let (x, y) = (vectors.x.view::<T>()?, vectors.y.view_mut::<T>()?);
        let bounds = match self.problem.lengths {
            Lengths::Rows(length) => SegmentBounds::Rows(length),
            _ => SegmentBounds::U64(self.offsets.view()),
        };
        match (&mut self.runners, self.problem.task) {
            (Runners::Sum(runner), Task::Scan(kind)) => runner.scan(queue, kind, x, bounds, y)?,
            (Runners::Sum(runner), _) => runner.reduce(queue, x, bounds, y.part(0, self.problem.segments()))?,
            (Runners::Position(runner), _) => runner.reduce(queue, x, bounds, self.positions.view_mut())?,
        }
        Ok(())
    }

    fn reset(&mut self, vectors: Vectors<'_>) -> Result<(), WorkbenchError> {
        self.positions.fill_zero()?;
        Ok(vectors.y.fill_zero()?)
    }

    fn compare(&mut self, vectors: Vectors<'_>) -> Result<Deviation, WorkbenchError> {
        let (y, positions) = (vectors.y.buffer::<T>()?.download()?, self.positions.download()?);
        let parts = in_parts(self.problem.segments(), |part| self.problem.deviation(part, &y, &positions));
        Ok(parts.into_iter().fold(Deviation::default(), Deviation::merge))
    }

    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        match &mut self.runners {
            Runners::Sum(runner) => runner.hold(held),
            Runners::Position(runner) => runner.hold(held),
        }
        held.shared(&self.offsets);
        self.positions.hold(held);
    }

    fn workspace_bytes(&self) -> u64 {
        match &self.runners {
            Runners::Sum(runner) => runner.temporary_bytes(),
            Runners::Position(runner) => runner.temporary_bytes(),
        }
    }

    fn is_for_series(&self) -> bool {
        true
    }
}
