//! The functions that are compiled for each pair of an element type and an operator.

use cuda_std::{Global, GlobalMut};
use gpu::operator::Operator;
use launch::{Buffer, Device, Queue, Resources};

use super::inputs::ScanInput;
use super::reference::compare_exact_from;
use crate::deviation::Deviation;
use gridstride::AlgorithmError;
use gridstride::numbers::{NamedOperator, Number, OperatorName};
use gridstride::reduce::ReduceElement;
use gridstride::scan::{ScanElement, ScanKind, ScanRung, Scanner, check_on};
use multi::MultiError;
use multi::scan::SplitScan;
use multi::team::Team;

/// The functions of an operator on `T` that a problem calls. The problem itself is compiled once per type.
pub(super) struct Operation<T: Number> {
    pub(super) operator: OperatorName,
    /// Checks that a rung scans so many elements on a device.
    pub(super) check: fn(ScanRung, &Device, usize) -> Result<(), AlgorithmError>,
    /// Makes a scanner of so many elements.
    pub(super) scanner: fn(&Device, ScanRung, usize) -> MadeScanner<T>,
    /// Makes a scan of vectors that are split over a team.
    pub(super) split: for<'t> fn(&'t Team<'t>, ScanRung, &[Buffer<T>]) -> MadeSplitScan<'t, T>,
    /// Compares the segment of a scan that begins with an element, where no grouping rounds.
    pub(super) compare_exact: fn(usize, ScanKind, &ScanInput<T>, &[T]) -> Deviation,
}

type MadeScanner<T> = Result<Box<dyn AnyScanner<T>>, AlgorithmError>;
type MadeSplitScan<'t, T> = Result<Box<dyn AnySplitScan<T> + 't>, MultiError>;

impl<T: Number> Operation<T> {
    pub(super) const fn of<O: Operator<T> + NamedOperator>() -> Self
    where
        T: ScanElement<O> + ReduceElement<O>,
    {
        Self {
            operator: O::NAME,
            check: check_on::<T, O>,
            scanner: |device, rung, n| Ok(Box::new(Scanner::<T, O>::new(device, rung, n)?)),
            split: |team, rung, x| Ok(Box::new(SplitScan::<T, O>::new(team, |_, _| rung, x)?)),
            compare_exact: |first, kind, input, found| {
                compare_exact_from::<T, O>(first, kind, |index| input.element(index), found)
            },
        }
    }
}

/// A [`Scanner`] by any operator.
pub(super) trait AnyScanner<T: Number>: Resources {
    fn scan(
        &mut self,
        queue: Queue<'_>,
        kind: ScanKind,
        x: Global<'_, T>,
        y: GlobalMut<'_, T>,
    ) -> Result<(), AlgorithmError>;
    fn temporary_bytes(&self) -> u64;
}

impl<T: Number + ScanElement<O>, O: Operator<T>> AnyScanner<T> for Scanner<T, O> {
    fn scan(
        &mut self,
        queue: Queue<'_>,
        kind: ScanKind,
        x: Global<'_, T>,
        y: GlobalMut<'_, T>,
    ) -> Result<(), AlgorithmError> {
        self.scan_views(queue, kind, x, y)
    }

    fn temporary_bytes(&self) -> u64 {
        self.temporary_bytes()
    }
}

/// A [`SplitScan`] by any operator.
pub(super) trait AnySplitScan<T: Number> {
    fn scan(&mut self, kind: ScanKind, x: &mut [Buffer<T>], y: &mut [Buffer<T>]) -> Result<(), MultiError>;
    fn roundings(&self) -> Result<usize, MultiError>;
}

impl<T: Number + ScanElement<O> + ReduceElement<O>, O: Operator<T>> AnySplitScan<T> for SplitScan<'_, T, O> {
    fn scan(&mut self, kind: ScanKind, x: &mut [Buffer<T>], y: &mut [Buffer<T>]) -> Result<(), MultiError> {
        self.scan(kind, x, y)
    }

    fn roundings(&self) -> Result<usize, MultiError> {
        self.roundings()
    }
}
