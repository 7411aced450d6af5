//! What is run on a team and checked, whatever it is.

use super::Team;
use crate::deviation::Deviation;
use crate::error::AlgorithmError;

/// A piece of work of a [`Team`], with its inputs: a run allocates nothing. All ranks call the same methods in the same order.
pub trait SplitWork {
    /// Runs it. On GPUs it may return before they are done; what it exchanges between members is part of it.
    ///
    /// # Errors
    /// Whatever prevents a launch, or when another rank has ended.
    fn run(&mut self) -> Result<(), AlgorithmError>;

    /// Runs it on fresh inputs, and compares what this rank has of the result with the reference.
    ///
    /// # Errors
    /// As for [`run`](Self::run), and when a launch made before failed.
    fn verify(&mut self) -> Result<Deviation, AlgorithmError>;

    /// Of a cellular automaton, the generations of a run. What counts then is not its bytes.
    fn generations(&self) -> Option<u64> {
        None
    }
}

impl Team<'_> {
    /// Seconds that `work` takes, from the moment when all ranks are ready until the last is done.
    ///
    /// # Errors
    /// As for [`SplitWork::run`].
    pub fn time(&self, work: &mut dyn SplitWork) -> Result<f64, AlgorithmError> {
        self.synchronize()?;
        self.ranks().barrier()?;
        let begun = std::time::Instant::now();
        work.run()?;
        self.synchronize()?;
        let own = begun.elapsed().as_secs_f64();
        Ok(super::gathered(self.ranks(), &[own])?.into_iter().flatten().fold(0.0, f64::max))
    }
}
