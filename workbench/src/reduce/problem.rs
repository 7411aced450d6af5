//! The implementation of [`Algorithm`] for reduce.

use std::sync::OnceLock;

use cuda_std::{ArgumentId, Ladder, Rung, bf16, f16};
use launch::{Device, Held, Queue};

use super::inputs::element;
use super::operation::{AnyReducer, Judge, Operation, Reduction};
use crate::algorithm::{Aim, Algorithm, Fact, Measurement, Options, Problem, ProblemOption, Shape, Target, rung_of};
use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use crate::inputs::RandomVector;
use crate::scaling::{ScalingMeasurement, SplitWork};
use crate::vectors::{Computation, HostVector, Layout, Layouts, VectorProblem, Vectors, typed, wrong_type};
use gridstride::capabilities;
use gridstride::numbers::{OperatorName, with_operator};
use gridstride::reduce::{Plan, ReduceRung};
use multi::team::Team;

/// The option for the reduction.
const REDUCTION: ProblemOption = ProblemOption {
    help: "Operator: sum, product, min or max; integers wrap; argmin or argmax: the first position",
    check: |text| text.parse::<Reduction>().map(drop),
    ..ProblemOption::OPERATOR
};

/// The algorithm reduce: combines all elements of a vector by an operator.
pub struct ReduceAlgorithm;

impl Algorithm for ReduceAlgorithm {
    fn rungs(&self) -> &'static [Rung] {
        ReduceRung::RUNGS
    }

    fn about(&self) -> &'static str {
        "Measure the reduction of a vector to its sum, product, minimum, maximum or extreme position, and check it\n\n\
         Times are medians of several runs after a warm-up, by device events on a GPU and by the clock in the \
         simulator. Bandwidth counts each element once, in GB of 10⁹ bytes. It is shown beside the speed of the \
         device's own copy in the same run. Integers, minima and maxima must be exact. The sum of floats must be \
         within r·ε·Σ|x| of a reference in compensated double precision, where r is the largest number of roundings \
         on a path through the rung's tree. The types f16 and bf16 are reduced in f32 and rounded once. The \
         relative error of a product of k floats other than 1 must be at most (1 + ε/2)^(k−1) − 1."
    }

    fn options(&self) -> &'static [ProblemOption] {
        &[ProblemOption::NUMBER, REDUCTION, ProblemOption::FROM]
    }

    fn problem(&self, shape: Shape, options: &Options) -> Result<Box<dyn Problem>, WorkbenchError> {
        let (n, seed) = (shape.elements(), options.seed);
        let number = options.element_type(self.name(), &capabilities::types(self.rungs()))?;
        let reduction = options.value("op", Reduction::Operator(OperatorName::Sum))?;
        let from = options.value("from", 0)?;
        let operation = match reduction {
            Reduction::Operator(operator) => {
                capabilities::check(ReduceRung::GridStride, &[number.id(), operator.id()], n)?;
                with_operator!(operator, [Minimum Maximum],
                    O => typed!(number, [f32 f64], T => Ok(Operation::of::<T, O>())),
                    _ => typed!(number, [f32 f64 i32 u32 i64 u64 u8 f16 bf16 i8], T => {
                        with_operator!(operator, [Sum Product Min Max], O => Ok(Operation::of::<T, O>()),
                            _ => Err(wrong_type(number)))
                    })
                )
            }
            Reduction::ArgMin => {
                typed!(number, [f32 f64 i32 u32 i64 u64 u8 f16 bf16 i8], T => Ok(Operation::least::<T>()))
            }
            Reduction::ArgMax => {
                typed!(number, [f32 f64 i32 u32 i64 u64 u8 f16 bf16 i8], T => Ok(Operation::greatest::<T>()))
            }
        };
        Ok(Box::new(ReduceProblem { n, from, seed, operation: operation?, judge: OnceLock::new() }))
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
}

