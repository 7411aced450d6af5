//! What a run has found, as reports show it.

use reports::Finding;
use workbench::case::CaseError;

/// What `error` says.
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

/// The family of the kernel that failed.
pub(super) fn family(finding: &Finding) -> Option<&'static str> {
    let kernel = finding.kernel?;
    super::selection::kernels().find(|info| info.name == kernel).map(|info| info.family)
}
