//! The scan as an [`Algorithm`].

use std::marker::PhantomData;

use cuda_std::{Ladder, Rung};
use gpu::operator::Operator;
use launch::{Buffer, Device, Held, Queue, Resources};

use super::inputs::ScanInput;
use super::reference::{self, compare_exact_from, compare_sums_from, sum_depth};
use crate::algorithm::{
    Aim, Algorithm, Fact, Inputs, Options, Prepared, Problem, ProblemOption, Shape, Target, Work, rung_of,
};
use crate::case::Case;
use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use crate::inputs::{self, REMEDY};
use crate::scaling::ScalingWork;
use crate::scaling::SplitWork;
use gridstride::numbers::{NamedOperator, Number, OperatorName, with_number, with_operator};
use gridstride::reduce::ReduceElement;
use gridstride::scan::{ScanKind, ScanRung, Scannable, Scanner, check_on, default_rung, temporary_bytes};
use multi::scan::SplitScan;
use multi::team::Team;

/// The prefix scan.
pub struct Scan;

impl Algorithm for Scan {
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
        with_number!(number, [f32 f64 i32 u32 i64 u64], T => with_operator!(operator, O => {
            Ok(Box::new(Scanning::<T, O> { n, from, seed, kind, operator: PhantomData }))
        }), _ => Err(WorkbenchError::Options(format!("scan has no element type '{number}'"))))
    }

    fn works(&self) -> Vec<Work> {
        const WORDS: &[Target] = &[Target::Peer(1.25, "CUB")];
        const DOUBLES: &[Target] = &[Target::Peer(1.2, "CUB")];
        let inclusive = |number| Work::vectors(number).variant("inclusive", &[]);
        let exclusive = |number| Work::vectors(number).variant("exclusive", &[("exclusive", "")]);
        vec![
            inclusive("f32").ladder().aims(const { &[Aim::vector("inclusive scan f32", 28, WORDS)] }).small(),
            exclusive("f32").aims(const { &[Aim::vector("exclusive scan f32", 28, WORDS)] }).small(),
            inclusive("i32").aims(const { &[Aim::vector("inclusive scan i32", 28, WORDS)] }),
            exclusive("i32").aims(const { &[Aim::vector("exclusive scan i32", 28, WORDS)] }),
            inclusive("f64").aims(const { &[Aim::vector("inclusive scan f64", 27, DOUBLES)] }),
            exclusive("f64").aims(const { &[Aim::vector("exclusive scan f64", 27, DOUBLES)] }),
        ]
    }

    fn scaling_works(&self) -> Vec<ScalingWork> {
        super::scaling::works()
    }

    fn cases(&self) -> Vec<Case> {
        super::cases::cases()
    }
}

/// The scan of `n` random elements of `T` with `O`.
pub(super) struct Scanning<T, O> {
    pub(super) n: usize,
    /// The element of their buffers with which the vectors begin.
    from: usize,
    seed: u64,
    pub(super) kind: ScanKind,
    operator: PhantomData<fn() -> (T, O)>,
}

impl<T: Number + Scannable<O>, O: Operator<T> + NamedOperator> Scanning<T, O> {
    pub(super) fn input(&self) -> ScanInput<T, O> {
        ScanInput::new(self.seed, self.n)
    }

    /// The scan of what is asked for of `x`, to the same elements of `y`.
    fn scan(
        &self,
        scanner: &mut Scanner<T, O>,
        queue: Queue<'_>,
        x: &Buffer<T>,
        y: &mut Buffer<T>,
    ) -> Result<(), WorkbenchError> {
        let (from, n) = (self.from, self.n);
        Ok(scanner.scan_views(queue, self.kind, x.view().part(from, n), y.view_mut().part(from, n))?)
    }
}

impl<T: Number + Scannable<O> + ReduceElement<O>, O: Operator<T> + NamedOperator> Problem for Scanning<T, O> {
    fn title(&self) -> String {
        let from = inputs::from_element(self.from);
        format!("{} scan, {} of {}, n = {}{from}", self.kind, O::NAME, T::TYPE, self.n)
    }

