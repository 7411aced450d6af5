//! Runs cases in a checked simulator. [`run_cases`] runs cases under several schedules. [`mutations`] runs cases with
//! one synchronisation left out at a time, and records which check reports the absence of the synchronisation.

mod finding;
pub mod mutations;

pub use explain::check::{KernelChecks, Progress, Report, Settings, Tried, notes, run_cases, thorough, warnings};
pub use finding::{family, of_error};
pub use reports::{Finding, Side, sarif};

/// The outcome of running a case under one schedule.
pub type CaseRun = explain::check::CaseRun<crate::case::CaseError>;
