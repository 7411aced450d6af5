//! The scan as an [`Algorithm`].

use cuda_std::{Ladder, Rung};
use launch::{Buffer, Device, Held, Queue, Resources};

use super::inputs::ScanInput;
use super::operation::{AnyScanner, AnySplitScan, Operation};
use super::reference::{self, compare_sums_from, sum_depth};
use crate::algorithm::{
    Aim, Algorithm, Fact, Inputs, Measurement, Options, PreparedRung, Problem, ProblemOption, Shape, Target, rung_of,
};
use crate::case::Case;
use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use crate::inputs::{self, REMEDY};
use crate::scaling::ScalingMeasurement;
use crate::scaling::SplitWork;
use gridstride::numbers::{Number, OperatorName, with_number, with_operator};
use gridstride::scan::{ScanKind, ScanRung, default_rung, temporary_bytes};
use multi::team::Team;

/// The prefix scan.
pub struct ScanAlgorithm;

impl Algorithm for ScanAlgorithm {
    fn name(&self) -> &'static str {
        ScanRung::ALGORITHM
    }

    fn rungs(&self) -> &'static [Rung] {
        ScanRung::RUNGS
    }

    fn about(&self) -> &'static str {
        "Measure the prefix scan of a random vector and check it\n\n\
         Times are medians of several runs after a first one, by device events on a GPU and by the clock in the simulator. \
         Bandwidth counts for every kernel the bytes that a scan cannot do without: each element read once and written once, \
         in GB of 10⁹ bytes; it stands beside the speed of the device's own copy in the same run. A sum of floats is right if \
         it is within depth·ε·Σ|x| of a reference in double precision or better, depth being that of the kernel's additions, \
         and if sums that no order of additions rounds are exact; all else must be exact."
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
        with_number!(number, [f32 f64 i32 u32 i64 u64], T => {
            let operation = with_operator!(operator, O => Operation::of::<O>());
            Ok(Box::new(ScanProblem::<T> { n, from, seed, kind, operation }))
        }, _ => Err(WorkbenchError::Options(format!("scan has no element type '{number}'"))))
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

    fn cases(&self) -> Vec<Case> {
        super::cases::cases()
    }
}

/// The scan of `n` random elements of `T`.
struct ScanProblem<T: Number> {
    n: usize,
    /// The element of their buffers with which the vectors begin.
    from: usize,
    seed: u64,
    kind: ScanKind,
    operation: Operation<T>,
}

impl<T: Number> ScanProblem<T> {
    fn input(&self) -> ScanInput<T> {
        ScanInput::new(self.operation.operator, self.seed, self.n)
    }

    /// Returns whether results depend on how the elements are grouped.
    fn sums_round(&self) -> bool {
        T::EPSILON.is_some() && self.operation.operator == OperatorName::Sum
    }

    /// Scans the problem's elements of `x` to the same elements of `y`.
    fn scan(
        &self,
        scanner: &mut dyn AnyScanner<T>,
        queue: Queue<'_>,
        x: &Buffer<T>,
        y: &mut Buffer<T>,
    ) -> Result<(), WorkbenchError> {
        let (from, n) = (self.from, self.n);
        Ok(scanner.scan(queue, self.kind, x.view().part(from, n), y.view_mut().part(from, n))?)
    }
}

impl<T: Number> Problem for ScanProblem<T> {
    fn title(&self) -> String {
        let from = inputs::from_element(self.from);
        format!("{} scan, {} of {}, n = {}{from}", self.kind, self.operation.operator, T::TYPE, self.n)
    }

    fn facts(&self) -> Vec<(&'static str, Fact)> {
        let facts = vec![
            ("n", Fact::Count(self.n as u64)),
            ("type", Fact::Name(T::TYPE.name())),
            ("operator", Fact::Name(self.operation.operator.name())),
            ("exclusive", Fact::Flag(self.kind == ScanKind::Exclusive)),
        ];
        facts.into_iter().chain(inputs::from_fact(self.from)).collect()
    }

    fn detail(&self) -> Option<String> {
        Some(self.kind.to_string())
    }

    fn elements(&self) -> u64 {
        self.n as u64
    }

