//! The implementation of [`Algorithm`] for select.

use std::sync::OnceLock;

use cuda_std::{Ladder, Rung};
use launch::{Buffer, Device, Held, Queue, Resources};

use super::inputs::{SelectInput, Task};
use super::selectors::{AnySelector, Encoder, boxed};
use crate::algorithm::{
    Aim, Algorithm, Fact, Measurement, Options, Other, Problem, ProblemOption, Shape, Sizes, Target, rung_of,
};
use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use crate::vectors::{Computation, HostVector, Layout, Layouts, VectorProblem, Vectors, typed};
use gridstride::numbers::NumberType;
use gridstride::select::{
    ByFlag, Interval, RunLengthEncoder, Runs, SelectRung, check, check_encoding, default_rung, within,
};

/// The algorithm select, which selects random elements, partitions them, or removes repeated ones.
pub struct SelectAlgorithm;

impl Algorithm for SelectAlgorithm {
    fn rungs(&self) -> &'static [Rung] {
        SelectRung::RUNGS
    }

    fn about(&self) -> &'static str {
        "Measure the selection of elements of a random vector and check it\n\n\
         The tasks are select (elements below a threshold), flagged (elements with a flag of one byte), partition \
         (both parts), unique (the first element of each run of equal ones) and encode (that element and the length \
         of its run). Times are medians of several runs after a warm-up, by device events on a GPU and by the clock \
         in the simulator. Bandwidth counts each element once read and each stored element once written, and the \
         flags and lengths, in GB of 10⁹ bytes. It is shown beside the \
         speed of the device's own copy in the same run. Every element and the count must equal those of a reference \
         on the CPU."
    }

    fn options(&self) -> &'static [ProblemOption] {
        const TYPE: ProblemOption = ProblemOption { default: "u32", ..ProblemOption::NUMBER };
        const TASK: ProblemOption = ProblemOption {
            name: "task",
            value: "TASK",
            help: "Task: select, flagged, partition, unique or encode",
            default: "select",
            check: |text| Task::parse(text).map(drop).map_err(|error| error.to_string()),
        };
        const PERCENT: ProblemOption = ProblemOption {
            name: "percent",
            value: "PERCENT",
            help: "Percentage of the elements that is selected, unless the task is unique or encode",
            default: "50",
            check: |text| match text.parse::<u32>() {
                Ok(0..=100) => Ok(()),
                _ => Err("it must be a whole number from 0 to 100".into()),
            },
        };
        const RUN: ProblemOption = ProblemOption {
            name: "run",
            value: "LENGTH",
            help: "Average length of the runs of equal elements, if the task is unique or encode",
            default: "64",
            check: |text| match text.parse::<usize>() {
                Ok(1..=MAX_RUN) => Ok(()),
                _ => Err(format!("it must be a whole number from 1 to {MAX_RUN}")),
            },
        };
        const { &[TYPE, TASK, PERCENT, RUN, ProblemOption::FROM] }
    }

    fn types(&self) -> Vec<NumberType> {
        use NumberType::{F32, F64, I32, I64, U8, U16, U32, U64};
        vec![U32, F32, I32, U64, F64, I64, U16, U8]
    }

    fn problem(&self, shape: Shape, options: &Options) -> Result<Box<dyn Problem>, WorkbenchError> {
        let number = options.element_type(self.name(), &self.types())?;
        let input = SelectInput {
            task: Task::parse(options.get("task").unwrap_or("select"))?,
            n: shape.elements(),
            seed: options.seed,
            percent: options.value("percent", 50)?,
            run: options.value::<usize>("run", 64)?.clamp(1, MAX_RUN),
            from: options.value("from", 0)?,
        };
        Ok(Box::new(SelectProblem { input, number, count: OnceLock::new() }))
    }

    fn measurements(&self) -> Vec<Measurement> {
        const COPY: &[Target] = &[Target::Copy(92.0)];
        let of = Measurement::vectors("u32");
        let few = of.sizes(Sizes::Few);
        vec![
            of.variant("select-50", &[("task", "select"), ("percent", "50")])
                .ladder()
                .aims(const { &[Aim::vector("select 50 % of u32", 28, COPY)] })
                .small(),
            few.variant("select-1", &[("task", "select"), ("percent", "1")])
                .aims(const { &[Aim::vector("select 1 % of u32", 28, COPY)] }),
            few.variant("partition", &[("task", "partition")])
                .aims(const { &[Aim::vector("partition u32", 28, COPY)] }),
            few.variant("unique", &[("task", "unique")])
                .aims(const { &[Aim::vector("unique u32, runs of 64", 28, COPY)] }),
            few.variant("encode", &[("task", "encode")])
                .aims(const { &[Aim::vector("run-length encode u32, runs of 64", 28, COPY)] }),
        ]
    }

    fn others(&self) -> &'static [Other] {
        &[Other {
            name: "encode",
            idea: "Run-length encoding in one pass: the tiles also publish where their last run starts.",
            families: &["select_run_lengths"],
            shape: Shape::Vector(1 << 18),
            options: &[("task", "encode")],
            run: |device, shape, options| {
                let problem = SelectAlgorithm.problem(shape, options)?;
                problem.inputs(device)?.prepare(SelectRung::LookBack.rung())?.run(device.queue())
            },
        }]
    }
}

