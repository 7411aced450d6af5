//! Tests that the remedies for faults of bulk copies are those that cure the kernels: each is proposed for a faulty
//! kernel, and the sound kernel beside it is the same one with this change.

use launch::Error;
use simt::{Checks, Remedy, Schedule};
use tests::checked;

use crate::{What, cases};

/// A faulty kernel, the remedy, and the cured kernel.
const CURED: [(&str, Remedy, &str); 14] = [
    ("loaded_and_not_waited", Remedy::WaitForOperation, "loaded_and_waited"),
    ("waited_by_one_thread", Remedy::WaitForOperation, "waited_by_one_thread_before_a_barrier"),
    ("initialised_without_fence", Remedy::InitFence, "loaded_and_waited"),
    ("cleared_without_proxy_fence", Remedy::ProxyFence, "cleared_with_proxy_fence"),
    ("source_written_while_loading", Remedy::WaitForReads, "source_written_after_loading"),
    ("two_copies_to_one_place", Remedy::BetweenOperations, "loaded_again_after_a_barrier"),
    ("stored_without_proxy_fence", Remedy::ProxyFence, "stored_and_waited"),
    ("overwritten_before_it_was_read", Remedy::WaitForReads, "overwritten_after_it_was_read"),
    ("read_back_after_its_source_was_read", Remedy::WaitForOperation, "read_back_after_its_end"),
    ("stored_twice_to_one_place", Remedy::BetweenOperations, "stored_one_after_the_other"),
    ("stored_and_loaded", Remedy::BetweenOperations, "stored_and_loaded_after_the_end"),
    ("one_half_expected", Remedy::ExpectAllBytes, "two_halves"),
    ("not_expected", Remedy::ExpectAllBytes, "loaded_and_waited"),
    ("sent_without_proxy_fence", Remedy::ProxyFence, "sent_to_the_other_block"),
];

#[test]
fn remedies_cure() {
    for (faulty, remedy, cured) in CURED {
        let find = |name| cases().find(|case| case.name == name).unwrap_or_else(|| panic!("no case {name}"));
        assert_eq!(find(cured).what, What::RaceFree, "{cured}");
        for schedule in Schedule::HOSTILE {
            let found = match find(faulty).launch(&checked(schedule, Checks::default())) {
                Err(Error::Fault(fault)) => fault.remedy(),
                other => panic!("{faulty}, {schedule}: {other:?}"),
            };
            assert_eq!(found, Some(remedy), "{faulty}, {schedule}");
        }
    }
}

/// A race of a copy that overwrites what threads still read. The later access may be that of the copy or of a thread.
#[test]
fn the_order_before_a_copy_is_a_remedy() {
    for faulty in ["loaded_again_too_early", "multicast_again_while_the_other_block_reads", "stored_without_barrier"] {
        let mut found = Vec::new();
        for schedule in Schedule::HOSTILE {
            let case = cases().find(|case| case.name == faulty).unwrap_or_else(|| panic!("no case {faulty}"));
            match case.launch(&checked(schedule, Checks::default())) {
                Err(Error::Fault(fault)) => found.extend(fault.remedy()),
                other => panic!("{faulty}, {schedule}: {other:?}"),
            }
        }
        assert!(found.contains(&Remedy::BeforeOperation), "{faulty}: {found:?}");
    }
}
