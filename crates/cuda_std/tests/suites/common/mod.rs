//! Kernels on a simulator that checks.

use cuda_std::{Call, DeviceCopy, DeviceId, Global, GlobalMut, LaunchConfig};
use simt::memory::Allocation;
use simt::{Checks, Fault, FaultKind, Simulator};

/// A checking simulator, and what is allocated there.
pub struct Device(pub Simulator);

impl Device {
    pub fn new() -> Self {
        Self(Simulator::new().with_checks(Checks::default()))
    }

    /// One that looks for nothing but what every launch finds.
    pub fn unchecked() -> Self {
        Self(Simulator::new())
    }

    /// Room for `len` elements, which nobody has written.
    pub fn room<T: DeviceCopy>(&self, len: usize) -> Allocation {
        self.0.allocate(len * size_of::<T>()).unwrap()
    }

    pub fn upload<T: DeviceCopy>(&self, data: &[T]) -> Allocation {
        let memory = self.room::<T>(data.len());
        memory.note_written(0, memory.len());
        // SAFETY: the memory has the data's size, and nobody else uses it yet.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr().cast(), memory.as_ptr(), memory.len()) };
        memory
    }

    /// Runs `call` in blocks of so many threads.
    pub fn run(&self, blocks: u32, threads: u32, call: &Call<'_>) -> Result<(), Fault> {
        let (info, params) = (call.info(), call.params());
        let config = LaunchConfig::new(blocks, threads);
        self.0.launch_threads(info, config, params.regions().as_slice(), |threads| call.run(threads)).map(drop)
    }

    /// The fault that such a run ends with.
    pub fn fault(&self, blocks: u32, threads: u32, call: &Call<'_>) -> Fault {
        self.run(blocks, threads, call).expect_err("it is faulty")
    }
}

const DEVICE: DeviceId = DeviceId::simulated(1);

pub fn view<T: DeviceCopy>(memory: &Allocation) -> Global<'_, T> {
    // SAFETY: the memory is aligned to 256 bytes and lives as long as the view.
    unsafe { Global::from_raw_parts(memory.as_ptr().cast(), memory.len() / size_of::<T>(), DEVICE) }
}

pub fn view_mut<T: DeviceCopy>(memory: &Allocation) -> GlobalMut<'_, T> {
    // SAFETY: as above.
    unsafe { GlobalMut::from_raw_parts(memory.as_ptr().cast(), memory.len() / size_of::<T>(), DEVICE) }
}

pub fn download<T: DeviceCopy>(memory: &Allocation) -> Vec<T> {
    let len = memory.len() / size_of::<T>();
    // SAFETY: the memory holds `len` elements of plain data, and no kernel runs.
    unsafe { std::slice::from_raw_parts(memory.as_ptr().cast::<T>(), len) }.to_vec()
}

/// The line of `fault`.
pub fn line(fault: &Fault) -> u32 {
    fault.location.as_ref().map_or(0, |location| location.line)
}

/// The array, the index and the length of an access out of bounds.
pub fn bounds(fault: &Fault) -> (Option<&'static str>, usize, usize) {
    match fault.kind {
        FaultKind::OutOfBounds { array, index, len, .. } => (array, index, len),
        _ => panic!("{fault}"),
    }
}
