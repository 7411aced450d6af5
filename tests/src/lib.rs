//! Devices and inputs that the conformance suites share.
//!
//! Each suite runs its kernels on every device: in the simulator, with several orders of the simulated threads, and on
//! a GPU if there is one. Small inputs also run on simulated devices that check for races and for reads of
//! uninitialised memory. These devices use orders that provoke errors.

pub mod reductions;
pub mod reports;
pub mod sums;

use std::cell::Cell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::thread;

use launch::{Device, DeviceChoice, PtxImage, PtxModule};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};
use simt::{Checks, Schedule, Simulator};

/// The PTX of the kernels in `gpu::device_library`, which only the tests use.
const DEVICE_LIBRARY: PtxModule = PtxModule {
    path: "gpu::device_library",
    images: &[
        PtxImage::new(70, include_str!("../../gpu/ptx/device_library.sm_70.ptx")),
        PtxImage::new(90, include_str!("../../gpu/ptx/device_library.sm_90.ptx")),
    ],
};

/// The PTX of the kernels in `gpu::tensor_library`, which only the tests use.
const TENSOR_LIBRARY: PtxModule = PtxModule {
    path: "gpu::tensor_library",
    images: &[
        PtxImage::new(70, include_str!("../../gpu/ptx/tensor_library.sm_70.ptx")),
        PtxImage::new(80, include_str!("../../gpu/ptx/tensor_library.sm_80.ptx")),
        PtxImage::new(89, include_str!("../../gpu/ptx/tensor_library.sm_89.ptx")),
        PtxImage::new(90, include_str!("../../gpu/ptx/tensor_library.sm_90.ptx")),
    ],
};

/// The PTX of the kernels in `gpu::warpgroup_library`, which only the tests use.
const WARPGROUP_LIBRARY: PtxModule = PtxModule {
    path: "gpu::warpgroup_library",
    images: &[
        PtxImage::new(70, include_str!("../../gpu/ptx/warpgroup_library.sm_70.ptx")),
        PtxImage::new(90, include_str!("../../gpu/ptx/warpgroup_library.sm_90a.ptx")).specific(),
    ],
};

/// Every PTX module with kernels that the suites launch.
static MODULES: &[PtxModule] = &{
    const N: usize = workbench::MODULES.len();
    let mut modules = [DEVICE_LIBRARY; N + 3];
    let mut i = 0;
    while i < N {
        modules[i] = workbench::MODULES[i];
        i += 1;
    }
    modules[N] = TENSOR_LIBRARY;
    modules[N + 1] = WARPGROUP_LIBRARY;
    modules
};

/// Returns a GPU, or `None` if no GPU can be used. If the environment variable `GRIDSTRIDE_TEST_GPU` is set, panics
/// instead of returning `None`.
pub fn gpu() -> Option<Device> {
    match Device::open(DeviceChoice::Gpu(None), MODULES) {
        Ok(device) => Some(device),
        Err(error) => {
            assert!(
                std::env::var_os("GRIDSTRIDE_TEST_GPU").is_none(),
                "GRIDSTRIDE_TEST_GPU is set, but no GPU can be used: {error}"
            );
            None
        }
    }
}

/// Returns a simulated device whose order of threads is determined by `seed`.
pub fn simulated(seed: u64) -> Device {
    Device::simulated(Simulator::new().with_seed(seed))
}

/// Returns the unchecked devices for tests: simulators with the natural order, with another order and on one core, and
/// a GPU if there is one.
pub fn devices() -> impl Iterator<Item = Device> {
    simulators().into_iter().chain(gpu())
}

fn simulators() -> [Device; 3] {
    let one_worker = Simulator::new().with_seed(2).with_workers(NonZeroUsize::MIN);
    [simulated(0), simulated(1), Device::simulated(one_worker)]
}

/// Returns a simulated device that runs threads in the order `schedule` and checks for races and reads of uninitialised
/// memory.
pub fn checked(schedule: Schedule, checks: Checks) -> Device {
    let simulator = Simulator::new().with_workers(NonZeroUsize::MIN).with_multiprocessors(MULTIPROCESSORS);
    Device::simulated(simulator.with_schedule(schedule).with_checks(checks))
}