    fn bytes(&self) -> u64 {
        (self.n as u64).saturating_mul(2 * size_of::<T>() as u64)
    }

    fn memory_bytes(&self, _device: &Device, rungs: &[&Rung]) -> u64 {
        let rungs = rungs.iter().filter_map(|rung| rung_of::<ScanRung>(rung).ok());
        let temporary = rungs.map(|rung| temporary_bytes::<T>(rung, self.n)).max();
        self.bytes().saturating_add(temporary.unwrap_or(0))
    }

    fn check(&self, device: &Device, rung: &Rung) -> Result<(), WorkbenchError> {
        Ok((self.operation.check)(rung_of(rung)?, device, self.n)?)
    }

    fn default_rungs(&self, device: &Device) -> Vec<&'static Rung> {
        vec![default_rung::<T>(device, self.n).rung()]
    }

    fn inputs(&self, device: &Device) -> Result<Box<dyn Inputs + '_>, WorkbenchError> {
        let mut host = inputs::host_memory(self.n, REMEDY)?;
        self.input().fill(0, &mut host);
        let x = inputs::uploaded_from(device, self.from, &host)?;
        Ok(Box::new(OnDevice { problem: self, y: device.alloc(x.len())?, x, host }))
    }

    fn split<'a>(&'a self, team: &'a Team<'a>, rung: &Rung) -> Result<Box<dyn SplitWork + 'a>, WorkbenchError> {
        Ok(Box::new(Split::new(self, team, rung_of(rung)?)?))
    }
}

struct OnDevice<'p, T: Number> {
    problem: &'p ScanProblem<T>,
    x: Buffer<T>,
    y: Buffer<T>,
    host: Vec<T>,
}

impl<T: Number> Inputs for OnDevice<'_, T> {
    fn prepare<'a>(&'a mut self, rung: &Rung) -> Result<Box<dyn PreparedRung + 'a>, WorkbenchError> {
        let rung = rung_of(rung)?;
        let scanner = (self.problem.operation.scanner)(self.x.device(), rung, self.problem.n)?;
        Ok(Box::new(PreparedScan { rung, scanner, on: self, sets: Vec::new() }))
    }
}

struct PreparedScan<'a, 'p, T: Number> {
    rung: ScanRung,
    scanner: Box<dyn AnyScanner<T>>,
    on: &'a mut OnDevice<'p, T>,
    sets: Vec<(Buffer<T>, Buffer<T>)>,
}

impl<T: Number> Resources for PreparedScan<'_, '_, T> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        held.shared(&self.on.x);
        self.on.y.hold(held);
        for (x, y) in &mut self.sets {
            held.shared(x);
            y.hold(held);
        }
        self.scanner.hold(held);
    }
}

impl<T: Number> PreparedScan<'_, '_, T> {
    /// The deviation of sums that no order of additions rounds, which must be exact.
    fn exact_sums(&mut self, device: &Device) -> Result<Deviation, WorkbenchError> {
        let (problem, input) = (self.on.problem, self.on.problem.input());
        input.exact().fill(0, &mut self.on.host);
        self.on.x.upload_range(self.on.problem.from, &self.on.host)?;
        self.refresh()?;
        self.run(device.queue())?;
        self.on.y.download_range(self.on.problem.from, &mut self.on.host)?;
        let exact = (problem.operation.compare_exact)(0, problem.kind, &input.exact(), &self.on.host);
        input.fill(0, &mut self.on.host);
        self.on.x.upload_range(self.on.problem.from, &self.on.host)?;
        Ok(exact)
    }
}

impl<T: Number> PreparedRung for PreparedScan<'_, '_, T> {
    fn run(&mut self, queue: Queue<'_>) -> Result<(), WorkbenchError> {
        let Self { scanner, on, .. } = self;
        on.problem.scan(&mut **scanner, queue, &on.x, &mut on.y)
    }

    fn refresh(&mut self) -> Result<(), WorkbenchError> {
        Ok(self.on.y.fill_zero()?)
    }

