//! The implementation of [`Algorithm`] for scan.

use cuda_std::{Ladder, Rung, bf16, f16};
use gpu::operator::Sum;
use launch::{Device, Held, Queue};

use super::operation::{AnyScanner, Operation, ScanProblem};
use super::reference;
use crate::algorithm::{Aim, Algorithm, Fact, Measurement, Options, Problem, ProblemOption, Shape, Target, rung_of};
use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use crate::scaling::{ScalingMeasurement, SplitWork};
use crate::vectors::{Computation, HostVector, Layout, Layouts, VectorProblem, Vectors, typed, wrong_type};
use gridstride::capabilities;
use gridstride::numbers::{NumberType, OperatorName, with_operator};
use gridstride::scan::{ScanKind, ScanRung};
use multi::team::Team;

/// The algorithm scan, which computes prefix scans.
pub struct ScanAlgorithm;

impl Algorithm for ScanAlgorithm {
    fn rungs(&self) -> &'static [Rung] {
        ScanRung::RUNGS
    }

    fn about(&self) -> &'static str {
        "Measure the prefix scan of a random vector and check it\n\n\
         Times are medians of several runs after a warm-up, by device events on a GPU and by the clock in the \
         simulator. For every kernel, bandwidth counts each element once read and once written, in GB of 10⁹ bytes. \
         It is shown beside the speed of the device's own copy in the same run. A sum of floats must be within \
         depth·ε·Σ|x| of a reference in double precision or better, where depth is the largest number of the \
         kernel's additions on the path from an element to a prefix. Sums that do not round in any order must be \
         exact, and so must all other results. Sums of f16 and bf16 are in f32, and each result is rounded once."
    }

    fn options(&self) -> &'static [ProblemOption] {
        const EXCLUSIVE: ProblemOption = ProblemOption::flag("exclusive", "Leave each element out of its own prefix");
        &[ProblemOption::NUMBER, ProblemOption::OPERATOR, EXCLUSIVE, ProblemOption::FROM]
    }

    fn problem(&self, shape: Shape, options: &Options) -> Result<Box<dyn Problem>, WorkbenchError> {
        let (n, seed) = (shape.elements(), options.seed);
        let kind = if options.has("exclusive") { ScanKind::Exclusive } else { ScanKind::Inclusive };
        let number = options.element_type(self.name(), &self.types())?;
        let (operator, from) = (options.value("op", OperatorName::Sum)?, options.value("from", 0)?);
        capabilities::check(ScanRung::LookBack, &[number.id(), operator.id()], n)?;
        let operation = with_operator!(operator, [Minimum Maximum],
            O => typed!(number, [f32 f64], T => Ok(Operation::of::<T, O>())),
            _ => match number {
                NumberType::F16 => Ok(Operation::on_one_device::<f16, Sum>()),
                NumberType::Bf16 => Ok(Operation::on_one_device::<bf16, Sum>()),
                _ => typed!(number, [f32 f64 i32 u32 i64 u64], T => {
                    with_operator!(operator, [Sum Product Min Max], O => Ok(Operation::of::<T, O>()),
                        _ => Err(wrong_type(number)))
                }),
            }
        );
        Ok(Box::new(ScanProblem { n, from, seed, kind, operation: operation? }))
    }

    fn measurements(&self) -> Vec<Measurement> {
        const WORDS: &[Target] = &[Target::Peer(1.25, "CUB")];
        const DOUBLES: &[Target] = &[Target::Peer(1.2, "CUB")];
        let inclusive = |number| Measurement::vectors(number).variant("inclusive", &[]);
        let exclusive = |number| Measurement::vectors(number).variant("exclusive", &[("exclusive", "")]);
        vec![
            inclusive("f32").ladder().aims(const { &[Aim::vector("inclusive scan f32", 28, WORDS)] }).small(),
            exclusive("f32").aims(const { &[Aim::vector("exclusive scan f32", 28, WORDS)] }).small(),
            inclusive("i32").aims(const { &[Aim::vector("inclusive scan i32", 28, WORDS)] }),
            exclusive("i32").aims(const { &[Aim::vector("exclusive scan i32", 28, WORDS)] }),
            inclusive("f64").aims(const { &[Aim::vector("inclusive scan f64", 27, DOUBLES)] }),
            exclusive("f64").aims(const { &[Aim::vector("exclusive scan f64", 27, DOUBLES)] }),
        ]
    }

    fn scaling_measurements(&self) -> Vec<ScalingMeasurement> {
        super::scaling::measurements()
    }
}

