//! saxpy as an [`Algorithm`].

use cuda_std::{Ladder, Rung};
use launch::{Buffer, Device, Held, LaunchConfig, Queue, Resources};

use super::reference::{self, Reference};
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
use gridstride::numbers::{NumberType, with_number};
use gridstride::saxpy::{SaxpyRung, launch, plan};
use multi::saxpy::split_saxpy;
use multi::team::Team;

/// `y = a·x + y`.
pub struct Saxpy;

impl Algorithm for Saxpy {
    fn name(&self) -> &'static str {
        SaxpyRung::ALGORITHM
    }

    fn rungs(&self) -> &'static [Rung] {
        SaxpyRung::RUNGS
    }

    fn about(&self) -> &'static str {
        "Measure y = a·x + y and check it\n\n\
         Times are medians of several runs after a first one, by device events on a GPU and by the clock in the simulator. \
         Bandwidth counts three elements for each, two read and one written, in GB of 10⁹ bytes, and stands beside the speed \
         of the device's own copy in the same run. A result is right if it is within ε·(|a·x| + |y|) of a reference in double \
         precision, ε = 2⁻²³ for f32 and 2⁻⁵² for f64."
    }

    fn options(&self) -> &'static [ProblemOption] {
        const FACTOR: ProblemOption = ProblemOption {
            name: "a",
            value: "A",
            help: "The factor a",
            default: "2.0",
            check: |text| match text.parse::<f64>() {
                Ok(a) if a.is_finite() => Ok(()),
                _ => Err("it must be a finite number, such as 2.5".into()),
            },
        };
        &[FACTOR, ProblemOption::NUMBER, ProblemOption::FROM]
    }

    fn problem(&self, shape: Shape, options: &Options) -> Result<Box<dyn Problem>, WorkbenchError> {
        let (n, seed) = (shape.elements(), options.seed);
        let (a, from) = (options.value("a", 2.0)?, options.value("from", 0)?);
        let number = options.element_type(self.name(), &capabilities::types(self.rungs()))?;
        if number == NumberType::F32 && !(a as f32).is_finite() {
            let text = format!("--a {a:e} is too large for f32: use --type f64, or a lesser one");
            return Err(WorkbenchError::Options(text));
        }
        with_number!(number, [f32 f64], T => Ok(Box::new(Axpy::<T> { a: a as T, n, from, seed })), _ => {
            Err(WorkbenchError::Options(format!("saxpy has no element type '{number}'")))
        })
    }

    fn measurements(&self) -> Vec<Measurement> {
        const AIMS: &[Aim] = &[Aim::vector("saxpy f32", 28, &[Target::Peer(1.25, "cuBLAS"), Target::Copy(98.0)])];
        vec![Measurement::vectors("f32").ladder().aims(AIMS).small(), Measurement::vectors("f64")]
    }

    fn scaling_measurements(&self) -> Vec<ScalingMeasurement> {
        super::scaling::measurements()
    }

    fn cases(&self) -> Vec<Case> {
        super::cases::cases()
    }
}

/// `y = a·x + y` on random vectors of `n` elements.
pub(super) struct Axpy<T> {
    pub(super) a: T,
    pub(super) n: usize,
    /// The element of their buffers with which the vectors begin.
    from: usize,
    seed: u64,
}

impl<T: Reference> Axpy<T> {
    /// x and y.
    pub(super) fn vectors(&self) -> [RandomVector<T>; 2] {
        [0, 1].map(|vector| RandomVector::new(self.seed, vector))
    }
}

impl<T: Reference> Problem for Axpy<T> {
    fn title(&self) -> String {
        format!("saxpy, {}, n = {}, a = {}{}", T::TYPE, self.n, self.a, inputs::from_element(self.from))
    }

    fn facts(&self) -> Vec<(&'static str, Fact)> {
        let a = ("a", Fact::Number(self.a.to_f64()));
        let facts = vec![("n", Fact::Count(self.n as u64)), a, ("type", Fact::Name(T::TYPE.name()))];
        facts.into_iter().chain(inputs::from_fact(self.from)).collect()
    }

    fn elements(&self) -> u64 {
        self.n as u64
    }

    fn bytes(&self) -> u64 {
        // x and y are read, y is written.
        (self.n as u64).saturating_mul(3 * size_of::<T>() as u64)
    }

    fn memory_bytes(&self, _device: &Device, _rungs: &[&Rung]) -> u64 {
        (self.n as u64).saturating_mul(2 * size_of::<T>() as u64)
    }

    fn check(&self, _device: &Device, rung: &Rung) -> Result<(), WorkbenchError> {
        Ok(capabilities::check(rung_of::<SaxpyRung>(rung)?, &capabilities::of_type::<T>(), self.n)?)
    }