/// The number of multiprocessors of a checked device. It is fixed, so that plans do not depend on the machine.
const MULTIPROCESSORS: u32 = 2;

/// Strict checks, under which shuffles and votes do not order memory accesses. CUDA guarantees only that these
/// operations exchange values.
pub const STRICT: Checks = Checks::STRICT;

/// Returns the checked devices: one for each hostile order (an order that provokes errors), and one with the checks
/// [`STRICT`].
pub fn checked_devices() -> impl Iterator<Item = Device> {
    let hostile = Schedule::HOSTILE.into_iter().map(|schedule| checked(schedule, Checks::default()));
    hostile.chain([checked(Schedule::EveryAccess(7), STRICT)])
}

/// Returns the devices of [`devices`] and of [`checked_devices`]. Inputs should be small, because checks are slow.
pub fn all_devices() -> impl Iterator<Item = Device> {
    devices().chain(checked_devices())
}

/// Returns all devices, each with the [`Turns`] that select its inputs.
///
/// A suite runs its inputs for many rungs, types and operators, each in a separate test. The simulator with the natural
/// order and the GPU run every input. The other unchecked devices share the inputs: each input runs on one of them. The
/// checked devices share the inputs that are not larger than `most`: each such input runs on [`CHECKED_PER_INPUT`] of
/// them. The device that runs a test's first input differs from test to test, so the suite as a whole runs every order
/// with every input. If the environment variable `GRIDSTRIDE_TEST_ALL_ORDERS` is set, each test runs every order with
/// every input.
pub fn devices_and_turns(most: usize) -> impl Iterator<Item = (Device, Turns)> {
    let mut name = DefaultHasher::new();
    thread::current().name().hash(&mut name);
    let first = name.finish() as usize;
    let all = std::env::var_os("GRIDSTRIDE_TEST_ALL_ORDERS").is_some();
    let turns = move |most, devices: usize, taking, i: usize| {
        let taking = if all { devices } else { taking };
        Turns { most, devices, taking, seen: Cell::new(first.wrapping_add(i) % devices) }
    };
    let [natural, others @ ..] = simulators();
    let others = others.into_iter().enumerate().map(move |(i, device)| (device, turns(usize::MAX, 2, 1, i)));
    let checked = checked_devices().enumerate();
    let checked = checked.map(move |(i, device)| (device, turns(most, CHECKED, CHECKED_PER_INPUT, i)));
    let every = [natural].into_iter().chain(gpu()).map(move |device| (device, turns(usize::MAX, 1, 1, 0)));
    every.chain(others).chain(checked)
}

/// The number of checked devices on which each input runs.
pub const CHECKED_PER_INPUT: usize = 1;

/// The number of checked devices.
const CHECKED: usize = Schedule::HOSTILE.len() + 1;

/// Selects the inputs that a device runs if it shares the inputs with other devices.
pub struct Turns {
    /// The size in elements of the largest input that the device runs.
    most: usize,
    devices: usize,
    /// The number of devices on which each input runs.
    taking: usize,
    /// The number of inputs so far that were not too large, modulo the number of devices. The count starts at a
    /// different number on each device.
    seen: Cell<usize>,
}

impl Turns {
    /// Returns true if the device must run the next input, which has `size` elements.
    pub fn takes(&self, size: usize) -> bool {
        if size > self.most {
            return false;
        }
        let turn = self.seen.get();
        self.seen.set((turn + 1) % self.devices);
        // Consecutive orders are similar, so an input runs in orders that are far apart.
        (0..self.taking).any(|i| turn == i * self.devices / self.taking)
    }
}

/// Returns a simulated device, and the buffer to which the output of its kernels is written.
pub fn simulated_with_output() -> (Device, Arc<Mutex<Vec<u8>>>) {
    let output = Arc::new(Mutex::new(Vec::new()));
    (Device::simulated(Simulator::new().with_output(output.clone())), output)
}

/// Returns a random generator that always produces the same numbers for a seed.
pub fn random(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// Returns `n` floats from −1 to 1 with different signs and magnitudes.
pub fn random_floats(n: usize, seed: u64) -> Vec<f32> {
    let mut random = random(seed);
    (0..n).map(|_| random.next_u32() as i32 as f32 / i32::MAX as f32).collect()
}
