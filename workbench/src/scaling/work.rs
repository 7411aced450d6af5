//! Work that is run on a team and checked.

use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use multi::team::Team;

/// A piece of work of a [`Team`], with its inputs: a run allocates nothing. All ranks call the same methods in the same
/// order.
pub trait SplitWork {
    /// Runs it. On GPUs it may return before they are done; what it exchanges between members is part of it.
    ///
    /// # Errors
    /// Whatever prevents a launch, or when another rank has ended.
    fn run(&mut self) -> Result<(), WorkbenchError>;

    /// Runs it on fresh inputs, and compares what this rank has of the result with the reference.
    ///
    /// # Errors
    /// As for [`run`](Self::run), and when a launch made before failed.
    fn verify(&mut self) -> Result<Deviation, WorkbenchError>;

    /// Returns the generations per run of a cellular automaton, whose figures are cell updates and not bytes.
    fn generations(&self) -> Option<u64> {
        None
    }
}

/// Returns the seconds that `work` takes, from the moment when all ranks of `team` are ready until the last is done.
///
/// # Errors
/// As for [`SplitWork::run`].
pub fn time(team: &Team<'_>, work: &mut dyn SplitWork) -> Result<f64, WorkbenchError> {
    team.synchronize()?;
    team.ranks().barrier()?;
    let begun = std::time::Instant::now();
    work.run()?;
    team.synchronize()?;
    let own = begun.elapsed().as_secs_f64();
    Ok(team.gather(&[own])?.into_iter().fold(0.0, f64::max))
}
