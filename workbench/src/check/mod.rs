//! Cases in a checked simulator: [`run_cases`] runs them under several orders of the threads, and [`mutations`] leaves
//! out each synchronisation, one at a time, to see that this is reported.

mod finding;
pub mod mutations;
mod runs;

pub use finding::{family, of_error};
pub use reports::{Finding, Side, sarif};
pub use runs::{CaseRun, Settings, run_cases};

/// Receives the progress of work that several threads do.
pub trait Progress: Sync {
    /// Is called once, before the first of `steps` steps.
    fn begin(&self, steps: usize);

    /// Is called after each step, with the amount of work that it was.
    fn step(&self, work: u64);
}

/// Ignores progress.
impl Progress for () {
    fn begin(&self, _steps: usize) {}

    fn step(&self, _work: u64) {}
}
