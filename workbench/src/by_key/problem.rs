//! The implementation of [`Algorithm`] for by key.

use std::sync::OnceLock;

use cuda_std::{Ladder, Rung};
use gpu::operator::{Operator, Sum};
use launch::{Buffer, Device, Held, Queue, Resources};

use super::reference::{ByKeyResults, by_key};
use crate::algorithm::{Aim, Algorithm, Fact, Measurement, Options, Problem, ProblemOption, Shape, Sizes, Target, rung_of};
use crate::deviation::Deviation;
use crate::error::{WorkbenchError, invalid};
use crate::inputs::RandomVector;
use crate::select::inputs::run_at;
use crate::vectors::{Computation, HostVector, Layout, Layouts, VectorProblem, Vectors, typed};
use gridstride::by_key::{ByKeyElement, ByKeyRung, ByKeyRunner, check};
use gridstride::numbers::{Number, NumberType};
use gridstride::scan::ScanKind;

/// The algorithm by key, which scans or reduces the values of runs of equal keys.
pub struct ByKeyAlgorithm;

impl Algorithm for ByKeyAlgorithm {
    fn rungs(&self) -> &'static [Rung] {
        ByKeyRung::RUNGS
    }

    fn about(&self) -> &'static str {
        "Measure the sums of the values of each run of equal keys and check them\n\n\
         The tasks are reduce, inclusive and exclusive (scans). Keys are u32. Times are medians of several runs after \
         a warm-up, by device events on a GPU and by the clock in the simulator. Bandwidth counts each key and value \
         once read and each result once written, in GB of 10⁹ bytes. It is shown beside the speed of the device's own \
         copy in the same run. The values are small whole numbers, so no sum rounds: every result must equal that of a \
         reference on the CPU."
    }

    fn options(&self) -> &'static [ProblemOption] {
        const TYPE: ProblemOption = ProblemOption { default: "u32", ..ProblemOption::NUMBER };
        const TASK: ProblemOption = ProblemOption {
            name: "task",
            value: "TASK",
            help: "Task: reduce, inclusive or exclusive",
            default: "reduce",
            check: |text| Task::parse(text).map(drop).map_err(|error| error.to_string()),
        };
        const RUN: ProblemOption = ProblemOption {
            name: "run",
            value: "LENGTH",
            help: "Average length of the runs of equal keys",
            default: "64",
            check: |text| match text.parse::<usize>() {
                Ok(1..=MAX_RUN) => Ok(()),
                _ => Err(format!("it must be a whole number from 1 to {MAX_RUN}")),
            },
        };
        const { &[TYPE, TASK, RUN] }
    }

    fn types(&self) -> Vec<NumberType> {
        use NumberType::{F32, F64, I32, I64, U32, U64};
        vec![U32, F32, I32, U64, F64, I64]
    }

    fn problem(&self, shape: Shape, options: &Options) -> Result<Box<dyn Problem>, WorkbenchError> {
        Ok(Box::new(ByKeyProblem {
            n: shape.elements(),
            seed: options.seed,
            task: Task::parse(options.get("task").unwrap_or("reduce"))?,
            run: options.value::<usize>("run", 64)?.clamp(1, MAX_RUN),
            number: options.element_type(self.name(), &self.types())?,
            runs: OnceLock::new(),
        }))
    }

    fn measurements(&self) -> Vec<Measurement> {
        const COPY: &[Target] = &[Target::Copy(90.0)];
        let of = Measurement::vectors("u32");
        let few = of.sizes(Sizes::Few);
        vec![
            of.variant("reduce", &[("task", "reduce")])
                .ladder()
                .aims(const { &[Aim::vector("reduce by key u32, runs of 64", 28, COPY)] })
                .small(),
            few.variant("reduce-1", &[("task", "reduce"), ("run", "1")])
                .aims(const { &[Aim::vector("reduce by key u32, runs of 1", 28, COPY)] }),
            few.variant("reduce-2", &[("task", "reduce"), ("run", "2")])
                .aims(const { &[Aim::vector("reduce by key u32, runs of 2", 28, COPY)] }),
            few.variant("reduce-10000", &[("task", "reduce"), ("run", "10000")])
                .aims(const { &[Aim::vector("reduce by key u32, runs of 10⁴", 28, COPY)] }),
            of.variant("inclusive", &[("task", "inclusive")])
                .aims(const { &[Aim::vector("scan by key u32, runs of 64", 28, COPY)] })
                .small(),
            few.variant("inclusive-1", &[("task", "inclusive"), ("run", "1")])
                .aims(const { &[Aim::vector("scan by key u32, runs of 1", 28, COPY)] }),
            few.variant("inclusive-10000", &[("task", "inclusive"), ("run", "10000")])
                .aims(const { &[Aim::vector("scan by key u32, runs of 10⁴", 28, COPY)] }),
            Measurement::vectors("f64").sizes(Sizes::Few).variant("reduce", &[("task", "reduce")]),
        ]
    }
}