/// The largest average length of a run.
const MAX_RUN: usize = 1 << 40;

/// The problem of selecting from `n` random elements.
struct SelectProblem {
    input: SelectInput,
    number: NumberType,
    /// The number of selected elements of the reference, computed when it is first needed.
    count: OnceLock<usize>,
}

impl SelectProblem {
    /// Returns the number of selected elements of the reference.
    fn count(&self) -> usize {
        *self.count.get_or_init(|| {
            let counts = typed!(self.number, [f32 f64 i32 u32 i64 u64 u8 u16], T => Ok(self.input.counts::<T>()));
            counts.map_or(0, |counts: Vec<_>| counts.iter().map(|(_, count)| count).sum())
        })
    }
}

impl VectorProblem for SelectProblem {
    fn heading(&self) -> String {
        let SelectInput { task, n, percent, run, .. } = self.input;
        match task {
            Task::Unique | Task::Encode => format!("{} {}, runs of {run}, n = {n}", task.name(), self.number),
            _ => format!("{} {percent} % of {}, n = {n}", task.name(), self.number),
        }
    }

    fn properties(&self) -> Vec<(&'static str, Fact)> {
        let SelectInput { task, n, percent, run, .. } = self.input;
        let detail = match task {
            Task::Unique | Task::Encode => ("run", Fact::Count(run as u64)),
            _ => ("percent", Fact::Count(percent.into())),
        };
        vec![
            ("n", Fact::Count(n as u64)),
            ("type", Fact::Name(self.number.name())),
            ("task", Fact::Name(task.name())),
            detail,
        ]
    }

    fn distinction(&self) -> Option<String> {
        let SelectInput { task, percent, run, .. } = self.input;
        Some(if task.has_runs() {
            format!("{}, runs of {run}", task.name())
        } else {
            format!("{}, {percent} %", task.name())
        })
    }

    fn supports(&self, _device: &Device, rung: &Rung) -> Result<(), WorkbenchError> {
        let (rung, n) = (rung_of(rung)?, self.input.n);
        if self.input.task == Task::Encode {
            return Ok(check_encoding(rung, n)?);
        }
        typed!(self.number, [f32 f64 i32 u32 i64 u64 u8 u16], T => Ok(check::<T, Interval<T>>(rung)?))
    }