impl VectorProblem for ScanProblem {
    fn heading(&self) -> String {
        let Operation { operator, number, .. } = self.operation;
        format!("{} scan, {operator} of {number}, n = {}", self.kind, self.n)
    }

    fn properties(&self) -> Vec<(&'static str, Fact)> {
        vec![
            ("n", Fact::Count(self.n as u64)),
            ("type", Fact::Name(self.operation.number.name())),
            ("operator", Fact::Name(self.operation.operator.name())),
            ("exclusive", Fact::Flag(self.kind == ScanKind::Exclusive)),
        ]
    }

    fn distinction(&self) -> Option<String> {
        Some(self.kind.to_string())
    }

    fn supports(&self, device: &Device, rung: &Rung) -> Result<(), WorkbenchError> {
        Ok((self.operation.check)(rung_of(rung)?, device, self.n)?)
    }

    fn on_team<'a>(&'a self, team: &'a Team<'a>, rung: &Rung) -> Result<Box<dyn SplitWork + 'a>, WorkbenchError> {
        (self.operation.split)(self, team, rung_of(rung)?)
    }

    fn default_rung(&self, device: &Device) -> &'static Rung {
        (self.operation.default_rung)(device, self.n).rung()
    }

    fn workspace_bytes(&self, _device: &Device, rung: &Rung) -> u64 {
        rung_of(rung).map_or(0, |rung| (self.operation.temporary_bytes)(rung, self.n))
    }

    fn ladder(&self) -> &'static [Rung] {
        ScanRung::RUNGS
    }

    fn layouts(&self) -> Layouts {
        let x = Layout { number: self.operation.number, from: self.from, len: self.n };
        Layouts { x, y: x, accesses: 2 }
    }

    fn fill(&self, is_exact: bool, x: &mut HostVector) -> Result<(), WorkbenchError> {
        typed!(self.operation.number, [f32 f64 i32 u32 i64 u64 f16 bf16], T => {
            let input = self.input::<T>(is_exact);
            x.fill(|index| input.element(index));
            Ok(())
        })
    }

    fn has_exact_input(&self) -> bool {
        self.sums_round()
    }

    fn computation(&self, device: &Device, rung: &Rung) -> Result<Box<dyn Computation + '_>, WorkbenchError> {
        let rung = rung_of(rung)?;
        Ok(Box::new(ScanComputation { problem: self, rung, scanner: (self.operation.scanner)(device, rung, self.n)? }))
    }
}

struct ScanComputation<'p> {
    problem: &'p ScanProblem,
    rung: ScanRung,
    scanner: Box<dyn AnyScanner>,
}

impl Computation for ScanComputation<'_> {
    fn run(&mut self, queue: Queue<'_>, vectors: Vectors<'_>) -> Result<(), WorkbenchError> {
        self.scanner.scan(queue, self.problem.kind, vectors)
    }

    fn compare(&mut self, Vectors { y, host, is_exact, .. }: Vectors<'_>) -> Result<Deviation, WorkbenchError> {
        y.download(host)?;
        let problem = self.problem;
        if is_exact || !problem.sums_round() {
            return Ok((problem.operation.compare_exact)(problem, is_exact, host));
        }
        typed!(problem.operation.number, [f32 f64 f16 bf16], T => {
            let input = problem.input::<T>(false);
            Ok(reference::compare_sums(self.rung, problem.kind, |index| input.element(index), host.elements()))
        })
    }

    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.scanner.hold(held);
    }

    fn workspace_bytes(&self) -> u64 {
        self.scanner.temporary_bytes()
    }

    fn is_for_series(&self) -> bool {
        true
    }
}
