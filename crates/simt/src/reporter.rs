//! The reporter: a function that a simulator calls with the faults and notes of its launches.

use crate::fault::Fault;
use crate::raw::notes::Note;
use crate::simulator::Simulator;

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

impl Simulator {
    /// Calls `reporter` with each fault and note of the launches.
    #[must_use]
    pub fn with_reporter(mut self, reporter: Reporter) -> Self {
        self.reporter = Some(reporter);
        self
    }

    /// Passes `fault` to the reporter, and returns it.
    pub(crate) fn report_fault(&self, fault: Fault) -> Fault {
        self.report(Reported::Fault(&fault));
        fault
    }

    /// Passes `note` to the reporter.
    pub(crate) fn report_note(&self, note: &Note) {
        self.report(Reported::Note(note));
    }

    fn report(&self, reported: Reported<'_>) {
        if let Some(reporter) = self.reporter {
            reporter(reported);
        }
    }
}
