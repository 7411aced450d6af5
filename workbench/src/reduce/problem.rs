//! Reduction as an [`Algorithm`].

use cuda_std::{Global, Ladder, Rung};
use launch::{Buffer, Device, Held, Queue, Resources};

use super::inputs::{Factor, element};
use super::reference::{self, Answer, Reference};
use crate::algorithm::{
    Aim, Algorithm, Fact, Inputs, Options, Prepared, Problem, ProblemOption, Shape, Target, Work, rung_of,
};
use crate::case::Case;
use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use crate::inputs::{self, REMEDY, RandomVector};
use crate::scaling::ScalingWork;
use crate::scaling::SplitWork;
use gridstride::capabilities;
use gridstride::numbers::{OperatorName, with_number, with_operator};
use gridstride::reduce::{Plan, ReduceElement, ReduceRung, Reducer, before_first_vector, default_rung};
use multi::reduce::SplitReduction;
use multi::team::Team;

/// Reduction by an operator.
pub struct Reduce;

impl Algorithm for Reduce {
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
        with_number!(number, [f32 f64 i32 u32 i64 u64], T => with_operator!(operator, O => {
            Ok(Box::new(Reducing::<T, O> { n, from, seed, operator: std::marker::PhantomData }))
        }), _ => Err(WorkbenchError::Options(format!("reduce has no element type '{number}'"))))
    }

    fn works(&self) -> Vec<Work> {
        const AS_CUB: &[Target] = &[Target::Peer(1.0, "CUB")];
        vec![
            Work::vectors("f32").ladder().aims(const { &[Aim::vector("sum f32", 28, AS_CUB)] }).small(),
            Work::vectors("i32").aims(const { &[Aim::vector("sum i32", 28, AS_CUB)] }),
            Work::vectors("f64"),
        ]
    }

    fn scaling_works(&self) -> Vec<ScalingWork> {
        super::scaling::works()
    }

    fn cases(&self) -> Vec<Case> {
        super::cases::cases()
    }
}

/// The reduction of `n` random elements of `T` by `O`.
pub(super) struct Reducing<T, O> {
    pub(super) n: usize,
    /// The element of its buffer with which the vector begins.
    from: usize,
    seed: u64,
    operator: std::marker::PhantomData<fn() -> (T, O)>,
}

impl<T: Factor + ReduceElement<O>, O: Reference<T>> Reducing<T, O> {
    fn plan(&self, device: &Device, rung: &Rung) -> Result<Plan, WorkbenchError> {
        Ok(Plan::new(rung_of(rung)?, self.n, size_of::<T>(), device.multiprocessors()))
    }

    /// What is reduced of `x`.
    fn part<'x>(&self, x: &'x Buffer<T>) -> Global<'x, T> {
        x.view().part(self.from, self.n)
    }

    pub(super) fn element(&self, index: usize) -> T {
        element(O::NAME, RandomVector::new(self.seed, 0), self.n, index)
    }
}

impl<T: Factor + ReduceElement<O>, O: Reference<T>> Problem for Reducing<T, O> {
    fn title(&self) -> String {
        format!("reduce, {} of {}, n = {}{}", O::NAME, T::TYPE, self.n, inputs::from_element(self.from))
    }

    fn facts(&self) -> Vec<(&'static str, Fact)> {
        let operator = ("operator", Fact::Name(O::NAME.name()));
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
        Ok(capabilities::check(rung_of::<ReduceRung>(rung)?, &capabilities::of_operator::<T, O>(), self.n)?)
    }

    fn default_rungs(&self, _device: &Device) -> Vec<&'static Rung> {
        vec![default_rung::<T, O>().rung()]
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

struct OnDevice<'p, T: Factor + ReduceElement<O>, O: Reference<T>> {
    problem: &'p Reducing<T, O>,
    x: Buffer<T>,
    /// The reference's, once somebody has asked.
    answer: Option<Answer<T>>,
}

