//! Scan of a vector that is dealt to members in rounds.

use std::ops::Range;

use gpu::operator::Operator;
use launch::{Buffer, Device, Element};

use super::SplitScan;
use crate::error::MultiError;
use crate::team::{Team, gathered};
use gridstride::reduce::ReduceElement;
use gridstride::scan::{ScanKind, ScanRung, Scannable};

/// Rounds are no smaller than this, in bytes: what the host does between two takes some ten microseconds.
const LEAST_ROUND: usize = 256 << 20;
const MAX_ROUNDS: usize = 32;

/// Shares of a round: 2 for each member, 3 for the last, which skips the reduction.
const SHARE: usize = 2;
const LAST_SHARE: usize = 3;

/// The division of `n` elements into rounds, each of which is split over all members.
#[derive(Clone, Debug)]
pub struct Rounds {
    n: usize,
    rounds: usize,
    members: usize,
    first: usize,
    own: usize,
}

impl Rounds {
    /// The rounds in which a scan of `n` elements of `T` takes least. One round of even parts where it is small.
    pub fn new<T: Element>(team: &Team<'_>, n: usize) -> Self {
        let rounds = n.saturating_mul(size_of::<T>()) / LEAST_ROUND;
        Self::of(team, n, if team.members() == 1 { 1 } else { rounds.clamp(1, MAX_ROUNDS) })
    }

    /// Divides into that many rounds, at least one.
    pub fn of(team: &Team<'_>, n: usize, rounds: usize) -> Self {
        Self { n, rounds: rounds.max(1), members: team.members(), first: team.first(), own: team.devices().len() }
    }

    /// The share of all elements that the member with most of them has, of so many members, if there are several
    /// rounds.
    pub fn largest_share(members: usize) -> f64 {
        LAST_SHARE as f64 / (SHARE * members.saturating_sub(1) + LAST_SHARE) as f64
    }

    /// Returns the number of rounds.
    pub fn len(&self) -> usize {
        self.rounds
    }

    /// Never: there is one at least.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The elements that this rank's device of that number has of a round.
    pub fn segment(&self, round: usize, device: usize) -> Range<usize> {
        let split = |n: usize, of: usize, at: usize| (n / of) * at + (n % of).min(at);
        let (start, end) = (split(self.n, self.rounds, round), split(self.n, self.rounds, round + 1));
        let share = if self.rounds == 1 { [1, 1] } else { [SHARE, LAST_SHARE] };
        let shares = share[0] * (self.members - 1) + share[1];
        let border = |member: usize| match member == self.members {
            true => end,
            false => start + split(end - start, shares, share[0] * member),
        };
        let member = self.first + device;
        border(member)..border(member + 1)
    }

    /// This rank's parts of each round, made by `part` for a device and its elements.
    ///
    /// # Errors
    /// The error of `part`.
    pub fn make<T: Element>(
        &self,
        team: &Team<'_>,
        part: impl Fn(&Device, Range<usize>) -> Result<Buffer<T>, MultiError>,
    ) -> Result<Vec<Vec<Buffer<T>>>, MultiError> {
        let of_round = |round| {
            let devices = team.devices()[..self.own].iter().enumerate();
            devices.map(|(number, device)| part(device, self.segment(round, number))).collect()
        };
        (0..self.rounds).map(of_round).collect()
    }
}

/// A scan of vectors that are dealt as those that it was made for, with its memory.
///
/// While the last member scans its part of a round, the others scan theirs and reduce those of the next, so that none
/// waits.
pub struct RoundScan<'t, T: Scannable<O> + ReduceElement<O>, O: Operator<T>> {
    team: &'t Team<'t>,
    rounds: Vec<SplitScan<'t, T, O>>,
}

impl<'t, T: Scannable<O> + ReduceElement<O>, O: Operator<T>> RoundScan<'t, T, O> {
    /// For vectors with parts as long as those of `x`, which are a rank's of each round, by the rung that `rung` gives
    /// for each.
    ///
    /// # Errors
    /// As for [`SplitScan::new`].
    pub fn new(
        team: &'t Team<'t>,
        rung: impl Fn(&Device, usize) -> ScanRung,
        x: &[Vec<Buffer<T>>],
    ) -> Result<Self, MultiError> {
        let rounds = x.iter().map(|x| SplitScan::new(team, &rung, x)).collect::<Result<_, _>>()?;
        Ok(Self { team, rounds })
    }

    /// Writes the scan of `x` into `y`. On GPUs it returns when the last round has begun; `x` is as for
    /// [`SplitScan::scan`].
    ///
    /// # Errors
    /// As for [`SplitScan::scan`].
    pub fn scan(
        &mut self,
        kind: ScanKind,
        x: &mut [Vec<Buffer<T>>],
        y: &mut [Vec<Buffer<T>>],
    ) -> Result<(), MultiError> {
        for (what, len) in [("scan rounds", x.len()), ("scan into rounds", y.len())] {
            if len != self.rounds.len() {
                return Err(launch::Error::LengthMismatch { what, buffer: len, other: self.rounds.len() }.into());
            }
        }
        let mut carry = None;
        if let Some((first, x)) = self.rounds.first_mut().zip(x.first()) {
            first.totals().ask(x)?;
        }
        for round in 0..self.rounds.len() {
            let before = self.rounds[round].totals().before(carry)?;
            self.rounds[round].scan_from(kind, &before.own, &mut x[round], &mut y[round])?;
            if round + 1 < self.rounds.len() {
                self.rounds[round + 1].totals().ask(&x[round + 1])?;
                carry = self.last(kind, before.last, &x[round], &y[round])?;
            }
        }
        Ok(())
    }

    /// The total up to the end of a round, which the last member's scan has found; `before` where its part is empty.
    fn last(
        &self,
        kind: ScanKind,
        before: Option<T>,
        x: &[Buffer<T>],
        y: &[Buffer<T>],
    ) -> Result<Option<T>, MultiError> {
        let is_here = self.team.first() + self.team.devices().len() == self.team.members();
        let mut own = Vec::new();
        if let Some((x, y)) = x.last().zip(y.last()).filter(|(x, _)| is_here && !x.is_empty()) {
            let mut ends = [T::zeroed(); 2];
            let (of_y, of_x) = ends.split_at_mut(1);
            y.download_range(y.len() - 1, of_y)?;
            x.download_range(x.len() - 1, of_x)?;
            let [of_y, of_x] = ends;
            own.push(if kind == ScanKind::Inclusive { of_y } else { O::combine(of_y, of_x) });
        }
        let found = gathered(self.team.ranks(), &own)?.into_iter().flatten().next();
        Ok(found.or(before))
    }
}
