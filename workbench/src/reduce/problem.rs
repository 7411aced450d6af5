//! Reduction as an [`Algorithm`].

use cuda_std::{Global, Ladder, Rung};
use launch::{Buffer, Device, Held, Queue, Resources};

use super::inputs::{Factor, element};
use super::operation::{AnyReducer, AnySplitReducer, Operation};
use super::reference::Answer;
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
use gridstride::numbers::{OperatorName, with_number, with_operator};
use gridstride::reduce::{Plan, ReduceRung, before_first_vector};
use multi::team::Team;

/// Reduction by an operator.
pub struct ReduceAlgorithm;

impl Algorithm for ReduceAlgorithm {
    fn name(&self) -> &'static str {
        ReduceRung::ALGORITHM
    }

    fn rungs(&self) -> &'static [Rung] {
        ReduceRung::RUNGS
    }

    fn about(&self) -> &'static str {
        "Measure the reduction of a vector to its sum, product, minimum or maximum, and check it\n\n\
         Times are medians of several runs after a first one, by device events on a GPU and by the clock in the simulator. \
         Bandwidth counts each element once, in GB of 10⁹ bytes, and stands beside the speed of the device's own copy in the \
         same run. Integers, minima and maxima must be exact. The sum of floats must be within r·ε·Σ|x| of a reference in \
         compensated double precision, where r is the number of roundings on the longest way through the rung's tree; their \
         product within the error that n roundings of mean zero can add up to."
    }

    fn options(&self) -> &'static [ProblemOption] {
        &[ProblemOption::NUMBER, ProblemOption::OPERATOR, ProblemOption::FROM]
    }

    fn problem(&self, shape: Shape, options: &Options) -> Result<Box<dyn Problem>, WorkbenchError> {
        let (n, seed) = (shape.elements(), options.seed);
        let number = options.element_type(self.name(), &capabilities::types(self.rungs()))?;
        let (operator, from) = (options.value("op", OperatorName::Sum)?, options.value("from", 0)?);
        with_number!(number, [f32 f64 i32 u32 i64 u64], T => {
            let operation = with_operator!(operator, O => Operation::of::<O>());
            Ok(Box::new(ReduceProblem::<T> { n, from, seed, operation }))
        }, _ => Err(WorkbenchError::Options(format!("reduce has no element type '{number}'"))))
    }

    fn measurements(&self) -> Vec<Measurement> {
        const AS_CUB: &[Target] = &[Target::Peer(1.0, "CUB")];
        vec![
            Measurement::vectors("f32").ladder().aims(const { &[Aim::vector("sum f32", 28, AS_CUB)] }).small(),
            Measurement::vectors("i32").aims(const { &[Aim::vector("sum i32", 28, AS_CUB)] }),
            Measurement::vectors("f64"),
        ]
    }

    fn scaling_measurements(&self) -> Vec<ScalingMeasurement> {
        super::scaling::measurements()
    }

    fn cases(&self) -> Vec<Case> {
        super::cases::cases()
    }
}

/// The reduction of `n` random elements of `T`.
struct ReduceProblem<T: Factor> {
    n: usize,
    /// The element of its buffer with which the vector begins.
    from: usize,
    seed: u64,
    operation: Operation<T>,
}

impl<T: Factor> ReduceProblem<T> {
    fn plan(&self, device: &Device, rung: &Rung) -> Result<Plan, WorkbenchError> {
        Ok(Plan::new(rung_of(rung)?, self.n, size_of::<T>(), device.multiprocessors()))
    }

    /// Returns the elements of `x` that are reduced.
    fn segment<'x>(&self, x: &'x Buffer<T>) -> Global<'x, T> {
        x.view().part(self.from, self.n)
    }

    fn vector(&self) -> RandomVector<T> {
        RandomVector::new(self.seed, 0)
    }

    fn element(&self, index: usize) -> T {
        element(self.operation.operator, self.vector(), self.n, index)
    }

    fn answer(&self) -> Answer<T> {
        (self.operation.answer)(self.vector(), self.n)
    }
}

impl<T: Factor> Problem for ReduceProblem<T> {
    fn title(&self) -> String {
        format!("reduce, {} of {}, n = {}{}", self.operation.operator, T::TYPE, self.n, inputs::from_element(self.from))
    }

    fn facts(&self) -> Vec<(&'static str, Fact)> {
        let operator = ("operator", Fact::Name(self.operation.operator.name()));
        let facts = vec![("n", Fact::Count(self.n as u64)), ("type", Fact::Name(T::TYPE.name())), operator];
        facts.into_iter().chain(inputs::from_fact(self.from)).collect()
    }

    fn elements(&self) -> u64 {
        self.n as u64
    }

    fn bytes(&self) -> u64 {
        (self.n as u64).saturating_mul(size_of::<T>() as u64)
    }

