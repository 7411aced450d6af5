//! The finding of a run, as reports show it.

use reports::Finding;

use crate::case::CaseError;
use crate::cases;

/// Returns the finding of a case's error.
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

/// Returns the family of the kernel that failed.
pub fn family(finding: &Finding) -> Option<&'static str> {
    let kernel = finding.kernel?;
    cases::kernels().find(|info| info.name == kernel).map(|info| info.family)
}
