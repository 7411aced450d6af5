//! Scan of a vector that is split over a team.
//!
//! # Design
//!
//! The total before a segment enters its scan through the segment's first element, which holds the combination of both
//! during the scan. Kernels therefore need not know of segments. The host combines the totals of the segments in order.
//! It enqueues the work of all devices before it waits for the first.

use gpu::operator::Operator;
use launch::{Buffer, Device};

use crate::error::MultiError;
use crate::reduce::Totals;
use crate::team::Team;
use gridstride::reduce::{self, ReduceElement};
use gridstride::scan::{ScanElement, ScanKind, ScanRung, Scanner};

mod rounds;

pub use rounds::{RoundScan, Rounds};

/// A scan of vectors that are split over a team, with its memory.
///
/// While a member scans, the first element of its segment is combined with the total before it. [`team`](crate::team)
/// describes how long a scan takes.
pub struct SplitScan<'t, T: ScanElement<O> + ReduceElement<O>, O: Operator<T>> {
    team: &'t Team<'t>,
    totals: Totals<'t, T, O>,
    members: Vec<Member<T, O>>,
}

/// The scanner of a device and the memory for the edge of its segment.
struct Member<T: ScanElement<O> + ReduceElement<O>, O: Operator<T>> {
    scanner: Scanner<T, O>,
    /// The segment's first element, the same combined with the total before it, and that total.
    edge: Buffer<T>,
}

/// The indices of `edge`.
const UNCHANGED: usize = 0;
const COMBINED: usize = 1;
const BEFORE: usize = 2;

impl<'t, T: ScanElement<O> + ReduceElement<O>, O: Operator<T>> SplitScan<'t, T, O> {
    /// Returns a scan for segments as long as those of `x`, each by the rung that `rung` returns.
    ///
    /// # Errors
    /// As for [`Scanner::new`], and if `x` does not have one buffer per device of this rank.
    pub fn new(
        team: &'t Team<'t>,
        rung: impl Fn(&Device, usize) -> ScanRung,
        x: &[Buffer<T>],
    ) -> Result<Self, MultiError> {
        team.check("scan segments", x)?;
        let totals = Totals::new(team, reduce::default_rung::<T, O>(), x)?;
        let mut members = Vec::with_capacity(x.len());
        for (x, device) in x.iter().zip(team.devices()) {
            let scanner = Scanner::new(device, rung(device, x.len()), x.len())?;
            members.push(Member { scanner, edge: device.alloc(3)? });
        }
        Ok(Self { team, totals, members })
    }

    /// Returns the largest number of additions on the path from an element to the total before a segment, and from
    /// there to its scan.
    ///
    /// # Errors
    /// If another rank has ended.
    pub fn roundings(&self) -> Result<usize, MultiError> {
        self.totals.roundings()
    }

    /// Returns the reductions that find the totals before each segment.
    pub(super) fn totals(&mut self) -> &mut Totals<'t, T, O> {
        &mut self.totals
    }

    /// Returns the bytes of temporary storage of this rank's scans.
    pub fn temporary_bytes(&self) -> u64 {
        self.members.iter().map(|member| member.scanner.temporary_bytes()).sum()
    }

    /// Writes the scan of `x` into `y`. On GPUs it returns when the totals are known. Later work on the devices sees
    /// the scans. The first elements of `x` change during the scan and are restored at its end.
    ///
    /// # Errors
    /// As for [`Scanner::scan`], and if another rank has ended.
    pub fn scan(&mut self, kind: ScanKind, x: &mut [Buffer<T>], y: &mut [Buffer<T>]) -> Result<(), MultiError> {
        self.team.check("scan segments", x)?;
        self.totals.enqueue(x)?;
        let before = self.totals.before(None)?;
        self.scan_from(kind, &before.own, x, y)
    }

    /// Like [`scan`](Self::scan), with known totals of all elements before each of this rank's segments. The ranks
    /// exchange nothing, and the host waits only for earlier work.
    ///
    /// # Errors
    /// As for [`Scanner::scan`].
    pub fn scan_from(
        &mut self,
        kind: ScanKind,
        before: &[Option<T>],
        x: &mut [Buffer<T>],
        y: &mut [Buffer<T>],
    ) -> Result<(), MultiError> {
        self.team.check("scan segments", x)?;
        self.team.check("scan into segments", y)?;
        if before.len() != x.len() {
            let error = launch::Error::LengthMismatch {
                what: "scan segments from totals",
                buffer: x.len(),
                other: before.len(),
            };
            return Err(error.into());
        }
        // Reads all first elements before any device is busy.
        for ((member, x), &before) in self.members.iter_mut().zip(&*x).zip(before) {
            if let Some(before) = before.filter(|_| !x.is_empty()) {
                let mut first = [T::zeroed()];
                x.download_range(0, &mut first)?;
                let [first] = first;
                member.edge.upload(&[first, O::combine(before, first), before])?;
            }
        }
        for ((member, (x, y)), before) in self.members.iter_mut().zip(x.iter_mut().zip(y)).zip(before) {
            match before {
                Some(_) if !x.is_empty() => member.scan(kind, x, y)?,
                _ => member.scanner.scan(kind, x, y)?,
            }
        }
        Ok(())
    }
}

impl<T: ScanElement<O> + ReduceElement<O>, O: Operator<T>> Member<T, O> {
    /// Enqueues the scan from the total in `edge`.
    fn scan(&mut self, kind: ScanKind, x: &mut Buffer<T>, y: &mut Buffer<T>) -> Result<(), MultiError> {
        x.copy_range_from(0, &self.edge, COMBINED..COMBINED + 1)?;
        let scanned = self.scanner.scan(kind, x, y);
        x.copy_range_from(0, &self.edge, UNCHANGED..UNCHANGED + 1)?;
        scanned?;
        if kind == ScanKind::Exclusive {
            y.copy_range_from(0, &self.edge, BEFORE..BEFORE + 1)?;
        }
        Ok(())
    }
}
