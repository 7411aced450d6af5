//! The functions of scan that are compiled for each pair of an element type and an operator.

use gpu::operator::Operator;
use launch::{Buffer, Device, Queue, Resources};

use super::inputs::ScanInput;
use super::reference::{compare_exact_from, compare_sums_from, sum_depth};
use crate::deviation::Deviation;
use crate::error::{WorkbenchError, invalid};
use crate::scaling::SplitWork;
use crate::vectors::{HostVector, VectorProblem, Vectors};
use gridstride::AlgorithmError;
use gridstride::numbers::{NamedOperator, Number, NumberType, OperatorName};
use gridstride::reduce::ReduceElement;
use gridstride::scan::{ScanElement, ScanKind, ScanRung, Scanner, check_on, default_rung_by, temporary_bytes};
use multi::MultiError;
use multi::scan::SplitScan;
use multi::team::Team;

/// The problem of scanning `n` random elements.
pub(super) struct ScanProblem {
    pub(super) n: usize,
    /// The index in the buffers at which the vectors begin.
    pub(super) from: usize,
    pub(super) seed: u64,
    pub(super) kind: ScanKind,
    pub(super) operation: Operation,
}

impl ScanProblem {
    /// Returns the input for measurements, or the exact input if `is_exact` is true.
    pub(super) fn input<T: Number>(&self, is_exact: bool) -> ScanInput<T> {
        let input = ScanInput::new(self.operation.operator, self.seed, self.n);
        if is_exact { input.exact() } else { input }
    }

    /// Returns true if the problem is a sum of floats. The results of such a sum depend on the grouping of the
    /// elements.
    pub(super) fn sums_round(&self) -> bool {
        use NumberType::{Bf16, F16, F32, F64};
        matches!(self.operation.number, F32 | F64 | F16 | Bf16) && self.operation.operator == OperatorName::Sum
    }
}

/// The functions of scan for an element type and an operator.
pub(super) struct Operation {
    pub(super) operator: OperatorName,
    pub(super) number: NumberType,
    /// Checks that a rung can scan a number of elements on a device.
    pub(super) check: fn(ScanRung, &Device, usize) -> Result<(), AlgorithmError>,
    /// Returns the default rung for a number of elements on a device.
    pub(super) default_rung: fn(&Device, usize) -> ScanRung,
    /// Returns the number of bytes of temporary storage that a rung needs for a number of elements.
    pub(super) temporary_bytes: fn(ScanRung, usize) -> u64,
    /// Creates a scanner for a number of elements.
    pub(super) scanner: fn(&Device, ScanRung, usize) -> MadeScanner,
    /// Prepares the scan of the problem on a team of devices.
    pub(super) split: Split,
    /// Compares a result with the reference, for inputs whose scans do not round. The `bool` is true for the exact
    /// input.
    pub(super) compare_exact: fn(&ScanProblem, bool, &HostVector) -> Deviation,
}

type MadeScanner = Result<Box<dyn AnyScanner>, WorkbenchError>;
type Split = for<'a> fn(&'a ScanProblem, &'a Team<'a>, ScanRung) -> Result<Box<dyn SplitWork + 'a>, WorkbenchError>;

impl Operation {
    pub(super) const fn of<T, O: Operator<T> + NamedOperator>() -> Self
    where
        T: Number + ScanElement<O> + ReduceElement<O>,
    {
        Self {
            split: |problem, team, rung| {
                let input = problem.input::<T>(false);
                let (x, y) = (team.filled(problem.n, |index| input.element(index))?, team.alloc(problem.n)?);
                let scan = Box::new(SplitScan::<T, O>::new(team, |_, _| rung, &x)?);
                Ok(Box::new(SplitScanWork { problem, team, rung, x, y, scan }))
            },
            ..Self::on_one_device::<T, O>()
        }
    }

    /// Returns the functions for 16-bit floats. Several devices do not scan them, because a device would round its sum
    /// before it passes it to the next one.
    pub(super) const fn on_one_device<T: Number + ScanElement<O>, O: Operator<T> + NamedOperator>() -> Self {
        Self {
            operator: O::NAME,
            number: T::TYPE,
            check: check_on::<T, O>,
            default_rung: default_rung_by::<T, O>,
            temporary_bytes: temporary_bytes::<T>,
            scanner: |device, rung, n| Ok(Box::new(Scanner::<T, O>::new(device, rung, n)?)),
            split: |problem, _, _| {
                invalid!("{} runs on one device of one process: choose one device", problem.heading())
            },
            compare_exact: |problem, is_exact, found| {
                let input = problem.input::<T>(is_exact);
                compare_exact_from::<T, O>(0, problem.kind, |index| input.element(index), found.elements())
            },
        }
    }
}

