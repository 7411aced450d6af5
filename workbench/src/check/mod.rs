//! Runs cases in a checked simulator. [`run_cases`] runs them under several schedules. [`mutations`] leaves out one
//! synchronisation at a time and records the reports.

mod finding;
pub mod mutations;
mod runs;

pub use finding::{family, of_error};
pub use reports::{Finding, Side, sarif};
pub use runs::{CaseRun, Settings, run_cases};

/// Receives the progress of work on several threads.
pub trait Progress: Sync {
    /// Called once, before the first of `steps` steps.
    fn begin(&self, steps: usize);

    /// Called after each step, with its amount of work.
    fn step(&self, work: u64);
}

/// Ignores progress.
impl Progress for () {
    fn begin(&self, _steps: usize) {}

    fn step(&self, _work: u64) {}
}
