//! The trait of work that is split over a team of devices, and a function that measures its time.

use crate::deviation::Deviation;
use crate::error::WorkbenchError;
use multi::team::Team;

/// The work of an algorithm on inputs that are split over a [`Team`]. A run allocates no memory. All ranks must call
/// the same methods in the same order.
pub trait SplitWork {
    /// Runs the work, including all exchanges of data between devices. On GPUs this function may return before the
    /// devices have finished.
    ///
    /// # Errors
    /// The error of a launch, or an error if another rank has ended.
    fn run(&mut self) -> Result<(), WorkbenchError>;

    /// Runs the work on fresh inputs, and compares this rank's segments of the result with the reference.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run), and an error if an earlier launch failed.
    fn verify(&mut self) -> Result<Deviation, WorkbenchError>;

    /// Returns the number of generations per run if the algorithm is Life, and `None` for other algorithms.
    fn generations(&self) -> Option<u64> {
        None
    }

    /// Returns the number of operations per run if the work is measured by them, and `None` for other algorithms.
    fn operations(&self) -> Option<u64> {
        None
    }
}

/// Returns the time of one run of `work` in seconds. The time begins when all ranks of `team` are ready, and ends when
/// the last rank has finished.
///
/// # Errors
/// The errors of [`SplitWork::run`].
pub fn time(team: &Team<'_>, work: &mut dyn SplitWork) -> Result<f64, WorkbenchError> {
    team.synchronize()?;
    team.ranks().barrier()?;
    let begun = std::time::Instant::now();
    work.run()?;
    team.synchronize()?;
    let own = begun.elapsed().as_secs_f64();
    Ok(team.gather(&[own])?.into_iter().fold(0.0, f64::max))
}
