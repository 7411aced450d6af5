//! The simulator as a device.

use cuda_std::{Call, LaunchConfig};
use simt::Simulator;
use simt::memory::{self, Allocation};

use crate::error::Error;
use crate::limits::Limits;
use crate::properties::Properties;

pub(crate) const NAME: &str = "simulator";

/// Shared memory that a GPU gives a block unless asked for more.
const SHARED_BYTES_PER_BLOCK: u32 = 48 * 1024;

pub(crate) struct SimulatedDevice {
    simulator: Simulator,
}

impl SimulatedDevice {
    pub(crate) fn new(simulator: Simulator) -> Self {
        Self { simulator }
    }

    /// "simulator on 2 cores", or "simulator that checks, in the order last-first".
    pub(crate) fn description(&self) -> String {
        match self.simulator.workers() {
            _ if self.simulator.checks().is_some() => {
                format!("{NAME} that checks, in the order {}", self.simulator.schedule())
            }
            1 => format!("{NAME} on 1 core"),
            workers => format!("{NAME} on {workers} cores"),
        }
    }

    pub(crate) fn multiprocessors(&self) -> u32 {
        self.simulator.multiprocessors()
    }

    pub(crate) fn properties(&self) -> Properties {
        let capacity = memory::capacity();
        Properties {
            name: NAME.to_owned(),
            compute_capability: None,
            driver: None,
            multiprocessors: self.multiprocessors(),
            warp_size: 32,
            memory_bytes: capacity as u64,
            memory_free_bytes: capacity.saturating_sub(memory::used()) as u64,
            memory_bus_bits: None,
            memory_clock_mhz: None,
            clock_mhz: None,
            l2_bytes: None,
            shared_bytes_per_block: SHARED_BYTES_PER_BLOCK,
            shared_bytes_per_block_optin: Limits::SIMULATOR.shared_bytes,
            shared_bytes_per_multiprocessor: None,
            registers_per_block: None,
            registers_per_multiprocessor: None,
            max_threads_per_block: Limits::SIMULATOR.block_threads,
            max_threads_per_multiprocessor: None,
        }
    }

    pub(crate) fn allocate(&self, bytes: usize) -> Result<Allocation, Error> {
        self.simulator.allocate(bytes).map_err(|error| Error::OutOfMemory {
            requested_bytes: error.requested as u64,
            free_bytes: error.available as u64,
            device: NAME.to_owned(),
        })
    }

    pub(crate) fn launch<F: Fn() + Sync>(&self, config: LaunchConfig, call: &Call<F>) -> Result<(), Error> {
        Limits::SIMULATOR.check(call.info(), config, None, 0)?;
        // What is written through raw pointers is not seen: whatever it is, it counts as written.
        for region in call.regions_behind_pointers().filter(|region| region.is_writable) {
            self.simulator.note_written(region.start, region.bytes);
        }
        self.simulator.launch_on(call.info(), config, call.regions(), call.body())?;
        Ok(())
    }

    /// Sets `bytes` bytes to zero.
    ///
    /// # Safety
    /// At `to` must be that many bytes of this device's memory, which nobody else accesses.
    pub(crate) unsafe fn zero(&self, to: *mut u8, bytes: usize) {
        // SAFETY: the caller's word.
        unsafe { to.write_bytes(0, bytes) };
        self.simulator.note_written(to.addr(), bytes);
    }

    /// Copies `bytes` bytes. What nobody has written does not become written.
    ///
    /// # Safety
    /// At both must be that many bytes of this device's memory, without overlap; nobody else accesses those at `to`, and
    /// nobody writes the others.
    pub(crate) unsafe fn copy(&self, to: *mut u8, from: *const u8, bytes: usize) {
        // SAFETY: the caller's word.
        unsafe { to.copy_from_nonoverlapping(from, bytes) };
        if self.simulator.is_written(from.addr(), bytes) {
            self.simulator.note_written(to.addr(), bytes);
            return;
        }
        for byte in (0..bytes).filter(|&byte| self.simulator.is_written(from.addr() + byte, 1)) {
            self.simulator.note_written(to.addr() + byte, 1);
        }
    }

    /// Copies `bytes` bytes to memory that views show, as a store for each element: others may access it at the same time.
    ///
    /// # Safety
    /// `to` must be valid for writing that many bytes through views, at a multiple of `element` bytes, and `from` for
    /// reading them.
    pub(crate) unsafe fn write_shared(&self, to: *mut u8, from: *const u8, bytes: usize, element: usize) {
        macro_rules! copy {
            ($word:ty) => {
                for offset in (0..bytes).step_by(size_of::<$word>()) {
                    // SAFETY: the words divide the elements, so that all lie within both, at multiples of a word in `to`.
                    unsafe { memory::store(to.add(offset).cast(), from.add(offset).cast::<$word>().read_unaligned()) }
                }
            };
        }
        // The widths in which kernels access the same elements; those of another size they cannot access.
        match element {
            2 => copy!(u16),
            4 => copy!(u32),
            8 | 16 => copy!(u64),
            _ => copy!(u8),
        }
        self.simulator.note_written(to.addr(), bytes);
    }
}

/// Copies `bytes` bytes from memory that views show, as a load of each element: others may access it at the same time.
///
/// # Safety
/// `from` must be valid for reading that many bytes through views, at a multiple of `element` bytes, and `to` for writing
/// them.
pub(crate) unsafe fn read_shared(to: *mut u8, from: *const u8, bytes: usize, element: usize) {
    macro_rules! copy {
        ($word:ty) => {
            for offset in (0..bytes).step_by(size_of::<$word>()) {
                // SAFETY: the words divide the elements, so that all lie within both, at multiples of a word in `from`.
                unsafe { to.add(offset).cast::<$word>().write_unaligned(memory::load(from.add(offset).cast())) }
            }
        };
    }
    match element {
        2 => copy!(u16),
        4 => copy!(u32),
        8 | 16 => copy!(u64),
        _ => copy!(u8),
    }
}
