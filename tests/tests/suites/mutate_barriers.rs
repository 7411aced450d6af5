//! Tests that the kernels need every barrier, warp synchronisation and fence that they contain. If one is removed, the
//! simulator must report a fault. If all are present, it must report no fault, even under strict checks.

use workbench::case::Case;
use workbench::cases::catalogue;
use workbench::check::mutations::{self, MutationEntry};
use workbench::check::{Settings, run_cases};

#[test]
fn every_synchronisation_that_is_left_out_is_reported() {
    let cases = catalogue();
    let mutations = mutations::mutate(&cases, &Settings::default(), &()).unwrap().synchronisations;
    // Returns true if a case of kernel `kernel` launches a kernel named `found`.
    let is_of_a_case = |kernel: &str, found: &str| {
        let about = cases.iter().filter(|case| case.kernels().first() == Some(&kernel));
        about.flat_map(|case| case.kernels()).any(|family| found.starts_with(family))
    };
    let place = |mutation: &MutationEntry| format!("{}:{} of {}", mutation.file, mutation.line, mutation.kernel);
    let is_known = |mutation: &MutationEntry| mutations::REDUNDANT.iter().any(|entry| entry.is_of(mutation));
    let unreported = mutations.iter().filter(|mutation| mutation.reported.is_none());
    let needless = unreported.filter(|mutation| !is_known(mutation)).map(place);
    assert_eq!(needless.collect::<Vec<_>>(), [""; 0], "the kernels do not need these: remove them");
    for mutation in &mutations {
        // The report of a wrong result does not name a kernel.
        if let Some(found) = mutation.reported.as_ref().and_then(|reported| reported.finding.kernel) {
            assert!(is_of_a_case(mutation.kernel, found), "{} is missed by {found}", place(mutation));
        }
    }
    // These folders contain kernels with many synchronisations.
    for folder in ["device_library", "life", "matmul", "reduce", "scan", "tensor_library", "transpose"] {
        let places = mutations::places(&mutations, &format!("gpu/src/{folder}/"));
        assert!(places.len() >= 4, "{folder}: {places:?}");
    }
}

/// Tests under strict checks, which report whatever the default checks report, that no kernel relies on shuffles to
/// order memory either.
#[test]
fn no_kernel_is_accused_wrongly() {
    let cases = catalogue();
    let cases: Vec<&Case> = cases.iter().collect();
    for run in run_cases(&cases, &Settings::new(true, &[]), &()) {
        if let Some(error) = run.error {
            panic!("{} under {}: {error}", cases[run.case], run.schedule);
        }
    }
}
