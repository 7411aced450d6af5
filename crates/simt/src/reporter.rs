//! The reporter: a function that a simulator calls with the faults and notes of its launches.

use crate::faults::Fault;
use crate::raw::notes::Note;

/// A fault or a note that a launch ends with.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Reported<'a> {
    /// The fault that ended the launch.
    Fault(&'a Fault),
    /// A message that is no fault.
    Note(&'a Note),
}

/// A function that a launch calls with each of its faults and notes, before it returns.
pub type Reporter = fn(Reported<'_>);
