//! What each operation of `cuda_std` on bits, warps, blocks and the grid gives, and what is a fault, in the simulator
//! under every order. The PTX of the same kernels is looked at by the tests of `cuda_builder`, which write it to the
//! file that `GRIDSTRIDE_INTRINSICS_PTX` names. With that variable set, these tests run on a GPU as well.

#[path = "../../../cuda_builder/tests/fixtures/intrinsics/src/kernels/mod.rs"]
mod kernels;

mod atomics;
mod barriers;
mod bits;
mod halves;
mod messages;
mod pointers;
mod warps;

use std::sync::LazyLock;

use launch::{Checks, Device, DeviceChoice, Error, Fault, PtxImage, PtxModule, Schedule, Simulator};

/// The kernels for GPUs of compute capability 9.0 and later, from the file that the variable names.
static MODULES: LazyLock<Option<[PtxModule; 1]>> = LazyLock::new(|| {
    let path = std::env::var_os("GRIDSTRIDE_INTRINSICS_PTX")?;
    let ptx = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let images = vec![PtxImage::new(90, ptx.leak())].leak();
    Some([PtxModule { path: env!("CARGO_CRATE_NAME"), images }])
});

/// A GPU, if the variable is set; none is a failure then.
fn gpu() -> Option<Device> {
    let modules = MODULES.as_ref()?;
    Some(Device::open(DeviceChoice::Gpu(None), modules).unwrap_or_else(|error| panic!("{error}")))
}

/// Devices that check, in each order, and a GPU.
fn devices() -> impl Iterator<Item = Device> {
    checked_devices().chain(gpu())
}

/// One that checks, and a GPU: for what depends on no order.
fn two_devices() -> impl Iterator<Item = Device> {
    checked_devices().take(1).chain(gpu())
}

/// A device that checks, in each order.
fn checked_devices() -> impl Iterator<Item = Device> {
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
