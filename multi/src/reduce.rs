//! Reductions of vectors that are split over a team, the devices of all ranks.

use gpu::operator::Operator;
use launch::{Buffer, Element};

use crate::error::MultiError;
use crate::team::{Team, lengths};
use gridstride::reduce::{Plan, ReduceElement, ReduceRung, Reducer};

/// A reduction of vectors that are split over a team. It owns the device memory that it needs.
///
/// Each device rounds its result to the element type. A sum of `f16` or `bf16` is therefore rounded once per device,
/// and once more for each combination of two results.
pub struct SplitReduction<'t, T: ReduceElement<O>, O: Operator<T>> {
    team: &'t Team<'t>,
    members: Vec<Reducer<T, O>>,
    roundings: usize,
}

impl<'t, T: ReduceElement<O>, O: Operator<T>> SplitReduction<'t, T, O> {
    /// Returns a reduction that `rung` computes. The vector of each run must have segments of the same lengths as `x`.
    ///
    /// # Errors
    /// Returns the errors of [`Reducer::new`], and an error if `x` does not have one buffer per device of this rank.
    pub fn new(team: &'t Team<'t>, rung: ReduceRung, x: &[Buffer<T>]) -> Result<Self, MultiError> {
        team.check("reduce segments", x)?;
        let mut members = Vec::with_capacity(x.len());
        for (x, device) in x.iter().zip(team.devices()) {
            members.push(Reducer::new(device, rung, x.len())?);
        }
        let deepest = deepest(team, &mut members.iter().map(Reducer::plan))?;
        // The result has the roundings within a member, and one more for each member after the first.
        let roundings = deepest + team.members().saturating_sub(1);
        Ok(Self { team, members, roundings })
    }

    /// Returns the largest number of rounded additions on the path from an element to the result of a float sum.
    pub fn roundings(&self) -> usize {
        self.roundings
    }

    /// Returns the number of bytes of temporary storage on this rank's devices.
    pub fn workspace_bytes(&self) -> u64 {
        self.members.iter().map(|member| member.plan().workspace_bytes()).sum()
    }

    /// Enqueues the reduction of each segment on its device. On GPUs this function returns before the kernels have
    /// finished.
    ///
    /// # Errors
    /// Returns the errors of [`Reducer::run`].
    pub fn run(&mut self, x: &[Buffer<T>]) -> Result<(), MultiError> {
        self.team.check("reduce segments", x)?;
        for (member, x) in self.members.iter_mut().zip(x) {
            member.run(x)?;
        }
        Ok(())
    }

    /// Returns the result of the last [`run`](Self::run): the results of all members, combined in order. Every rank
    /// gets the same result.
    ///
    /// # Errors
    /// Returns an error if an earlier launch failed, or if another rank has ended.
    pub fn result(&self) -> Result<T, MultiError> {
        let totals = self.team.gather(&results(&mut self.members.iter().map(Reducer::result))?)?;
        Ok(totals.into_iter().reduce(O::combine).unwrap_or(O::IDENTITY))
    }

    /// Runs the reduction and returns all elements of `x` combined. Every rank gets the same result.
    ///
    /// # Errors
    /// Returns the errors of [`run`](Self::run) and [`result`](Self::result).
    pub fn reduce(&mut self, x: &[Buffer<T>]) -> Result<T, MultiError> {
        self.run(x)?;
        self.result()
    }
}

/// The reductions that compute, for each segment, the total of all elements before the segment. A scan needs these
/// totals. All segments except the last are reduced.
pub(crate) struct Totals<'t, T: ReduceElement<O>, O: Operator<T>> {
    team: &'t Team<'t>,
    /// One reducer per device of this rank; `None` for the last member of the team.
    members: Vec<Option<Reducer<T, O>>>,
    lengths: Vec<usize>,
}

impl<'t, T: ReduceElement<O>, O: Operator<T>> Totals<'t, T, O> {
    pub(crate) fn new(team: &'t Team<'t>, rung: ReduceRung, x: &[Buffer<T>]) -> Result<Self, MultiError> {
        let mut members = Vec::with_capacity(x.len());
        for (number, (x, device)) in x.iter().zip(team.devices()).enumerate() {
            let is_last = team.first() + number + 1 == team.members();
            members.push(if is_last { None } else { Some(Reducer::new(device, rung, x.len())?) });
        }
        Ok(Self { team, members, lengths: lengths(team, x)? })
    }

    /// Returns the largest number of rounded additions on the path from an element to the total before a segment.
    pub(crate) fn roundings(&self) -> Result<usize, MultiError> {
        let deepest = deepest(self.team, &mut self.members.iter().flatten().map(Reducer::plan))?;
        Ok(deepest + self.team.members())
    }

    /// Enqueues the reduction of each segment on its device. On GPUs this function returns before the kernels have
    /// finished.
    pub(crate) fn enqueue(&mut self, x: &[Buffer<T>]) -> Result<(), MultiError> {
        for (member, x) in self.members.iter_mut().zip(x) {
            if let Some(member) = member {
                member.run(x)?;
            }
        }
        Ok(())
    }

    /// Waits for the reductions of [`enqueue`](Self::enqueue) and returns the totals before the segments. `total` must
    /// be the total of the elements before the first segment, or `None` if there are no such elements.
    pub(crate) fn before(&self, mut total: Option<T>) -> Result<Before<T>, MultiError> {
        let mut own = results(&mut self.members.iter().flatten().map(Reducer::result))?;
        // The last member of the team has no reduction.
        own.resize(self.members.len(), O::IDENTITY);
        let totals = self.team.gather(&own)?;
        let mut before = Vec::with_capacity(totals.len());
        for (len, own) in self.lengths.iter().zip(totals) {
            before.push(total);
            if *len > 0 {
                total = Some(total.map_or(own, |total| O::combine(total, own)));
            }
        }
        let first = self.team.first();
        Ok(Before { own: before[first..first + self.members.len()].to_vec(), last: before.last().copied().flatten() })
    }
}

/// For some segments, the total of all elements before the segment, or `None` if there are no elements before it.
pub(crate) struct Before<T> {
    /// The totals before this rank's segments, one per device.
    pub(crate) own: Vec<Option<T>>,
    /// The total before the last segment of the team.
    pub(crate) last: Option<T>,
}

/// Returns the only element of each buffer. The function has no operator parameter, so that it is compiled only once
/// per type.
fn results<T: Element>(buffers: &mut dyn Iterator<Item = &Buffer<T>>) -> Result<Vec<T>, MultiError> {
    let mut results = Vec::new();
    for buffer in buffers {
        let mut element = [T::zeroed()];
        buffer.download_into(&mut element)?;
        results.extend(element);
    }
    Ok(results)
}

/// Returns the largest number of roundings among the plans of all members. `plans` must yield the plans of this rank's
/// members. All ranks get the same result.
fn deepest(team: &Team<'_>, plans: &mut dyn Iterator<Item = &Plan>) -> Result<usize, MultiError> {
    // Every rank must pass one value per device. The value for a device without a plan is 0.
    let mut own: Vec<u64> = plans.map(|plan| plan.roundings() as u64).collect();
    own.resize(team.devices().len(), 0);
    Ok(team.gather(&own)?.into_iter().max().unwrap_or(0) as usize)
}