    fn facts(&self) -> Vec<(&'static str, Fact)> {
        let facts = vec![
            ("n", Fact::Count(self.n as u64)),
            ("type", Fact::Name(T::TYPE.name())),
            ("operator", Fact::Name(O::NAME.name())),
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
        Ok(check_on::<T, O>(rung_of(rung)?, device, self.n)?)
    }

    fn default_rungs(&self, device: &Device) -> Vec<&'static Rung> {
        vec![default_rung::<T>(device, self.n).rung()]
    }

    fn inputs(&self, device: &Device) -> Result<Box<dyn Inputs + '_>, WorkbenchError> {
        let mut host = inputs::host_memory(self.n, REMEDY)?;
        let input = self.input();
        inputs::fill_with(&mut host, |index| input.element(index));
        let x = inputs::uploaded_from(device, self.from, &host)?;
        Ok(Box::new(OnDevice { problem: self, y: device.alloc(x.len())?, x, host }))
    }

    fn split<'a>(&'a self, team: &'a Team<'a>, rung: &Rung) -> Result<Box<dyn SplitWork + 'a>, WorkbenchError> {
        Ok(Box::new(Split::new(self, team, rung_of(rung)?)?))
    }
}

struct OnDevice<'p, T: Number + Scannable<O>, O: Operator<T> + NamedOperator> {
    problem: &'p Scanning<T, O>,
    x: Buffer<T>,
    y: Buffer<T>,
    host: Vec<T>,
}

impl<T: Number + Scannable<O>, O: Operator<T> + NamedOperator> Inputs for OnDevice<'_, T, O> {
    fn prepare<'a>(&'a mut self, rung: &Rung) -> Result<Box<dyn Prepared + 'a>, WorkbenchError> {
        let rung = rung_of(rung)?;
        let scanner = Scanner::new(self.x.device(), rung, self.problem.n)?;
        Ok(Box::new(Ready { rung, scanner, on: self, sets: Vec::new() }))
    }
}

struct Ready<'a, 'p, T: Number + Scannable<O>, O: Operator<T> + NamedOperator> {
    rung: ScanRung,
    scanner: Scanner<T, O>,
    on: &'a mut OnDevice<'p, T, O>,
    sets: Vec<(Buffer<T>, Buffer<T>)>,
}

impl<T: Number + Scannable<O>, O: Operator<T> + NamedOperator> Resources for Ready<'_, '_, T, O> {
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

impl<T: Number + Scannable<O>, O: Operator<T> + NamedOperator> Ready<'_, '_, T, O> {
    /// Whether results depend on how the elements are grouped.
    const SUMS_ROUND: bool = T::EPSILON.is_some() && matches!(O::NAME, OperatorName::Sum);

    /// The deviation of sums that no order of additions rounds, which must be exact.
    fn exact_sums(&mut self, device: &Device) -> Result<Deviation, WorkbenchError> {
        let (kind, input) = (self.on.problem.kind, self.on.problem.input());
        let element = |index| input.exact_element(index);
        inputs::fill_with(&mut self.on.host, element);
        self.on.x.upload_range(self.on.problem.from, &self.on.host)?;
        self.refresh()?;
        self.run(device.queue())?;
        self.on.y.download_range(self.on.problem.from, &mut self.on.host)?;
        let exact = reference::compare_exact::<T, O>(kind, element, &self.on.host);
        inputs::fill_with(&mut self.on.host, |index| input.element(index));
        self.on.x.upload_range(self.on.problem.from, &self.on.host)?;
        Ok(exact)
    }
}

impl<T: Number + Scannable<O>, O: Operator<T> + NamedOperator> Prepared for Ready<'_, '_, T, O> {
    fn run(&mut self, queue: Queue<'_>) -> Result<(), WorkbenchError> {
        let Self { scanner, on, .. } = self;
        on.problem.scan(scanner, queue, &on.x, &mut on.y)
    }

