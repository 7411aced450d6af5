//! Tests that the remedies for faults of warpgroups, and of the products of a warp, are those that cure the kernels:
//! each is proposed for a faulty kernel, and the sound kernel beside it is the same one with this change.

use std::num::NonZeroUsize;

use launch::{Device, Error};
use simt::{Checks, Remedy, Schedule, Simulator};

use super::super::Verdict::Sound;
use super::super::products;
use super::CASES;

/// A faulty kernel, the remedy, and the cured kernel.
const CURED: [(&str, Remedy, &str); 14] = [
    ("filled_without_proxy_fence", Remedy::ProxyFence, "multiplied"),
    ("overwritten_before_the_wait", Remedy::WaitForFactors, "overwritten_after_the_wait"),
    ("a_stage_overwritten_one_group_too_early", Remedy::WaitForFactors, "two_stages"),
    ("released_before_the_wait", Remedy::WaitForFactors, "released_after_the_wait"),
    ("released_too_early", Remedy::WaitForFactors, "released_by_one_thread"),
    ("read_before_the_wait", Remedy::WaitForProduct, "single_instructions"),
    ("waited_without_a_group", Remedy::CommitProduct, "single_instructions"),
    ("a_product_without_a_wait", Remedy::WaitForProduct, "a_product_whose_sums_nobody_reads"),
    ("a_fence_before_the_sums_are_written", Remedy::ProductFence, "one_fence_for_two_products"),
    ("sums_written_anew_without_a_fence", Remedy::ProductFence, "sums_written_anew_before_a_fence"),
    ("a_matrix_for_each_warp", Remedy::WholeWarpgroup, "a_matrix_for_each_warpgroup"),
    ("a_product_of_64_threads", Remedy::WholeWarpgroups, "multiplied"),
    ("loaded_and_not_waited", Remedy::BetweenOperations, "loaded_and_waited"),
    ("a_product_of_24_threads", Remedy::WholeWarps, "a_product_by_all_lanes"),
];

#[test]
fn remedies_of_warpgroups_cure() {
    let cases = || CASES.into_iter().chain([products::CASES]).flatten();
    let find = |name| cases().find(|case| case.name == name).unwrap_or_else(|| panic!("no {name}"));
    for (faulty, remedy, cured) in CURED {
        assert_eq!(find(cured).verdict, Sound, "{cured}");
        for schedule in Schedule::HOSTILE {
            let simulator = Simulator::new().with_workers(NonZeroUsize::MIN).with_checks(Checks::default());
            let found = match (find(faulty).run)(&Device::simulated(simulator.with_schedule(schedule))) {
                Err(Error::Fault(fault)) => fault.remedy(),
                other => panic!("{faulty}, {schedule}: {other:?}"),
            };
            assert_eq!(found, Some(remedy), "{faulty}, {schedule}");
        }
    }
}