/// The largest average length of a run. The sum of a run is then exact in `f32`.
const MAX_RUN: usize = 1 << 21;

/// What is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Task {
    Reduce,
    Scan(ScanKind),
}

impl Task {
    const ALL: [Self; 3] = [Self::Reduce, Self::Scan(ScanKind::Inclusive), Self::Scan(ScanKind::Exclusive)];

    fn parse(text: &str) -> Result<Self, WorkbenchError> {
        match Self::ALL.into_iter().find(|task| task.name() == text) {
            Some(task) => Ok(task),
            None => invalid!("there is no task '{text}': use reduce, inclusive or exclusive"),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Reduce => "reduce",
            Self::Scan(ScanKind::Inclusive) => "inclusive",
            Self::Scan(ScanKind::Exclusive) => "exclusive",
        }
    }
}

/// The problem of computing by key on `n` random values.
struct ByKeyProblem {
    n: usize,
    seed: u64,
    task: Task,
    /// The average length of a run.
    run: usize,
    number: NumberType,
    /// The number of runs, computed when it is first needed.
    runs: OnceLock<usize>,
}

impl ByKeyProblem {
    /// Returns the key of element `index`, which differs from the keys of the runs before and after.
    fn key(&self, index: usize) -> u32 {
        run_at(self.seed, self.run, index) as u32
    }

    /// Returns value `index`: 0, 1, 2 or 3.
    fn value<T: Number>(&self, index: usize) -> T {
        T::from_f64((RandomVector::<u64>::new(self.seed, 0).bits(index) >> 62) as f64)
    }

    fn runs(&self) -> usize {
        let begins = |&index: &usize| index == 0 || self.key(index) != self.key(index - 1);
        *self.runs.get_or_init(|| (0..self.n).filter(begins).count())
    }
}

impl VectorProblem for ByKeyProblem {
    fn heading(&self) -> String {
        let Self { n, task, run, number, .. } = self;
        format!("{} by key, sum of {number}, runs of {run}, n = {n}", task.name())
    }

    fn properties(&self) -> Vec<(&'static str, Fact)> {
        vec![
            ("n", Fact::Count(self.n as u64)),
            ("type", Fact::Name(self.number.name())),
            ("task", Fact::Name(self.task.name())),
            ("run", Fact::Count(self.run as u64)),
        ]
    }

    fn distinction(&self) -> Option<String> {
        Some(format!("{}, runs of {}", self.task.name(), self.run))
    }

    fn supports(&self, _device: &Device, rung: &Rung) -> Result<(), WorkbenchError> {
        let rung = rung_of(rung)?;
        typed!(self.number, [f32 f64 i32 u32 i64 u64], T => Ok(check::<u32, T, Sum>(rung)?))
    }

    fn ladder(&self) -> &'static [Rung] {
        ByKeyRung::RUNGS
    }

    fn default_rung(&self, _device: &Device) -> &'static Rung {
        ByKeyRung::LookBack.rung()
    }

    fn layouts(&self) -> Layouts {
        let x = Layout { number: self.number, from: 0, len: self.n };
        Layouts { x, y: x, accesses: 2 }
    }

    fn moved_bytes(&self) -> u64 {
        let (key, value) = (size_of::<u32>(), self.number.bytes());
        let written = match self.task {
            Task::Reduce => self.runs() * (key + value),
            Task::Scan(_) => self.n * value,
        };
        (self.n * (key + value) + written) as u64
    }

    fn fill(&self, _is_exact: bool, x: &mut HostVector) -> Result<(), WorkbenchError> {
        typed!(self.number, [f32 f64 i32 u32 i64 u64], T => {
            x.fill::<T>(|index| self.value(index));
            Ok(())
        })
    }

    fn computation(&self, device: &Device, rung: &Rung) -> Result<Box<dyn Computation + '_>, WorkbenchError> {
        let (rung, n) = (rung_of(rung)?, self.n);
        let keys: Vec<u32> = (0..n).map(|index| self.key(index)).collect();
        let runner = typed!(self.number, [f32 f64 i32 u32 i64 u64], T => {
            let runner: Box<dyn AnyRunner> = Box::new(ByKeyRunner::<u32, T, Sum>::with_rung(device, rung, n)?);
            Ok(runner)
        });
        let buffers = (device.upload(&keys)?, device.alloc(n)?, device.alloc(1)?);
        Ok(Box::new(ByKeyComputation { problem: self, runner: runner?, buffers }))
    }
}

