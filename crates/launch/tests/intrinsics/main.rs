//! Tests the results and faults of `cuda_std`'s operations on bits, warps, blocks and the grid, in the simulator under
//! every hostile schedule. The tests of `cuda_builder` check the PTX of the same kernels, and write it to the file that
//! the environment variable `GRIDSTRIDE_INTRINSICS_PTX` names. If the variable is set, the tests here also run on a
//! GPU.

#[path = "../../../cuda_builder/tests/fixtures/intrinsics/src/kernels/mod.rs"]
mod kernels;

mod atomics;
mod barriers;
mod bits;
mod clusters;
mod halves;
mod messages;
mod pointers;
mod warps;

use std::sync::LazyLock;

use launch::{Checks, Device, DeviceChoice, Error, Fault, PtxImage, PtxModule, Schedule, Simulator};

/// The PTX for GPUs of compute capability 9.0 and later, from the file that `GRIDSTRIDE_INTRINSICS_PTX` names.
static MODULES: LazyLock<Option<[PtxModule; 1]>> = LazyLock::new(|| {
    let path = std::env::var_os("GRIDSTRIDE_INTRINSICS_PTX")?;
    let ptx = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let images = vec![PtxImage::new(90, ptx.leak())].leak();
    Some([PtxModule { path: env!("CARGO_CRATE_NAME"), images }])
});

/// Returns a GPU if `GRIDSTRIDE_INTRINSICS_PTX` is set, and panics if no GPU can be opened.
fn gpu() -> Option<Device> {
    let modules = MODULES.as_ref()?;
    Some(Device::open(DeviceChoice::Gpu(None), modules).unwrap_or_else(|error| panic!("{error}")))
}

/// Returns one checking device per hostile schedule, and the GPU that [`gpu`] returns, if any.
fn devices() -> impl Iterator<Item = Device> {
    checked_devices().chain(gpu())
}

/// Returns one checking device and the GPU that [`gpu`] returns, if any, for results that do not depend on the
/// schedule.
fn two_devices() -> impl Iterator<Item = Device> {
    checked_devices().take(1).chain(gpu())
}

/// Returns one checking device per hostile schedule.
fn checked_devices() -> impl Iterator<Item = Device> {
    Schedule::HOSTILE
        .into_iter()
        .map(|schedule| Device::simulated(Simulator::new().with_checks(Checks::default()).with_schedule(schedule)))
}

/// Returns the fault of a failed launch.
#[track_caller]
fn fault(result: Result<(), Error>) -> Fault {
    match result {
        Err(Error::Fault(fault)) => *fault,
        other => panic!("no fault: {other:?}"),
    }
}

/// Returns `count` pseudo-random numbers, some of which are equal.
fn numbers(count: usize) -> Vec<u64> {
    (1..=count as u64).map(|i| (i * i).wrapping_mul(0x9E37_79B9_7F4A_7C15) % 1000).collect()
}
