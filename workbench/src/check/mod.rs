//! Runs cases in a checked simulator. [`run_cases`] runs cases under several schedules. [`mutations`] runs cases with
//! one synchronisation left out at a time, and records which check reports the absence of the synchronisation.

mod finding;
pub mod mutations;
mod runs;

pub use finding::{family, of_error};
pub use reports::{Finding, Side, sarif};
pub use runs::{CaseRun, Settings, run_cases};

/// Receives reports of progress from work on several threads.
pub trait Progress: Sync {
    /// Called once, before the first step, with the number of steps.
    fn begin(&self, steps: usize);

    /// Called after each step, with the amount of work in the step.
    fn step(&self, work: u64);
}

/// Ignores all reports of progress.
impl Progress for () {
    fn begin(&self, _steps: usize) {}

    fn step(&self, _work: u64) {}
}
