//! Provides the devices and inputs that the conformance suites share.
//!
//! Each suite runs its kernels on every device: in the simulator, in several orders of its threads, and on a GPU if one
//! exists. Small inputs also run on simulated devices that check for races and for reads of uninitialised memory, in
//! orders that provoke errors.

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

/// The PTX of `gpu::device_library`, which the program does not contain.
const DEVICE_LIBRARY: PtxModule = PtxModule {
    path: "gpu::device_library",
    images: &[
        PtxImage::new(70, include_str!("../../gpu/ptx/device_library.sm_70.ptx")),
        PtxImage::new(90, include_str!("../../gpu/ptx/device_library.sm_90.ptx")),
    ],
};

/// Every module with kernels that the suites launch.
static MODULES: &[PtxModule] = &{
    const N: usize = workbench::MODULES.len();
    let mut modules = [DEVICE_LIBRARY; N + 1];
    let mut i = 0;
    while i < N {
        modules[i] = workbench::MODULES[i];
        i += 1;
    }
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

/// Returns a simulated device whose order of threads follows from `seed`.
pub fn simulated(seed: u64) -> Device {
    Device::simulated(Simulator::new().with_seed(seed))
}

/// Returns the unchecked devices for tests: the simulator in its natural order, in another order and on one core; and a
/// GPU if one exists.
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

/// The number of multiprocessors of a checked device, so that plans do not depend on the machine.
const MULTIPROCESSORS: u32 = 2;

/// The strict checks, for which shuffles and votes order no memory accesses. CUDA guarantees only that they exchange
/// values.
pub const STRICT: Checks = Checks::STRICT;

/// Returns the checked devices: one for each hostile order, and one with the checks [`STRICT`].
pub fn checked_devices() -> impl Iterator<Item = Device> {
    let hostile = Schedule::HOSTILE.into_iter().map(|schedule| checked(schedule, Checks::default()));
    hostile.chain([checked(Schedule::EveryAccess(7), STRICT)])
}

/// Returns all devices: those of [`devices`] and of [`checked_devices`]. Inputs should be small, because checks are
/// slow.
pub fn all_devices() -> impl Iterator<Item = Device> {
    devices().chain(checked_devices())
}

/// Returns all devices, each with the [`Turns`] that select its inputs.
///
/// A suite runs its inputs for many rungs, types and operators, each in its own test. The simulator's natural order and
/// a GPU take every input. The other unchecked devices take the inputs in turn, and so do the checked devices.
/// [`CHECKED_PER_INPUT`] of the checked devices take an input, if it is no larger than `most`. The device that takes a
/// test's first input differs from test to test, so the suite as a whole runs every order with every input. If the
/// environment variable `GRIDSTRIDE_TEST_ALL_ORDERS` is set, each test runs every order with every input.
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

/// The number of checked devices that run each input.
pub const CHECKED_PER_INPUT: usize = 1;

/// The number of checked devices.
const CHECKED: usize = Schedule::HOSTILE.len() + 1;

/// Selects the inputs of a device that takes turns with others.
pub struct Turns {
    /// The size of the largest input.
    most: usize,
    devices: usize,
    /// The number of devices that take each input.
    taking: usize,
    /// The number of inputs so far that are not too large, modulo the number of devices. The count starts at a
    /// different number on each device.
    seen: Cell<usize>,
}

impl Turns {
    /// Returns true if the device takes the next input, which has `size` elements.
    pub fn takes(&self, size: usize) -> bool {
        if size > self.most {
            return false;
        }
        let turn = self.seen.get();
        self.seen.set((turn + 1) % self.devices);
        // Neighbouring orders are similar, so orders that are far apart take the same input.
        (0..self.taking).any(|i| turn == i * self.devices / self.taking)
    }
}

/// Returns a simulated device, and the buffer that receives the text that its kernels print.
pub fn simulated_with_output() -> (Device, Arc<Mutex<Vec<u8>>>) {
    let output = Arc::new(Mutex::new(Vec::new()));
    (Device::simulated(Simulator::new().with_output(output.clone())), output)
}

/// Returns a reproducible random generator.
pub fn random(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// Returns `n` floats in −1..1 with different signs and magnitudes.
pub fn random_floats(n: usize, seed: u64) -> Vec<f32> {
    let mut random = random(seed);
    (0..n).map(|_| random.next_u32() as i32 as f32 / i32::MAX as f32).collect()
}