impl<T: Factor + ReduceElement<O>, O: Reference<T>> Inputs for OnDevice<'_, T, O> {
    fn prepare<'a>(&'a mut self, rung: &Rung) -> Result<Box<dyn Prepared + 'a>, WorkbenchError> {
        let Self { problem, x, answer } = self;
        let reduction = Reducer::with_plan(x.device(), problem.plan(x.device(), rung)?)?;
        Ok(Box::new(Ready { problem, x, answer, reduction, sets: Vec::new() }))
    }
}

struct Ready<'a, T: Factor + ReduceElement<O>, O: Reference<T>> {
    problem: &'a Reducing<T, O>,
    x: &'a Buffer<T>,
    answer: &'a mut Option<Answer<T>>,
    reduction: Reducer<T, O>,
    sets: Vec<Buffer<T>>,
}

impl<T: Factor + ReduceElement<O>, O: Reference<T>> Resources for Ready<'_, T, O> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        held.shared(self.x);
        self.sets.iter().for_each(|set| held.shared(set));
        self.reduction.hold(held);
    }
}

impl<T: Factor + ReduceElement<O>, O: Reference<T>> Prepared for Ready<'_, T, O> {
    fn run(&mut self, queue: Queue<'_>) -> Result<(), WorkbenchError> {
        Ok(self.reduction.run_view(queue, self.problem.part(self.x)).map(drop)?)
    }

    fn refresh(&mut self) -> Result<(), WorkbenchError> {
        Ok(self.reduction.refresh()?)
    }

    fn compare(&mut self) -> Result<Deviation, WorkbenchError> {
        let found = self.reduction.result().download()?;
        let problem = self.problem;
        let answer =
            self.answer.get_or_insert_with(|| reference::reduce::<T, O>(problem.n, |index| problem.element(index)));
        let lead = before_first_vector(problem.part(self.x));
        let roundings = self.reduction.plan().roundings_from(lead);
        Ok(found.first().map_or_else(Deviation::default, |&found| answer.deviation(found, roundings)))
    }

    fn workspace_bytes(&self) -> u64 {
        self.reduction.plan().workspace_bytes()
    }

    fn is_for_series(&self) -> bool {
        true
    }

    fn make_sets(&mut self, sets: usize) -> Result<(), WorkbenchError> {
        self.sets = (0..sets).map(|_| inputs::copied(self.x)).collect::<Result<_, _>>()?;
        Ok(())
    }

    fn run_set(&mut self, set: usize, queue: Queue<'_>) -> Result<(), WorkbenchError> {
        Ok(self.reduction.run_view(queue, self.problem.part(&self.sets[set])).map(drop)?)
    }
}

/// A reduction of random elements that are split over a team.
struct Split<'a, T: Factor + ReduceElement<O>, O: Reference<T>> {
    x: Vec<Buffer<T>>,
    reduction: SplitReduction<'a, T, O>,
    answer: Answer<T>,
}

impl<'a, T: Factor + ReduceElement<O>, O: Reference<T>> Split<'a, T, O> {
    fn new(problem: &Reducing<T, O>, team: &'a Team<'a>, rung: ReduceRung) -> Result<Self, WorkbenchError> {
        let x = team.filled(problem.n, |index| problem.element(index))?;
        let reduction = SplitReduction::new(team, rung, &x)?;
        let answer = reference::reduce::<T, O>(problem.n, |index| problem.element(index));
        Ok(Self { x, reduction, answer })
    }
}

impl<T: Factor + ReduceElement<O>, O: Reference<T>> SplitWork for Split<'_, T, O> {
    fn run(&mut self) -> Result<(), WorkbenchError> {
        Ok(self.reduction.reduce(&self.x).map(drop)?)
    }

    fn verify(&mut self) -> Result<Deviation, WorkbenchError> {
        let found = self.reduction.reduce(&self.x)?;
        Ok(self.answer.deviation(found, self.reduction.roundings()))
    }
}