    fn compare(&mut self) -> Result<Deviation, WorkbenchError> {
        self.on.y.download_range(self.on.problem.from, &mut self.on.host)?;
        let (problem, input, found) = (self.on.problem, self.on.problem.input(), &self.on.host);
        Ok(match problem.sums_round() {
            true => reference::compare_sums(self.rung, problem.kind, |index| input.element(index), found),
            false => (problem.operation.compare_exact)(0, problem.kind, &input, found),
        })
    }

    fn verify(&mut self, device: &Device) -> Result<Deviation, WorkbenchError> {
        let exact = if self.on.problem.sums_round() { self.exact_sums(device)? } else { Deviation::default() };
        self.refresh()?;
        self.run(device.queue())?;
        Ok(exact.merge(self.compare()?))
    }

    fn workspace_bytes(&self) -> u64 {
        self.scanner.temporary_bytes()
    }

    fn is_for_series(&self) -> bool {
        true
    }

    fn make_sets(&mut self, sets: usize) -> Result<(), WorkbenchError> {
        let set = |_| Ok((inputs::copied(&self.on.x)?, self.on.x.device().alloc(self.on.x.len())?));
        self.sets = (0..sets).map(set).collect::<Result<_, WorkbenchError>>()?;
        Ok(())
    }

    fn run_set(&mut self, set: usize, queue: Queue<'_>) -> Result<(), WorkbenchError> {
        let (x, y) = &mut self.sets[set];
        self.on.problem.scan(&mut *self.scanner, queue, x, y)
    }
}

/// The scan of random elements that are split over a team.
struct Split<'a, T: Number> {
    problem: &'a ScanProblem<T>,
    team: &'a Team<'a>,
    rung: ScanRung,
    x: Vec<Buffer<T>>,
    y: Vec<Buffer<T>>,
    scan: Box<dyn AnySplitScan<T> + 'a>,
}

impl<'a, T: Number> Split<'a, T> {
    fn new(problem: &'a ScanProblem<T>, team: &'a Team<'a>, rung: ScanRung) -> Result<Self, WorkbenchError> {
        let input = problem.input();
        let x = team.filled(problem.n, |index| input.element(index))?;
        let scan = (problem.operation.split)(team, rung, &x)?;
        Ok(Self { problem, team, rung, y: team.alloc(problem.n)?, x, scan })
    }

    /// Runs on `input` and compares each part by `compare`, whose first argument is the part's first index.
    fn checked(
        &mut self,
        input: &ScanInput<T>,
        compare: &dyn Fn(usize, &[T]) -> Deviation,
    ) -> Result<Deviation, WorkbenchError> {
        let mut host = Vec::new();
        for ((x, y), part) in self.x.iter_mut().zip(&mut self.y).zip(self.team.segments(self.problem.n)) {
            host.resize(part.len(), T::zeroed());
            input.fill(part.start, &mut host);
            x.upload(&host)?;
            y.fill_zero()?;
        }
        self.run()?;
        let mut deviation = Deviation::default();
        for (y, part) in self.y.iter().zip(self.team.segments(self.problem.n)) {
            deviation = deviation.merge(compare(part.start, &y.download()?));
        }
        Ok(deviation)
    }
}

impl<T: Number> SplitWork for Split<'_, T> {
    fn run(&mut self) -> Result<(), WorkbenchError> {
        Ok(self.scan.scan(self.problem.kind, &mut self.x, &mut self.y)?)
    }

    fn verify(&mut self) -> Result<Deviation, WorkbenchError> {
        let (kind, input, rung) = (self.problem.kind, self.problem.input(), self.rung);
        let compare_exact = self.problem.operation.compare_exact;
        if !self.problem.sums_round() {
            return self.checked(&input, &|first, found| compare_exact(first, kind, &input, found));
        }
        // As on one device: sums that no order of additions rounds, which must be exact, and sums that round. The
        // inputs of the latter stay.
        let whole = input.exact();
        let exact = self.checked(&whole, &|first, found| compare_exact(first, kind, &whole, found))?;
        let roundings = self.scan.roundings()? as f64;
        let rounded = self.checked(&input, &|first, found| {
            let depth = |at| roundings + sum_depth(rung, at, found.len(), size_of::<T>());
            compare_sums_from(first, depth, kind, |index| input.element(index), found)
        })?;
        Ok(exact.merge(rounded))
    }
}
