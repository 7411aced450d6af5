//! The implementation of [`Algorithm`] for saxpy.

use cuda_std::{Ladder, Rung};
use launch::{Buffer, Device, Queue};

use super::reference::{self, Reference};
use crate::algorithm::{Aim, Algorithm, Fact, Measurement, Options, Problem, ProblemOption, Shape, Target, rung_of};
use crate::deviation::Deviation;
use crate::error::{WorkbenchError, invalid};
use crate::inputs::{self, RandomVector};
use crate::scaling::{ScalingMeasurement, SplitWork};
use crate::vectors::{Computation, HostVector, Layout, Layouts, VectorProblem, Vectors, typed};
use gridstride::capabilities;
use gridstride::numbers::{Number, NumberType};
use gridstride::saxpy::{SaxpyRung, saxpy_views};
use multi::saxpy::split_saxpy;
use multi::team::Team;

/// The algorithm saxpy, which computes `y = a·x + y`.
pub struct SaxpyAlgorithm;

impl Algorithm for SaxpyAlgorithm {
    fn rungs(&self) -> &'static [Rung] {
        SaxpyRung::RUNGS
    }

    fn about(&self) -> &'static str {
        "Measure y = a·x + y and check it\n\n\
         Times are medians of several runs after a warm-up, by device events on a GPU and by the clock in the \
         simulator. Bandwidth counts three elements per index, two read and one written, in GB of 10⁹ bytes. It is \
         shown beside the speed of the device's own copy in the same run. A result is correct if it is within \
         ε·(|a·x| + |y|) of a reference in double precision, with ε = 2⁻²³ for f32 and 2⁻⁵² for f64."
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
        // Kernels take the factor in the element type.
        let a = if number == NumberType::F32 { f64::from(a as f32) } else { a };
        if !a.is_finite() {
            return invalid!(
                "--a {} is too large for f32: use --type f64, or a smaller --a",
                options.get("a").unwrap_or("2")
            );
        }
        Ok(Box::new(SaxpyProblem { a, n, from, seed, number }))
    }

    fn measurements(&self) -> Vec<Measurement> {
        const AIMS: &[Aim] = &[Aim::vector("saxpy f32", 28, &[Target::Peer(1.25, "cuBLAS"), Target::Copy(98.0)])];
        vec![Measurement::vectors("f32").ladder().aims(AIMS).small(), Measurement::vectors("f64")]
    }

    fn scaling_measurements(&self) -> Vec<ScalingMeasurement> {
        super::scaling::measurements()
    }
}

/// The problem of computing `y = a·x + y` on random vectors of `n` elements.
struct SaxpyProblem {
    a: f64,
    n: usize,
    /// The index in the buffers at which the vectors begin.
    from: usize,
    seed: u64,
    number: NumberType,
}

impl SaxpyProblem {
    /// Returns the random vectors x and y.
    fn vectors<T: Number>(&self) -> [RandomVector<T>; 2] {
        [0, 1].map(|vector| RandomVector::new(self.seed, vector))
    }
}

impl VectorProblem for SaxpyProblem {
    fn heading(&self) -> String {
        format!("saxpy, {}, n = {}, a = {}", self.number, self.n, inputs::text(self.number, self.a))
    }

    fn properties(&self) -> Vec<(&'static str, Fact)> {
        let a = ("a", Fact::Number(self.a));
        vec![("n", Fact::Count(self.n as u64)), a, ("type", Fact::Name(self.number.name()))]
    }

    fn on_team<'a>(&'a self, team: &'a Team<'a>, rung: &Rung) -> Result<Box<dyn SplitWork + 'a>, WorkbenchError> {
        typed!(self.number, [f32 f64], T => Ok(Box::new(Split::<T>::new(self, team, rung_of(rung)?)?)))
    }

    fn ladder(&self) -> &'static [Rung] {
        SaxpyRung::RUNGS
    }

    fn layouts(&self) -> Layouts {
        // A run reads x and y and writes y.
        let x = Layout { number: self.number, from: self.from, len: self.n };
        Layouts { x, y: x, accesses: 3 }
    }

    fn fill(&self, _is_exact: bool, x: &mut HostVector) -> Result<(), WorkbenchError> {
        x.fill_random(self.number, self.seed, 0)
    }

    fn computation(&self, device: &Device, rung: &Rung) -> Result<Box<dyn Computation + '_>, WorkbenchError> {
        self.supports(device, rung)?;
        Ok(Box::new(SaxpyComputation { problem: self, rung: rung_of(rung)? }))
    }
}

struct SaxpyComputation<'p> {
    problem: &'p SaxpyProblem,
    rung: SaxpyRung,
}

impl Computation for SaxpyComputation<'_> {
    fn run(&mut self, queue: Queue<'_>, Vectors { x, y, .. }: Vectors<'_>) -> Result<(), WorkbenchError> {
        typed!(self.problem.number, [f32 f64], T => {
            Ok(saxpy_views(queue, self.rung, T::from_f64(self.problem.a), x.view()?, y.view_mut()?)?)
        })
    }

    fn reset(&mut self, Vectors { y, host, .. }: Vectors<'_>) -> Result<(), WorkbenchError> {
        host.fill_random(self.problem.number, self.problem.seed, 1)?;
        Ok(y.upload(host)?)
    }

    fn compare(&mut self, Vectors { y, host, .. }: Vectors<'_>) -> Result<Deviation, WorkbenchError> {
        y.download(host)?;
        typed!(self.problem.number, [f32 f64], T => {
            let [x, y] = self.problem.vectors();
            Ok(reference::deviation(T::from_f64(self.problem.a), x, y, host.elements()))
        })
    }
}

/// The work of saxpy on random vectors that are split over a team of devices.
struct Split<'a, T: Reference> {
    problem: &'a SaxpyProblem,
    team: &'a Team<'a>,
    rung: SaxpyRung,
    x: Vec<Buffer<T>>,
    y: Vec<Buffer<T>>,
}

impl<'a, T: Reference> Split<'a, T> {
    fn new(problem: &'a SaxpyProblem, team: &'a Team<'a>, rung: SaxpyRung) -> Result<Self, WorkbenchError> {
        let [x, y] = problem.vectors::<T>().map(|vector| team.filled(problem.n, move |index| vector.element(index)));
        Ok(Self { problem, team, rung, x: x?, y: y? })
    }
}

impl<T: Reference> SplitWork for Split<'_, T> {
    fn run(&mut self) -> Result<(), WorkbenchError> {
        Ok(split_saxpy(self.team, self.rung, T::from_f64(self.problem.a), &self.x, &mut self.y)?)
    }

    fn verify(&mut self) -> Result<Deviation, WorkbenchError> {
        let [x, y] = self.problem.vectors();
        // Frees the old buffers before new ones are allocated.
        self.y.clear();
        self.y = self.team.filled(self.problem.n, |index| y.element(index))?;
        self.run()?;
        let mut deviation = Deviation::default();
        for (buffer, segment) in self.y.iter().zip(self.team.segments(self.problem.n)) {
            let (a, found) = (T::from_f64(self.problem.a), buffer.download()?);
            deviation = deviation.merge(reference::deviation_from(segment.start, a, x, y, &found));
        }
        Ok(deviation)
    }
}