    fn default_rungs(&self, _device: &Device) -> Vec<&'static Rung> {
        vec![SaxpyRung::default_rung(&capabilities::of_type::<T>()).rung()]
    }

    fn inputs(&self, device: &Device) -> Result<Box<dyn Inputs + '_>, WorkbenchError> {
        let [x, y] = self.vectors();
        let mut host = inputs::host_memory(self.n, REMEDY)?;
        x.fill(&mut host);
        let x = inputs::uploaded_from(device, self.from, &host)?;
        y.fill(&mut host);
        Ok(Box::new(OnDevice { problem: self, x, y: inputs::uploaded_from(device, self.from, &host)?, host }))
    }

    fn split<'a>(&'a self, team: &'a Team<'a>, rung: &Rung) -> Result<Box<dyn SplitWork + 'a>, WorkbenchError> {
        Ok(Box::new(Split::new(self, team, rung_of(rung)?)?))
    }
}

struct OnDevice<'p, T: Reference> {
    problem: &'p Axpy<T>,
    x: Buffer<T>,
    y: Buffer<T>,
    host: Vec<T>,
}

impl<T: Reference> Inputs for OnDevice<'_, T> {
    fn prepare<'a>(&'a mut self, rung: &Rung) -> Result<Box<dyn PreparedRung + 'a>, WorkbenchError> {
        self.problem.check(self.x.device(), rung)?;
        let rung = rung_of(rung)?;
        let plan = plan::<T>(rung, self.problem.n, self.x.device());
        Ok(Box::new(Ready { rung, plan, on: self }))
    }
}

struct Ready<'a, 'p, T: Reference> {
    rung: SaxpyRung,
    plan: LaunchConfig,
    on: &'a mut OnDevice<'p, T>,
}

impl<T: Reference> Resources for Ready<'_, '_, T> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        held.shared(&self.on.x);
        self.on.y.hold(held);
    }
}

impl<T: Reference> PreparedRung for Ready<'_, '_, T> {
    fn run(&mut self, queue: Queue<'_>) -> Result<(), WorkbenchError> {
        let OnDevice { problem: Axpy { a, n, from, .. }, x, y, .. } = &mut *self.on;
        Ok(launch(queue, self.rung, self.plan, *a, x.view().part(*from, *n), y.view_mut().part(*from, *n))?)
    }

    fn refresh(&mut self) -> Result<(), WorkbenchError> {
        let [_, y] = self.on.problem.vectors();
        y.fill(&mut self.on.host);
        Ok(self.on.y.upload_range(self.on.problem.from, &self.on.host)?)
    }

    fn compare(&mut self) -> Result<Deviation, WorkbenchError> {
        let [x, y] = self.on.problem.vectors();
        self.on.y.download_range(self.on.problem.from, &mut self.on.host)?;
        Ok(reference::deviation(self.on.problem.a, x, y, &self.on.host))
    }

    fn workspace_bytes(&self) -> u64 {
        0
    }
}

/// saxpy of random vectors that are split over a team.
struct Split<'a, T: Reference> {
    problem: &'a Axpy<T>,
    team: &'a Team<'a>,
    rung: SaxpyRung,
    x: Vec<Buffer<T>>,
    y: Vec<Buffer<T>>,
}

impl<'a, T: Reference> Split<'a, T> {
    fn new(problem: &'a Axpy<T>, team: &'a Team<'a>, rung: SaxpyRung) -> Result<Self, WorkbenchError> {
        let [x, y] = problem.vectors().map(|vector| team.filled(problem.n, move |index| vector.element(index)));
        Ok(Self { problem, team, rung, x: x?, y: y? })
    }
}

impl<T: Reference> SplitWork for Split<'_, T> {
    fn run(&mut self) -> Result<(), WorkbenchError> {
        Ok(split_saxpy(self.team, self.rung, self.problem.a, &self.x, &mut self.y)?)
    }

    fn verify(&mut self) -> Result<Deviation, WorkbenchError> {
        let [x, y] = self.problem.vectors();
        let mut host = Vec::new();
        for (buffer, part) in self.y.iter_mut().zip(self.team.segments(self.problem.n)) {
            host.resize(part.len(), T::zeroed());
            inputs::fill_with(&mut host, |index| y.element(part.start + index));
            buffer.upload(&host)?;
        }
        self.run()?;
        let mut deviation = Deviation::default();
        for (buffer, part) in self.y.iter().zip(self.team.segments(self.problem.n)) {
            let found = buffer.download()?;
            deviation = deviation.merge(reference::deviation_from(part.start, self.problem.a, x, y, &found));
        }
        Ok(deviation)
    }
}