    fn refresh(&mut self) -> Result<(), WorkbenchError> {
        Ok(self.on.y.fill_zero()?)
    }

    fn compare(&mut self) -> Result<Deviation, WorkbenchError> {
        self.on.y.download_range(self.on.problem.from, &mut self.on.host)?;
        let (kind, input, found) = (self.on.problem.kind, self.on.problem.input(), &self.on.host);
        let element = |index| input.element(index);
        Ok(match Self::SUMS_ROUND {
            true => reference::compare_sums(self.rung, kind, element, found),
            false => reference::compare_exact::<T, O>(kind, element, found),
        })
    }

    fn verify(&mut self, device: &Device) -> Result<Deviation, WorkbenchError> {
        let exact = if Self::SUMS_ROUND { self.exact_sums(device)? } else { Deviation::default() };
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
        self.on.problem.scan(&mut self.scanner, queue, x, y)
    }
}

/// The scan of random elements that are split over a team.
struct Split<'a, T: Number + Scannable<O> + ReduceElement<O>, O: Operator<T> + NamedOperator> {
    problem: &'a Scanning<T, O>,
    team: &'a Team<'a>,
    rung: ScanRung,
    x: Vec<Buffer<T>>,
    y: Vec<Buffer<T>>,
    scan: SplitScan<'a, T, O>,
}

impl<'a, T: Number + Scannable<O> + ReduceElement<O>, O: Operator<T> + NamedOperator> Split<'a, T, O> {
    fn new(problem: &'a Scanning<T, O>, team: &'a Team<'a>, rung: ScanRung) -> Result<Self, WorkbenchError> {
        let input = problem.input();
        let x = team.filled(problem.n, |index| input.element(index))?;
        let scan = SplitScan::new(team, |_, _| rung, &x)?;
        Ok(Self { problem, team, rung, y: team.alloc(problem.n)?, x, scan })
    }

    /// Runs on the input whose elements `element` gives, and compares each part by `compare`, which is given its first index.
    fn checked(
        &mut self,
        element: impl Fn(usize) -> T + Sync,
        compare: impl Fn(usize, &[T]) -> Deviation,
    ) -> Result<Deviation, WorkbenchError> {
        let mut host = Vec::new();
        for ((x, y), part) in self.x.iter_mut().zip(&mut self.y).zip(self.team.segments(self.problem.n)) {
            host.resize(part.len(), T::zeroed());
            inputs::fill_with(&mut host, |index| element(part.start + index));
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

impl<T: Number + Scannable<O> + ReduceElement<O>, O: Operator<T> + NamedOperator> SplitWork for Split<'_, T, O> {
    fn run(&mut self) -> Result<(), WorkbenchError> {
        Ok(self.scan.scan(self.problem.kind, &mut self.x, &mut self.y)?)
    }

    fn verify(&mut self) -> Result<Deviation, WorkbenchError> {
        let (kind, input, rung) = (self.problem.kind, self.problem.input(), self.rung);
        let element = |index| input.element(index);
        if T::EPSILON.is_none() || O::NAME != OperatorName::Sum {
            return self.checked(element, |first, found| compare_exact_from::<T, O>(first, kind, element, found));
        }
        // As on one device: sums that no order of additions rounds, which must be exact, and sums that round. The inputs of
        // the latter stay.
        let whole = |index| input.exact_element(index);
        let exact = self.checked(whole, |first, found| compare_exact_from::<T, O>(first, kind, whole, found))?;
        let roundings = self.scan.roundings()? as f64;
        let rounded = self.checked(element, |first, found| {
            let depth = |at| roundings + sum_depth(rung, at, found.len(), size_of::<T>());
            compare_sums_from(first, depth, kind, element, found)
        })?;
        Ok(exact.merge(rounded))
    }
}