/// A [`Scanner`] of any element type and operator.
pub(super) trait AnyScanner: Resources {
    fn scan(&mut self, queue: Queue<'_>, kind: ScanKind, vectors: Vectors<'_>) -> Result<(), WorkbenchError>;
    fn temporary_bytes(&self) -> u64;
}

impl<T: Number + ScanElement<O>, O: Operator<T>> AnyScanner for Scanner<T, O> {
    fn scan(&mut self, queue: Queue<'_>, kind: ScanKind, vectors: Vectors<'_>) -> Result<(), WorkbenchError> {
        Ok(self.scan_views(queue, kind, vectors.x.view()?, vectors.y.view_mut()?)?)
    }

    fn temporary_bytes(&self) -> u64 {
        self.temporary_bytes()
    }
}

/// A [`SplitScan`] with any operator.
trait AnySplitScan<T: Number> {
    fn scan(&mut self, kind: ScanKind, x: &mut [Buffer<T>], y: &mut [Buffer<T>]) -> Result<(), MultiError>;
    fn roundings(&self) -> Result<usize, MultiError>;

    /// Compares a segment with the reference, for a scan that does not round. The segment begins with element `first`.
    fn compare_exact(&self, first: usize, kind: ScanKind, input: &ScanInput<T>, found: &[T]) -> Deviation;
}

impl<T: Number + ScanElement<O> + ReduceElement<O>, O: Operator<T>> AnySplitScan<T> for SplitScan<'_, T, O> {
    fn scan(&mut self, kind: ScanKind, x: &mut [Buffer<T>], y: &mut [Buffer<T>]) -> Result<(), MultiError> {
        self.scan(kind, x, y)
    }

    fn roundings(&self) -> Result<usize, MultiError> {
        self.roundings()
    }

    fn compare_exact(&self, first: usize, kind: ScanKind, input: &ScanInput<T>, found: &[T]) -> Deviation {
        compare_exact_from::<T, O>(first, kind, |index| input.element(index), found)
    }
}

/// A function that compares a segment with the reference. Its arguments are the scan, the segment's first index and the
/// segment.
type Compare<'c, T> = &'c dyn Fn(&dyn AnySplitScan<T>, usize, &[T]) -> Deviation;

/// The work of scanning random elements that are split over a team of devices.
struct SplitScanWork<'a, T: Number> {
    problem: &'a ScanProblem,
    team: &'a Team<'a>,
    rung: ScanRung,
    x: Vec<Buffer<T>>,
    y: Vec<Buffer<T>>,
    scan: Box<dyn AnySplitScan<T> + 'a>,
}

impl<'a, T: Number> SplitScanWork<'a, T> {
    /// Runs the scan on `input` and compares each segment with the reference by calling `compare`.
    fn checked(&mut self, input: &ScanInput<T>, compare: Compare<'_, T>) -> Result<Deviation, WorkbenchError> {
        // Frees the old buffers before new ones are allocated.
        self.x.clear();
        self.x = self.team.filled(self.problem.n, |index| input.element(index))?;
        self.y.iter_mut().try_for_each(Buffer::fill_zero)?;
        self.run()?;
        let mut deviation = Deviation::default();
        for (y, segment) in self.y.iter().zip(self.team.segments(self.problem.n)) {
            deviation = deviation.merge(compare(&*self.scan, segment.start, &y.download()?));
        }
        Ok(deviation)
    }
}

impl<T: Number> SplitWork for SplitScanWork<'_, T> {
    fn run(&mut self) -> Result<(), WorkbenchError> {
        Ok(self.scan.scan(self.problem.kind, &mut self.x, &mut self.y)?)
    }

    fn verify(&mut self) -> Result<Deviation, WorkbenchError> {
        let (kind, rung, sums_round) = (self.problem.kind, self.rung, self.problem.sums_round());
        let (exact, input) = (self.problem.input(sums_round), self.problem.input(false));
        let deviation = self.checked(&exact, &|scan, first, found| scan.compare_exact(first, kind, &exact, found))?;
        if !sums_round {
            return Ok(deviation);
        }
        // The measured input comes last, so that it stays in the buffers.
        let roundings = self.scan.roundings()? as f64;
        let rounded = self.checked(&input, &|_, first, found| {
            let depth = |at| roundings + sum_depth(rung, at, found.len(), size_of::<T>());
            compare_sums_from(first, depth, kind, |index| input.element(index), found)
        })?;
        Ok(deviation.merge(rounded))
    }
}
