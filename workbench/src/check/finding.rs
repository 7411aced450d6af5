//! Converts the error of a case to a finding, which reports show.

use explain::check::{CaseFailure, CheckedCase};
use reports::Finding;
use simt::Simulator;

use crate::case::{Case, CaseError};
use crate::cases;

impl CheckedCase for Case {
    type Error = CaseError;

    fn run(&self, simulator: Simulator) -> Result<(), CaseError> {
        Case::run(self, simulator)
    }
}

impl CaseFailure for CaseError {
    fn finding(&self) -> Finding {
        of_error(self)
    }

    fn is_unfinished(&self) -> bool {
        self.is_unfinished()
    }
}

/// Returns the finding that describes the error of a case.
pub fn of_error(error: &CaseError) -> Finding {
    match error.fault() {
        Some(fault) => Finding { message: error.to_string(), ..Finding::of_fault(fault) },
        None => {
            let kind = match error {
                CaseError::Wrong(_) => "wrong result",
                _ => "failure",
            };
            Finding::new(kind, error.to_string())
        }
    }
}

/// Returns the function name of the kernel in which the finding was made.
pub fn family(finding: &Finding) -> Option<&'static str> {
    let kernel = finding.kernel?;
    cases::kernels().find(|info| info.name == kernel).map(|info| info.family)
}