    fn ladder(&self) -> &'static [Rung] {
        SelectRung::RUNGS
    }

    fn default_rung(&self, device: &Device) -> &'static Rung {
        let SelectInput { task, n, from, .. } = self.input;
        if task == Task::Encode || from > 0 {
            return SelectRung::LookBack.rung();
        }
        let rung = typed!(self.number, [f32 f64 i32 u32 i64 u64 u8 u16], T => {
            Ok(default_rung::<T, Interval<T>>(device, n))
        });
        rung.unwrap_or(SelectRung::LookBack).rung()
    }

    fn layouts(&self) -> Layouts {
        let SelectInput { n, .. } = self.input;
        let x = Layout { number: self.number, from: self.input.from, len: n };
        let y = Layout { len: if self.input.stores_rejected() { 2 * n } else { n }, ..x };
        Layouts { x, y, accesses: 2 }
    }

    fn moved_bytes(&self) -> u64 {
        let SelectInput { n, task, .. } = self.input;
        let written = if self.input.stores_rejected() { n } else { self.count() };
        let others = match task {
            Task::Flagged => n,
            Task::Encode => written * size_of::<u32>(),
            _ => 0,
        };
        ((n + written) * self.number.bytes() + others) as u64
    }

    fn fill(&self, _is_exact: bool, x: &mut HostVector) -> Result<(), WorkbenchError> {
        typed!(self.number, [f32 f64 i32 u32 i64 u64 u8 u16], T => {
            x.fill::<T>(|index| self.input.element(index));
            Ok(())
        })
    }

    fn computation(&self, device: &Device, rung: &Rung) -> Result<Box<dyn Computation + '_>, WorkbenchError> {
        let (rung, n) = (rung_of(rung)?, self.input.n);
        let selector = typed!(self.number, [f32 f64 i32 u32 i64 u64 u8 u16], T => {
            let selector: Box<dyn AnySelector> = match self.input.task {
                Task::Select | Task::Partition => boxed::<T, Interval<T>>(device, rung, n, |input| {
                    within(..input.threshold::<T>())
                })?,
                Task::Flagged => boxed::<T, ByFlag>(device, rung, n, |_| ByFlag)?,
                Task::Unique => boxed::<T, Runs>(device, rung, n, |_| Runs)?,
                Task::Encode => {
                    check_encoding(rung, n)?;
                    Box::new(Encoder::<T> { encoder: RunLengthEncoder::new(device, n)?, lengths: device.alloc(n)? })
                }
            };
            Ok(selector)
        });
        let flags = match self.input.task {
            Task::Flagged => device.upload(&(0..n).map(|index| self.input.flag(index)).collect::<Vec<_>>())?,
            _ => device.alloc(0)?,
        };
        Ok(Box::new(SelectComputation { problem: self, selector: selector?, flags, count: device.alloc(1)? }))
    }
}

struct SelectComputation<'p> {
    problem: &'p SelectProblem,
    selector: Box<dyn AnySelector>,
    /// The flags, or no elements if the task needs none.
    flags: Buffer<u8>,
    count: Buffer<u64>,
}

impl Computation for SelectComputation<'_> {
    fn run(&mut self, queue: Queue<'_>, vectors: Vectors<'_>) -> Result<(), WorkbenchError> {
        self.selector.run(queue, &self.problem.input, vectors, &self.flags, &mut self.count)
    }

    fn reset(&mut self, vectors: Vectors<'_>) -> Result<(), WorkbenchError> {
        // Sets a wrong count, because an earlier count must not affect the result.
        self.count.upload(&[u64::MAX])?;
        self.selector.reset()?;
        Ok(vectors.y.fill_zero()?)
    }

    fn compare(&mut self, vectors: Vectors<'_>) -> Result<Deviation, WorkbenchError> {
        let mut count = [0];
        self.count.download_into(&mut count)?;
        self.selector.compare(&self.problem.input, count[0], vectors)
    }

    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.selector.hold(held);
        held.shared(&self.flags);
        self.count.hold(held);
    }

    fn workspace_bytes(&self) -> u64 {
        self.selector.temporary_bytes()
    }

    fn is_for_series(&self) -> bool {
        true
    }
}
