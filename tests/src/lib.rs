//! What the conformance suites share: the devices they run on, and inputs.
//!
//! Each suite runs its kernels on every device: the simulator in several orders of its threads, and a GPU where there
//! is one. At sizes that are small enough for it, also on simulated devices that look for races, and for reads of what
//! nobody wrote, under orders that are hostile to mistakes.

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

/// The PTX of `gpu::device_library`, which the program itself does not contain.
const DEVICE_LIBRARY: PtxModule = PtxModule {
    path: "gpu::device_library",
    images: &[
        PtxImage::new(70, include_str!("../../gpu/ptx/device_library.sm_70.ptx")),
        PtxImage::new(90, include_str!("../../gpu/ptx/device_library.sm_90.ptx")),
    ],
};

/// Every module with kernels that a suite launches.
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

/// A GPU, or `None` where there is none that can be used. With the variable `GRIDSTRIDE_TEST_GPU` set, none is a
/// failure.
pub fn gpu() -> Option<Device> {
    match Device::open(DeviceChoice::Gpu(None), MODULES) {
        Ok(device) => Some(device),
        Err(error) => {
            assert!(std::env::var_os("GRIDSTRIDE_TEST_GPU").is_none(), "a GPU was asked for: {error}");
            None
        }
    }
}

/// A simulated device whose threads run in the order of `seed`.
pub fn simulated(seed: u64) -> Device {
    Device::simulated(Simulator::new().with_seed(seed))
}

/// Every device to test on: the simulator in its natural order and in another, and on one core; and a GPU.
pub fn devices() -> impl Iterator<Item = Device> {
    simulators().into_iter().chain(gpu())
}

fn simulators() -> [Device; 3] {
    let one_worker = Simulator::new().with_seed(2).with_workers(NonZeroUsize::MIN);
    [simulated(0), simulated(1), Device::simulated(one_worker)]
}

/// A simulated device that looks for races and for reads of what nobody wrote, and runs in the order of `schedule`.
pub fn checked(schedule: Schedule, checks: Checks) -> Device {
    let simulator = Simulator::new().with_workers(NonZeroUsize::MIN).with_multiprocessors(MULTIPROCESSORS);
    Device::simulated(simulator.with_schedule(schedule).with_checks(checks))
}

/// Multiprocessors of a checked device: its plans are those of a machine with two, whatever machine this is.
const MULTIPROCESSORS: u32 = 2;

/// What CUDA promises of shuffles and votes, and no more: that they hand over values.
pub const STRICT: Checks = Checks::STRICT;

/// The devices that check: one for each hostile order, and a strict one, for which a shuffle or a vote orders nothing.
pub fn checked_devices() -> impl Iterator<Item = Device> {
    let hostile = Schedule::HOSTILE.into_iter().map(|schedule| checked(schedule, Checks::default()));
    hostile.chain([checked(Schedule::EveryAccess(7), STRICT)])
}

/// All of them: for inputs that are small.
pub fn all_devices() -> impl Iterator<Item = Device> {
    devices().chain(checked_devices())
}

/// All of them, each with what inputs it takes.
///
/// A suite runs its inputs for many rungs, types and operators, each in a test. The simulator's natural order and a GPU
/// take every input; of the others that do not check, one takes it; and where it is no larger than `most`, so do
/// [`CHECKED_PER_INPUT`] of those that check. Who takes a test's first input differs from test to test, so that a suite
/// as a whole has every order with every input. With the variable `GRIDSTRIDE_TEST_ALL_ORDERS` set, each test has.
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

/// How many of the devices that check run an input.
pub const CHECKED_PER_INPUT: usize = 1;

/// The devices that check.
const CHECKED: usize = Schedule::HOSTILE.len() + 1;

/// Which inputs a device takes: those that are its turn, of several devices that take turns.
pub struct Turns {
    /// The largest input.
    most: usize,
    devices: usize,
    /// How many of them take an input.
    taking: usize,
    /// The inputs seen that are small enough, counted from another number on each device, up to the number of devices.
    seen: Cell<usize>,
}

impl Turns {
    /// Whether the device takes the next input, of that size.
    pub fn takes(&self, size: usize) -> bool {
        if size > self.most {
            return false;
        }
        let turn = self.seen.get();
        self.seen.set((turn + 1) % self.devices);
        // Orders that follow each other are alike: those that are far apart are taken.
        (0..self.taking).any(|i| turn == i * self.devices / self.taking)
    }
}

/// A simulated device and what its kernels print.
pub fn simulated_with_output() -> (Device, Arc<Mutex<Vec<u8>>>) {
    let output = Arc::new(Mutex::new(Vec::new()));
    (Device::simulated(Simulator::new().with_output(output.clone())), output)
}

/// A reproducible generator of inputs.
pub fn random(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// `n` floats in −1..1, all different signs and magnitudes.
pub fn random_floats(n: usize, seed: u64) -> Vec<f32> {
    let mut random = random(seed);
    (0..n).map(|_| random.next_u32() as i32 as f32 / i32::MAX as f32).collect()
}