/// The keys, the keys of the runs, and the number of runs.
type Buffers = (Buffer<u32>, Buffer<u32>, Buffer<u64>);

/// A [`ByKeyRunner`] of any value type.
trait AnyRunner: Resources {
    fn run(
        &mut self,
        queue: Queue<'_>,
        task: Task,
        vectors: Vectors<'_>,
        buffers: &mut Buffers,
    ) -> Result<(), WorkbenchError>;

    fn compare(&self, problem: &ByKeyProblem, y: Vectors<'_>, buffers: &Buffers) -> Result<Deviation, WorkbenchError>;

    fn temporary_bytes(&self) -> u64;
}

impl<T: Number + ByKeyElement<Sum>> AnyRunner for ByKeyRunner<u32, T, Sum>
where
    Sum: Operator<T>,
{
    fn run(
        &mut self,
        queue: Queue<'_>,
        task: Task,
        vectors: Vectors<'_>,
        (keys, y_keys, count): &mut Buffers,
    ) -> Result<(), WorkbenchError> {
        let (keys, values, y) = (keys.view(), vectors.x.view()?, vectors.y.view_mut()?);
        match task {
            Task::Reduce => self.reduce(queue, keys, values, (y_keys.view_mut(), y, count.view_mut()))?,
            Task::Scan(kind) => self.scan(queue, kind, keys, values, y)?,
        }
        Ok(())
    }

    fn compare(
        &self,
        problem: &ByKeyProblem,
        vectors: Vectors<'_>,
        buffers: &Buffers,
    ) -> Result<Deviation, WorkbenchError> {
        let found = vectors.y.buffer::<T>()?.download()?;
        let keys: Vec<u32> = (0..problem.n).map(|index| problem.key(index)).collect();
        let values: Vec<T> = (0..problem.n).map(|index| problem.value(index)).collect();
        let ByKeyResults { inclusive, exclusive, keys, reduced } = by_key::<_, _, Sum>(&keys, &values);
        Ok(match problem.task {
            Task::Scan(ScanKind::Inclusive) => Deviation::of_exact(&found, |index| inclusive[index]),
            Task::Scan(ScanKind::Exclusive) => Deviation::of_exact(&found, |index| exclusive[index]),
            Task::Reduce => {
                let (_, y_keys, count) = buffers;
                let mut deviation = Deviation::of_exact(&count.download()?, |_| keys.len() as u64);
                let y_keys = y_keys.download()?;
                deviation = deviation.merge(Deviation::of_exact(&y_keys[..keys.len()], |run| keys[run]));
                deviation.merge(Deviation::of_exact(&found[..keys.len()], |run| reduced[run]))
            }
        })
    }

    fn temporary_bytes(&self) -> u64 {
        self.temporary_bytes()
    }
}

struct ByKeyComputation<'p> {
    problem: &'p ByKeyProblem,
    runner: Box<dyn AnyRunner>,
    buffers: Buffers,
}

impl Computation for ByKeyComputation<'_> {
    fn run(&mut self, queue: Queue<'_>, vectors: Vectors<'_>) -> Result<(), WorkbenchError> {
        self.runner.run(queue, self.problem.task, vectors, &mut self.buffers)
    }

    fn reset(&mut self, vectors: Vectors<'_>) -> Result<(), WorkbenchError> {
        // Sets a wrong count, because an earlier count must not affect the result.
        self.buffers.2.upload(&[u64::MAX])?;
        self.buffers.1.fill_zero()?;
        Ok(vectors.y.fill_zero()?)
    }

    fn compare(&mut self, vectors: Vectors<'_>) -> Result<Deviation, WorkbenchError> {
        self.runner.compare(self.problem, vectors, &self.buffers)
    }

    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.runner.hold(held);
        held.shared(&self.buffers.0);
        self.buffers.1.hold(held);
        self.buffers.2.hold(held);
    }

    fn workspace_bytes(&self) -> u64 {
        self.runner.temporary_bytes()
    }

    fn is_for_series(&self) -> bool {
        true
    }
}
