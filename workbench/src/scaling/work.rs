//! Measurement on a team, and its timing.

use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use multi::team::Team;

/// Measurement of a [`Team`] on its inputs. A run allocates nothing. All ranks must call the same methods in the same
/// order.
pub trait SplitWork {
    /// Runs it, with all exchanges between members. On GPUs it may return before they have finished.
    ///
    /// # Errors
    /// The error of a launch, or an error if another rank has ended.
    fn run(&mut self) -> Result<(), WorkbenchError>;

    /// Runs it on fresh inputs, and compares this rank's segments of the result with the reference.
    ///
    /// # Errors
    /// As for [`run`](Self::run), and if an earlier launch failed.
    fn verify(&mut self) -> Result<Deviation, WorkbenchError>;

    /// Returns the generations per run of Life, whose figures are cell updates; `None` for other algorithms.
    fn generations(&self) -> Option<u64> {
        None
    }
}

/// Returns the seconds that `work` takes, from when all ranks of `team` are ready until the last has finished.
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
