//! Reduction of a vector split over members.

use gpu::operator::Operator;
use launch::{Buffer, Element};

use crate::error::MultiError;
use crate::team::{Team, lengths};
use gridstride::error::AlgorithmError;
use gridstride::reduce::{Plan, ReduceElement, ReduceRung, Reducer};

/// A reduction of vectors whose parts have the lengths that it was made for, with its memory.
pub struct SplitReduction<'t, T: ReduceElement<O>, O: Operator<T>> {
    team: &'t Team<'t>,
    members: Vec<Reducer<T, O>>,
    roundings: usize,
}

impl<'t, T: ReduceElement<O>, O: Operator<T>> SplitReduction<'t, T, O> {
    /// For vectors with parts as long as those of `x`, by `rung`.
    ///
    /// # Errors
    /// As for [`Reducer::new`]; when there is not a buffer for each of the rank's devices.
    pub fn new(team: &'t Team<'t>, rung: ReduceRung, x: &[Buffer<T>]) -> Result<Self, MultiError> {
        team.check("reduce parts", x)?;
        let members: Result<Vec<_>, _> =
            x.iter().zip(team.devices()).map(|(x, device)| Reducer::new(device, rung, x.len())).collect();
        let members = members?;
        let deepest = deepest(team, &mut members.iter().map(Reducer::plan))?;
        // A member's own, and one for each member after the first.
        let roundings = deepest + team.members().saturating_sub(1);
        Ok(Self { team, members, roundings })
    }

    /// Returns the largest number of roundings between an element and the result of a float sum.
    pub fn roundings(&self) -> usize {
        self.roundings
    }

    /// Returns the bytes of temporary storage on this rank's devices.
    pub fn workspace_bytes(&self) -> u64 {
        self.members.iter().map(|member| member.plan().workspace_bytes()).sum()
    }

    /// Asks all devices for their results. On GPUs it returns at once.
    ///
    /// # Errors
    /// As for [`Reducer::run`].
    pub fn run(&mut self, x: &[Buffer<T>]) -> Result<(), MultiError> {
        self.team.check("reduce parts", x)?;
        Ok(self.members.iter_mut().zip(x).try_for_each(|(member, x)| member.run(x).map(drop))?)
    }

    /// The result of the last [`run`](Self::run), on all ranks: those of the members, combined in their order.
    ///
    /// # Errors
    /// When a launch made before failed, or another rank has ended.
    pub fn result(&self) -> Result<T, MultiError> {
        let totals = self.team.gather(&results(&mut self.members.iter().map(Reducer::result))?)?;
        Ok(totals.into_iter().reduce(O::combine).unwrap_or(O::IDENTITY))
    }

    /// All elements of `x` combined, on all ranks.
    ///
    /// # Errors
    /// As for [`run`](Self::run) and [`result`](Self::result).
    pub fn reduce(&mut self, x: &[Buffer<T>]) -> Result<T, MultiError> {
        self.run(x)?;
        self.result()
    }
}

/// The totals of what is before each of this rank's members, as reductions of those that have others after them.
pub(crate) struct Totals<'t, T: ReduceElement<O>, O: Operator<T>> {
    team: &'t Team<'t>,
    /// None for the last of all.
    members: Vec<Option<Reducer<T, O>>>,
    lengths: Vec<usize>,
}

impl<'t, T: ReduceElement<O>, O: Operator<T>> Totals<'t, T, O> {
    pub(crate) fn new(team: &'t Team<'t>, rung: ReduceRung, x: &[Buffer<T>]) -> Result<Self, MultiError> {
        let is_last = |member: usize| team.first() + member + 1 == team.members();
        let members = x.iter().zip(team.devices()).enumerate();
        let members = members.map(|(number, (x, device))| match is_last(number) {
            true => Ok(None),
            false => Reducer::new(device, rung, x.len()).map(Some),
        });
        Ok(Self { team, members: members.collect::<Result<_, AlgorithmError>>()?, lengths: lengths(team, x)? })
    }

    /// Roundings, at most, between an element and a total.
    pub(crate) fn roundings(&self) -> Result<usize, MultiError> {
        let deepest = deepest(self.team, &mut self.members.iter().flatten().map(Reducer::plan))?;
        Ok(deepest + self.team.members())
    }

    /// Asks the devices for the totals of their parts. On GPUs it returns at once.
    pub(crate) fn ask(&mut self, x: &[Buffer<T>]) -> Result<(), MultiError> {
        for (member, x) in self.members.iter_mut().zip(x) {
            if let Some(member) = member {
                member.run(x)?;
            }
        }
        Ok(())
    }

    /// The totals of what is before each of the parts that [`ask`](Self::ask) was called for, where before all of them
    /// is `total`, if there is anything. It waits for the devices.
    pub(crate) fn before(&self, mut total: Option<T>) -> Result<Before<T>, MultiError> {
        let mut own = results(&mut self.members.iter().flatten().map(Reducer::result))?;
        // The last of all has none.
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

/// The totals of all elements before parts; none where there are no such elements.
pub(crate) struct Before<T> {
    /// Before each of this rank's.
    pub(crate) own: Vec<Option<T>>,
    /// Before the last of all.
    pub(crate) last: Option<T>,
}

/// Returns the only element of each buffer. Compiled once per type, and not per operator.
fn results<T: Element>(buffers: &mut dyn Iterator<Item = &Buffer<T>>) -> Result<Vec<T>, MultiError> {
    let mut results = Vec::new();
    for buffer in buffers {
        let mut element = [T::zeroed()];
        buffer.download_into(&mut element)?;
        results.extend(element);
    }
    Ok(results)
}

/// Returns the largest number of roundings of any member's plan, on all ranks.
fn deepest(team: &Team<'_>, plans: &mut dyn Iterator<Item = &Plan>) -> Result<usize, MultiError> {
    // As many on each rank as it has devices: one without a plan has no roundings.
    let mut own: Vec<u64> = plans.map(|plan| plan.roundings() as u64).collect();
    own.resize(team.devices().len(), 0);
    Ok(team.gather(&own)?.into_iter().max().unwrap_or(0) as usize)
}
