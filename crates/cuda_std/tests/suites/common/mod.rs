//! Helpers that run kernels on a simulator with checks.

use cuda_std::{Call, DeviceCopy, DeviceId, Global, GlobalMut, LaunchConfig};
use simt::memory::Allocation;
use simt::{Checks, Fault, FaultKind, Simulator};

/// A simulator with or without checks, and functions that allocate its memory.
pub struct Device(pub Simulator);

impl Device {
    pub fn new() -> Self {
        Self(Simulator::new().with_checks(Checks::default()))
    }

    /// Creates a simulator without the optional checks.
    pub fn unchecked() -> Self {
        Self(Simulator::new())
    }

    /// Allocates `len` uninitialised elements.
    pub fn room<T: DeviceCopy>(&self, len: usize) -> Allocation {
        self.0.allocate(len * size_of::<T>()).unwrap()
    }

    pub fn upload<T: DeviceCopy>(&self, data: &[T]) -> Allocation {
        let memory = self.room::<T>(data.len());
        memory.note_written(0, memory.len());
        // SAFETY: the memory has the data's size, and no other code uses it yet.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr().cast(), memory.as_ptr(), memory.len()) };
        memory
    }

    /// Runs `call` with `blocks` blocks of `threads` threads.
    pub fn run(&self, blocks: u32, threads: u32, call: &Call<'_>) -> Result<(), Fault> {
        let (info, params) = (call.info(), call.params());
        let config = LaunchConfig::new(blocks, threads);
        self.0.launch_threads(info, config, params.regions().as_slice(), |threads| call.run(threads)).map(drop)
    }

    /// Runs `call` and returns the fault that ends the launch.
    pub fn fault(&self, blocks: u32, threads: u32, call: &Call<'_>) -> Fault {
        self.run(blocks, threads, call).expect_err("the launch should end with a fault")
    }
}

const DEVICE: DeviceId = DeviceId::simulated(1);

pub fn view<T: DeviceCopy>(memory: &Allocation) -> Global<'_, T> {
    // SAFETY: the memory is aligned to 256 bytes and lives as long as the view.
    unsafe { Global::from_raw_parts(memory.as_ptr().cast(), memory.len() / size_of::<T>(), DEVICE) }
}

pub fn view_mut<T: DeviceCopy>(memory: &Allocation) -> GlobalMut<'_, T> {
    // SAFETY: the memory is aligned to 256 bytes and lives as long as the view.
    unsafe { GlobalMut::from_raw_parts(memory.as_ptr().cast(), memory.len() / size_of::<T>(), DEVICE) }
}

pub fn download<T: DeviceCopy>(memory: &Allocation) -> Vec<T> {
    let len = memory.len() / size_of::<T>();
    // SAFETY: the memory holds `len` elements of plain data, and no kernel runs.
    unsafe { std::slice::from_raw_parts(memory.as_ptr().cast::<T>(), len) }.to_vec()
}

/// Returns the source line of `fault`.
pub fn line(fault: &Fault) -> u32 {
    fault.location.as_ref().map_or(0, |location| location.line)
}

/// Returns the array, the index and the array's length of an access out of bounds.
pub fn bounds(fault: &Fault) -> (Option<&'static str>, usize, usize) {
    match fault.kind {
        FaultKind::OutOfBounds { array, index, len, .. } => (array, index, len),
        _ => panic!("{fault}"),
    }
}
