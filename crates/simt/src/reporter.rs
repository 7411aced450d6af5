//! The reporter: a function that a simulator calls with the faults and notes of its launches.

use crate::faults::Fault;
use crate::raw::notes::Note;

/// A fault or a note that a launch passes to the reporter.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Reported<'a> {
    /// The fault that ended the launch.
    Fault(&'a Fault),
    /// A note of the launch, which is a warning and not a fault.
    Note(&'a Note),
}

/// A function that a simulator calls with each fault and note of a launch before the launch returns.
pub type Reporter = fn(Reported<'_>);
