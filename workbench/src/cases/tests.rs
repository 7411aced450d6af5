//! Tests that all cases pass, and that they reach every kernel.

use std::collections::BTreeSet;

use simt::{LaunchLog, Simulator};

use super::*;
use crate::case::equal;
use crate::catalogue;

/// Runs every case and returns it with the function names of the kernels that it launched.
fn launched() -> Vec<(Case, BTreeSet<&'static str>)> {
    let run = |case: Case| {
        let log = LaunchLog::new();
        if let Err(error) = case.run(Simulator::new().with_log(log.clone())) {
            panic!("{case}: {error}");
        }
        let families = log.take().iter().map(|launch| launch.kernel.family).collect();
        (case, families)
    };
    catalogue().into_iter().map(run).collect()
}

#[test]
fn every_kernel_is_launched_by_a_case_that_names_it() {
    let mut all = BTreeSet::new();
    for (case, families) in launched() {
        assert_eq!(families, case.kernels().iter().copied().collect(), "{case}");
        all.extend(families);
    }
    let others = [
        gpu::device_library::KERNELS,
        gpu::tensor_library::KERNELS,
        gpu::warpgroup_library::KERNELS,
        crate::collectives::KERNELS,
    ]
    .concat();
    for kernel in catalogue::kernels().chain(others) {
        assert!(all.contains(kernel.family), "no case launches {}", kernel.family);
    }
}

#[test]
fn cases_have_names_of_their_own() {
    let names: BTreeSet<String> = catalogue().iter().map(Case::to_string).collect();
    assert_eq!(names.len(), catalogue().len());
}

#[test]
fn a_wrong_result_is_reported() {
    let message = equal("y", &[1, 2, 3], &[1, 2, 4]).unwrap_err().to_string();
    assert_eq!(message, "the result is wrong: y[2] is 3 instead of 4");
    let message = equal("y", &[1], &[1, 2]).unwrap_err().to_string();
    assert_eq!(message, "the result is wrong: y has 1 elements instead of 2");
    assert!(equal("y", &[1, 2], &[1, 2]).is_ok());
}

#[test]
fn every_faulty_kernel_has_a_case() {
    let all: BTreeSet<&str> = faults().iter().flat_map(|case| case.kernels()).copied().collect();
    assert_eq!(all, gpu::faults::KERNELS.iter().map(|kernel| kernel.family).collect());
}
