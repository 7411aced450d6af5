//! Scan of a vector split over members.
//!
//! # Design
//!
//! The total before a part enters its scan through the part's first element: it is combined with that element while the
//! member scans. No kernel knows of parts, and the results of the parts are combined on the host, in order. All devices
//! are given their work before the host waits for the first.

use gpu::operator::Operator;
use launch::{Buffer, Device};

use crate::error::MultiError;
use crate::reduce::Totals;
use crate::team::Team;
use gridstride::reduce::{self, ReduceElement};
use gridstride::scan::{ScanKind, ScanRung, Scannable, Scanner};

mod rounds;

pub use rounds::{RoundScan, Rounds};

/// A scan of vectors whose parts have the lengths that it was made for, with its memory.
///
/// The total of all that is before a member goes into the scan by its first element: while the member scans, that
/// stands in memory combined with the total. So each kernel for one device does. The text of [`team`](crate::team) says
/// how long it takes.
pub struct SplitScan<'t, T: Scannable<O> + ReduceElement<O>, O: Operator<T>> {
    team: &'t Team<'t>,
    totals: Totals<'t, T, O>,
    members: Vec<Member<T, O>>,
}

/// The scanner and memory of a device for its segment.
struct Member<T: Scannable<O> + ReduceElement<O>, O: Operator<T>> {
    scanner: Scanner<T, O>,
    /// The part's first element as it is, combined with the total before it, and that total.
    edge: Buffer<T>,
}

/// Elements of `edge`.
const AS_IT_IS: usize = 0;
const COMBINED: usize = 1;
const BEFORE: usize = 2;

impl<'t, T: Scannable<O> + ReduceElement<O>, O: Operator<T>> SplitScan<'t, T, O> {
    /// For vectors with parts as long as those of `x`, by the rung that `rung` gives for each.
    ///
    /// # Errors
    /// As for [`Scanner::new`]; when there is not a buffer for each of the rank's devices.
    pub fn new(
        team: &'t Team<'t>,
        rung: impl Fn(&Device, usize) -> ScanRung,
        x: &[Buffer<T>],
    ) -> Result<Self, MultiError> {
        team.check("scan parts", x)?;
        let totals = Totals::new(team, reduce::default_rung::<T, O>(), x)?;
        let member = |(x, device): (&Buffer<T>, &Device)| {
            let scanner = Scanner::new(device, rung(device, x.len()), x.len())?;
            Ok(Member { scanner, edge: device.alloc(3)? })
        };
        let members: Result<_, MultiError> = x.iter().zip(team.devices()).map(member).collect();
        Ok(Self { team, totals, members: members? })
    }

    /// Additions, at most, that an element passes through on the way into the total before a member, and from there on.
    ///
    /// # Errors
    /// When another rank has ended.
    pub fn roundings(&self) -> Result<usize, MultiError> {
        self.totals.roundings()
    }

    /// Returns the reductions that find the totals before each segment.
    pub(super) fn totals(&mut self) -> &mut Totals<'t, T, O> {
        &mut self.totals
    }

    /// Bytes of temporary storage of this rank's scans.
    pub fn temporary_bytes(&self) -> u64 {
        self.members.iter().map(|member| member.scanner.temporary_bytes()).sum()
    }

    /// Writes the scan of `x` into `y`. On GPUs it returns when the totals are known; the scans are there for whatever
    /// is asked of their devices next, and so is `x`, of which each part's first element has another value meanwhile.
    ///
    /// # Errors
    /// As for [`Scanner::scan`], and when another rank has ended.
    pub fn scan(&mut self, kind: ScanKind, x: &mut [Buffer<T>], y: &mut [Buffer<T>]) -> Result<(), MultiError> {
        self.team.check("scan parts", x)?;
        self.totals.ask(x)?;
        let before = self.totals.before(None)?;
        self.scan_from(kind, &before.own, x, y)
    }

    /// As [`scan`](Self::scan), where for each of this rank's parts the total of all elements before it is known:
    /// nothing is exchanged, and nothing waited for but what was asked before.
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
        self.team.check("scan parts", x)?;
        self.team.check("scan into parts", y)?;
        if before.len() != x.len() {
            let error = launch::Error::LengthMismatch { what: "scan parts from", buffer: x.len(), other: before.len() };
            return Err(error.into());
        }
        // The first elements of all, before any device is at work.
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

impl<T: Scannable<O> + ReduceElement<O>, O: Operator<T>> Member<T, O> {
    /// The scan from the total in `edge`. All of it is asked of the device, in this order.
    fn scan(&mut self, kind: ScanKind, x: &mut Buffer<T>, y: &mut Buffer<T>) -> Result<(), MultiError> {
        x.copy_range_from(0, &self.edge, COMBINED..COMBINED + 1)?;
        let scanned = self.scanner.scan(kind, x, y);
        x.copy_range_from(0, &self.edge, AS_IT_IS..AS_IT_IS + 1)?;
        scanned?;
        if kind == ScanKind::Exclusive {
            y.copy_range_from(0, &self.edge, BEFORE..BEFORE + 1)?;
        }
        Ok(())
    }
}