/// The problem of reducing `n` random elements.
struct ReduceProblem {
    n: usize,
    /// The index in the buffer at which the vector begins.
    from: usize,
    seed: u64,
    operation: Operation,
    /// The comparison with the reference, created when it is first needed.
    judge: OnceLock<Judge>,
}

impl ReduceProblem {
    fn plan(&self, device: &Device, rung: &Rung) -> Result<Plan, WorkbenchError> {
        Ok(Plan::new(rung_of(rung)?, self.n, self.operation.number.bytes(), device.multiprocessors()))
    }
}

impl VectorProblem for ReduceProblem {
    fn heading(&self) -> String {
        let Operation { reduction, number, .. } = self.operation;
        format!("reduce, {} of {number}, n = {}", reduction.name(), self.n)
    }

    fn properties(&self) -> Vec<(&'static str, Fact)> {
        let Operation { reduction, number, .. } = self.operation;
        let operator = ("operator", Fact::Name(reduction.name()));
        vec![("n", Fact::Count(self.n as u64)), ("type", Fact::Name(number.name())), operator]
    }

    fn on_team<'a>(&'a self, team: &'a Team<'a>, rung: &Rung) -> Result<Box<dyn SplitWork + 'a>, WorkbenchError> {
        (self.operation.split)(team, rung_of(rung)?, self.n, self.seed)
    }

    fn instance(&self) -> Vec<ArgumentId> {
        self.operation.instance.to_vec()
    }

    fn workspace_bytes(&self, device: &Device, rung: &Rung) -> u64 {
        self.plan(device, rung).map_or(0, |plan| plan.workspace_bytes())
    }

    fn ladder(&self) -> &'static [Rung] {
        ReduceRung::RUNGS
    }

    fn layouts(&self) -> Layouts {
        let x = Layout { number: self.operation.number, from: self.from, len: self.n };
        // The reducer owns a buffer for the result.
        Layouts { x, y: Layout { from: 0, len: 0, ..x }, accesses: 1 }
    }

    fn fill(&self, _is_exact: bool, x: &mut HostVector) -> Result<(), WorkbenchError> {
        typed!(self.operation.number, [f32 f64 i32 u32 i64 u64 u8 f16 bf16 i8], T => {
            let vector = RandomVector::<T>::new(self.seed, 0);
            x.fill(|index| element(self.operation.reduction.of_inputs(), vector, self.n, index));
            Ok(())
        })
    }

    fn computation(&self, device: &Device, rung: &Rung) -> Result<Box<dyn Computation + '_>, WorkbenchError> {
        let reducer = (self.operation.reducer)(device, self.plan(device, rung)?)?;
        Ok(Box::new(ReduceComputation { problem: self, reducer }))
    }
}

struct ReduceComputation<'p> {
    problem: &'p ReduceProblem,
    reducer: Box<dyn AnyReducer>,
}

impl Computation for ReduceComputation<'_> {
    fn run(&mut self, queue: Queue<'_>, Vectors { x, .. }: Vectors<'_>) -> Result<(), WorkbenchError> {
        self.reducer.run(queue, x)
    }

    fn reset(&mut self, _vectors: Vectors<'_>) -> Result<(), WorkbenchError> {
        self.reducer.reset()
    }

    fn compare(&mut self, Vectors { x, .. }: Vectors<'_>) -> Result<Deviation, WorkbenchError> {
        let ReduceProblem { n, seed, operation, judge, .. } = self.problem;
        let mut found = HostVector::new(operation.result, 1)?;
        let roundings = self.reducer.result(x, &mut found)?;
        Ok(judge.get_or_init(|| (operation.judge)(*seed, *n))(&found, roundings))
    }

    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.reducer.hold(held);
    }

    fn workspace_bytes(&self) -> u64 {
        self.reducer.workspace_bytes()
    }

    fn is_for_series(&self) -> bool {
        true
    }
}
