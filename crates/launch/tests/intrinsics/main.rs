//! What each operation of `cuda_std` on bits, warps, blocks and the grid gives, and what is a fault, in the simulator under
//! every order. The PTX of the same kernels is looked at by the tests of `cuda_builder`.

#[path = "../../../cuda_builder/tests/fixtures/intrinsics/src/kernels/mod.rs"]
mod kernels;

mod atomics;
mod barriers;
mod bits;
mod halves;
mod messages;
mod warps;

use launch::{Checks, Device, Error, Fault, Schedule, Simulator};

/// A device that checks, in each order.
fn devices() -> impl Iterator<Item = Device> {
    Schedule::HOSTILE
        .into_iter()
        .map(|schedule| Device::simulated(Simulator::new().with_checks(Checks::default()).with_schedule(schedule)))
}

/// The fault that a launch ends with.
#[track_caller]
fn fault(result: Result<(), Error>) -> Fault {
    match result {
        Err(Error::Fault(fault)) => *fault,
        other => panic!("no fault: {other:?}"),
    }
}

/// Numbers that look random, of which some are equal.
fn numbers(count: usize) -> Vec<u64> {
    (1..=count as u64).map(|i| (i * i).wrapping_mul(0x9E37_79B9_7F4A_7C15) % 1000).collect()
}
