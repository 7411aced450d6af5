//! Scans of vectors that are split over a team, the devices of all ranks.
//!
//! # Design
//!
//! Before a device scans its segment, a copy replaces the segment's first element by the total of all elements before
//! the segment, combined with this element. The same kernels can therefore scan segments and whole vectors. The host
//! combines the totals of the segments in order. The host enqueues the work of all devices before it waits for the
//! first device.

use gpu::operator::Operator;
use launch::{Buffer, Device};

use crate::error::MultiError;
use crate::reduce::Totals;
use crate::team::Team;
use gridstride::reduce::{self, ReduceElement};
use gridstride::scan::{ScanElement, ScanKind, ScanRung, Scanner};

mod rounds;

pub use rounds::{RoundScan, Rounds};

/// A scan of vectors that are split over a team. It owns the device memory that it needs.
///
/// While a member scans its segment, the segment's first element is replaced by the total of all elements before the
/// segment, combined with this element. [`team`](crate::team) describes how long a scan takes.
pub struct SplitScan<'t, T: ScanElement<O> + ReduceElement<O>, O: Operator<T>> {
    team: &'t Team<'t>,
    totals: Totals<'t, T, O>,
    members: Vec<Member<T, O>>,
}

/// The scanner of a device, with memory for the first element of its segment.
struct Member<T: ScanElement<O> + ReduceElement<O>, O: Operator<T>> {
    scanner: Scanner<T, O>,
    /// Three values: the segment's first element, the combination of the total before the segment with this element,
    /// and that total.
    edge: Buffer<T>,
}

/// The index in [`Member::edge`] of the segment's first element.
const UNCHANGED: usize = 0;
/// The index in [`Member::edge`] of the combination of the total before the segment with the first element.
const COMBINED: usize = 1;
/// The index in [`Member::edge`] of the total before the segment.
const BEFORE: usize = 2;

impl<'t, T: ScanElement<O> + ReduceElement<O>, O: Operator<T>> SplitScan<'t, T, O> {
    /// Returns a scan for vectors that have segments of the same lengths as `x`. `rung` must return the rung for a
    /// device and the length of its segment.
    ///
    /// # Errors
    /// Returns the errors of [`Scanner::new`], and an error if `x` does not have one buffer per device of this rank.
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

    /// Returns the largest number of rounded additions on the path from an element to the first result of a later
    /// segment. The element contributes to that result through the total before the segment.
    ///
    /// # Errors
    /// Returns an error if another rank has ended.
    pub fn roundings(&self) -> Result<usize, MultiError> {
        self.totals.roundings()
    }

    /// Returns the reductions that compute the totals before the segments.
    pub(super) fn totals(&mut self) -> &mut Totals<'t, T, O> {
        &mut self.totals
    }

    /// Returns the number of bytes of temporary storage of this rank's scans.
    pub fn temporary_bytes(&self) -> u64 {
        self.members.iter().map(|member| member.scanner.temporary_bytes()).sum()
    }

    /// Writes the scan of `x` into `y`. On GPUs this function returns when the host knows the totals, before the scans
    /// have finished. Later work on the devices sees the results of the scans. The first elements of the segments of
    /// `x` change during the scan and are restored at its end.
    ///
    /// # Errors
    /// Returns the errors of [`Scanner::scan`], and an error if another rank has ended.
    pub fn scan(&mut self, kind: ScanKind, x: &mut [Buffer<T>], y: &mut [Buffer<T>]) -> Result<(), MultiError> {
        self.team.check("scan segments", x)?;
        self.totals.enqueue(x)?;
        let before = self.totals.before(None)?;
        self.scan_from(kind, &before.own, x, y)
    }

    /// Does the same as [`scan`](Self::scan), but the caller passes one total for each of this rank's segments: the
    /// total of all elements before the segment. The ranks exchange no data, and the host waits only for earlier work
    /// on its devices.
    ///
    /// # Errors
    /// Returns the errors of [`Scanner::scan`].
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
        // The host reads the first elements of all segments before it enqueues work on a device.
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
    /// Enqueues the scan of the segment `x` into `y`, starting from the total in `edge`.
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
