//! Scans of vectors in rounds. A round is a contiguous part of the vector that is split over a team.

use std::ops::Range;

use gpu::operator::Operator;
use launch::{Buffer, Device, Element};

use super::SplitScan;
use crate::error::MultiError;
use crate::team::{Team, gathered};
use gridstride::reduce::ReduceElement;
use gridstride::scan::{ScanElement, ScanKind, ScanRung};

/// The smallest number of bytes in a round. Smaller rounds would make the scan slower, because the host needs about ten
/// microseconds between two rounds.
const MIN_ROUND_BYTES: usize = 256 << 20;
/// The largest number of rounds that [`Rounds::new`] chooses.
const MAX_ROUNDS: usize = 32;

/// The number of shares of a round for each member except the last. A round is divided into shares, which are equal
/// parts.
const SHARE: usize = 2;
/// The number of shares of a round for the last member. This member has more shares, because it only scans its elements
/// and does not reduce them.
const LAST_SHARE: usize = 3;

/// The division of a vector into rounds. Each round is split over all members of a team.
#[derive(Clone, Debug)]
pub struct Rounds {
    n: usize,
    rounds: usize,
    members: usize,
    first: usize,
    own: usize,
}

impl Rounds {
    /// Returns the division of `n` elements of type `T` for which the scan is fastest. For few elements, this is a
    /// single round with segments of equal length.
    pub fn new<T: Element>(team: &Team<'_>, n: usize) -> Self {
        let rounds = n.saturating_mul(size_of::<T>()) / MIN_ROUND_BYTES;
        Self::of(team, n, if team.members() == 1 { 1 } else { rounds.clamp(1, MAX_ROUNDS) })
    }

    /// Returns the division of `n` elements into `rounds` rounds, or into one round if `rounds` is 0.
    pub fn of(team: &Team<'_>, n: usize, rounds: usize) -> Self {
        Self { n, rounds: rounds.max(1), members: team.members(), first: team.first(), own: team.devices().len() }
    }

    /// Returns the fraction of all elements that the last of `members` members has if there are several rounds. This is
    /// the largest fraction of any member.
    pub fn largest_share(members: usize) -> f64 {
        LAST_SHARE as f64 / (SHARE * members.saturating_sub(1) + LAST_SHARE) as f64
    }

    /// Returns the number of rounds.
    pub fn len(&self) -> usize {
        self.rounds
    }

    /// Returns false, because there is at least one round.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Returns the range of elements that this rank's device number `device` has in round `round`.
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

    /// Returns this rank's segments of each round. To create a segment, the function calls `segment` with a device and
    /// the device's range of elements.
    ///
    /// # Errors
    /// Returns the first error that `segment` returns.
    pub fn make<T: Element>(
        &self,
        team: &Team<'_>,
        segment: impl Fn(&Device, Range<usize>) -> Result<Buffer<T>, MultiError>,
    ) -> Result<Vec<Vec<Buffer<T>>>, MultiError> {
        let of_round = |round| {
            let devices = team.devices()[..self.own].iter().enumerate();
            devices.map(|(number, device)| segment(device, self.segment(round, number))).collect()
        };
        (0..self.rounds).map(of_round).collect()
    }
}

/// A scan of vectors that are divided into rounds. It owns the device memory that it needs.
///
/// While the last member scans its segment of a round, the other members scan their segments of this round and reduce
/// their segments of the next. All members therefore work all the time.
pub struct RoundScan<'t, T: ScanElement<O> + ReduceElement<O>, O: Operator<T>> {
    team: &'t Team<'t>,
    rounds: Vec<SplitScan<'t, T, O>>,
}

impl<'t, T: ScanElement<O> + ReduceElement<O>, O: Operator<T>> RoundScan<'t, T, O> {
    /// Returns a scan for vectors that have segments of the same lengths as `x`. `x` must have this rank's segments of
    /// each round. `rung` must return the rung for a device and the length of its segment.
    ///
    /// # Errors
    /// Returns the errors of [`SplitScan::new`].
    pub fn new(
        team: &'t Team<'t>,
        rung: impl Fn(&Device, usize) -> ScanRung,
        x: &[Vec<Buffer<T>>],
    ) -> Result<Self, MultiError> {
        let rounds = x.iter().map(|x| SplitScan::new(team, &rung, x)).collect::<Result<_, _>>()?;
        Ok(Self { team, rounds })
    }

    /// Writes the scan of `x` into `y`. On GPUs this function returns when it has enqueued the last round. Like
    /// [`SplitScan::scan`], the function changes elements of `x` and restores them.
    ///
    /// # Errors
    /// Returns the errors of [`SplitScan::scan`].
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
            first.totals().enqueue(x)?;
        }
        for round in 0..self.rounds.len() {
            let before = self.rounds[round].totals().before(carry)?;
            self.rounds[round].scan_from(kind, &before.own, &mut x[round], &mut y[round])?;
            if round + 1 < self.rounds.len() {
                self.rounds[round + 1].totals().enqueue(&x[round + 1])?;
                carry = self.last(kind, before.last, &x[round], &y[round])?;
            }
        }
        Ok(())
    }

    /// Returns the total of all elements up to the end of a round. The function reads the total from the last member's
    /// scan. Returns `before` if the last member's segment is empty.
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