    fn memory_bytes(&self, device: &Device, rungs: &[&Rung]) -> u64 {
        let workspace = |rung: &&Rung| self.plan(device, rung).map_or(0, |plan| plan.workspace_bytes());
        self.bytes().saturating_add(rungs.iter().map(workspace).max().unwrap_or(0))
    }

    fn check(&self, _device: &Device, rung: &Rung) -> Result<(), WorkbenchError> {
        Ok(capabilities::check(rung_of::<ReduceRung>(rung)?, &self.operation.instance, self.n)?)
    }

    fn default_rungs(&self, _device: &Device) -> Vec<&'static Rung> {
        vec![ReduceRung::default_rung(&self.operation.instance).rung()]
    }

    fn inputs(&self, device: &Device) -> Result<Box<dyn Inputs + '_>, WorkbenchError> {
        let mut host = inputs::host_memory(self.n, REMEDY)?;
        inputs::fill_with(&mut host, |index| self.element(index));
        Ok(Box::new(OnDevice { problem: self, x: inputs::uploaded_from(device, self.from, &host)?, answer: None }))
    }

    fn split<'a>(&'a self, team: &'a Team<'a>, rung: &Rung) -> Result<Box<dyn SplitWork + 'a>, WorkbenchError> {
        Ok(Box::new(Split::new(self, team, rung_of(rung)?)?))
    }
}

struct OnDevice<'p, T: Factor> {
    problem: &'p ReduceProblem<T>,
    x: Buffer<T>,
    /// The reference's, computed when it is first needed.
    answer: Option<Answer<T>>,
}

impl<T: Factor> Inputs for OnDevice<'_, T> {
    fn prepare<'a>(&'a mut self, rung: &Rung) -> Result<Box<dyn PreparedRung + 'a>, WorkbenchError> {
        let Self { problem, x, answer } = self;
        let reducer = (problem.operation.reducer)(x.device(), problem.plan(x.device(), rung)?)?;
        Ok(Box::new(PreparedReduction { problem, x, answer, reducer, sets: Vec::new() }))
    }
}

struct PreparedReduction<'a, T: Factor> {
    problem: &'a ReduceProblem<T>,
    x: &'a Buffer<T>,
    answer: &'a mut Option<Answer<T>>,
    reducer: Box<dyn AnyReducer<T>>,
    sets: Vec<Buffer<T>>,
}

impl<T: Factor> Resources for PreparedReduction<'_, T> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        held.shared(self.x);
        self.sets.iter().for_each(|set| held.shared(set));
        self.reducer.hold(held);
    }
}

impl<T: Factor> PreparedRung for PreparedReduction<'_, T> {
    fn run(&mut self, queue: Queue<'_>) -> Result<(), WorkbenchError> {
        Ok(self.reducer.run(queue, self.problem.segment(self.x))?)
    }

    fn refresh(&mut self) -> Result<(), WorkbenchError> {
        Ok(self.reducer.refresh()?)
    }

    fn compare(&mut self) -> Result<Deviation, WorkbenchError> {
        let found = self.reducer.result().download()?;
        let problem = self.problem;
        let answer = self.answer.get_or_insert_with(|| problem.answer());
        let lead = before_first_vector(problem.segment(self.x));
        let roundings = self.reducer.plan().roundings_from(lead);
        Ok(found.first().map_or_else(Deviation::default, |&found| answer.deviation(found, roundings)))
    }

    fn workspace_bytes(&self) -> u64 {
        self.reducer.plan().workspace_bytes()
    }

    fn is_for_series(&self) -> bool {
        true
    }

    fn make_sets(&mut self, sets: usize) -> Result<(), WorkbenchError> {
        self.sets = (0..sets).map(|_| inputs::copied(self.x)).collect::<Result<_, _>>()?;
        Ok(())
    }

    fn run_set(&mut self, set: usize, queue: Queue<'_>) -> Result<(), WorkbenchError> {
        Ok(self.reducer.run(queue, self.problem.segment(&self.sets[set]))?)
    }
}

/// A reduction of random elements that are split over a team.
struct Split<'a, T: Factor> {
    x: Vec<Buffer<T>>,
    reducer: Box<dyn AnySplitReducer<T> + 'a>,
    answer: Answer<T>,
}

impl<'a, T: Factor> Split<'a, T> {
    fn new(problem: &ReduceProblem<T>, team: &'a Team<'a>, rung: ReduceRung) -> Result<Self, WorkbenchError> {
        let x = team.filled(problem.n, |index| problem.element(index))?;
        let reducer = (problem.operation.split)(team, rung, &x)?;
        Ok(Self { x, reducer, answer: problem.answer() })
    }
}

impl<T: Factor> SplitWork for Split<'_, T> {
    fn run(&mut self) -> Result<(), WorkbenchError> {
        Ok(self.reducer.reduce(&self.x).map(drop)?)
    }

    fn verify(&mut self) -> Result<Deviation, WorkbenchError> {
        let found = self.reducer.reduce(&self.x)?;
        Ok(self.answer.deviation(found, self.reducer.roundings()))
    }
}
