//! `host devices`: shows the GPUs, the simulator, and the resources that each kernel uses.

use clap::Args;
use launch::{Device, DeviceChoice, Gpu, KernelInfo, Properties, gpus};
use serde::Serialize;

use crate::report;
use workbench::catalogue::{self, MODULES};

mod text;

/// The number of threads per block for which the occupancy of a kernel without a launch bound is computed.
const TYPICAL_BLOCK: u32 = 256;

/// Show the GPUs and the simulator, and the resources that each kernel uses
///
/// With --kernels the driver compiles every kernel, which takes seconds the first time. The table has 32-bit registers
/// per thread, static shared memory per block, local memory per thread, and how many blocks of the kernel's largest
/// size (256 threads if it has no bound) fit a multiprocessor at once. Occupancy is the number of their threads as a
/// share of the threads that a multiprocessor can hold. The instances of a generic kernel share a row with their
/// largest values; --json has each instance.
#[derive(Args, Debug)]
pub struct DevicesOptions {
    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Also show the resources that each kernel uses
    #[arg(long)]
    kernels: bool,
}

impl DevicesOptions {
    /// Runs the command. A machine without a GPU is not an error.
    ///
    /// # Errors
    /// If the result cannot be printed.
    pub fn run(self) -> anyhow::Result<()> {
        let inventory = Inventory::take(self.kernels);
        report::print_either(self.json, &inventory, &inventory.to_string())
    }
}

/// The devices of this machine.
#[derive(Serialize, Debug)]
struct Inventory {
    gpus: Vec<GpuEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    no_gpu: Option<Absence>,
    simulator: SimulatorEntry,
}

/// The reason why no GPU can be used, and the remedy.
#[derive(Serialize, Debug)]
struct Absence {
    reason: String,
    remedy: String,
}

#[derive(Serialize, Debug)]
struct GpuEntry {
    ordinal: u32,
    name: String,
    compute_capability: String,
    memory_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cannot_be_used: Option<String>,
    #[serde(flatten)]
    details: Option<GpuDetails>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    kernels: Vec<KernelEntry>,
}

/// Declares `GpuDetails`, whose fields are copied from [`Properties`].
macro_rules! details {
    ($($field:ident: $type:ty,)*) => {
        /// The properties of a GPU that could be opened. Sizes are in bytes.
        #[derive(Serialize, Debug)]
        struct GpuDetails {
            cuda_version: Option<String>,
            $($field: $type,)*
        }

        impl GpuDetails {
            fn of(properties: &Properties) -> Self {
                let cuda_version = properties.driver.map(|version| version.to_string());
                Self { cuda_version, $($field: properties.$field,)* }
            }
        }
    };
}

details! {
    multiprocessors: u32,
    warp_size: u32,
    memory_free_bytes: u64,
    memory_bus_bits: Option<u32>,
    memory_clock_mhz: Option<u32>,
    clock_mhz: Option<u32>,
    l2_bytes: Option<u64>,
    shared_bytes_per_block: u32,
    shared_bytes_per_block_optin: u32,
    shared_bytes_per_multiprocessor: Option<u32>,
    registers_per_block: Option<u32>,
    registers_per_multiprocessor: Option<u32>,
    max_threads_per_block: u32,
    max_threads_per_multiprocessor: Option<u32>,
}

#[derive(Serialize, Debug)]
struct KernelEntry {
    module: &'static str,
    name: &'static str,
    /// The name of the function in the source. All instances of a generic kernel share it.
    family: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cannot_be_loaded: Option<String>,
    #[serde(flatten)]
    needs: Option<KernelNeeds>,
}

/// The resources that a kernel uses, and how many of its blocks fit a multiprocessor at once.
#[derive(Clone, Serialize, Debug)]
struct KernelNeeds {
    registers: u32,
    static_shared_bytes: u32,
    local_bytes: u32,
    max_threads_per_block: u32,
    ptx_arch: u32,
    binary_arch: u32,
    block_threads: u32,
    blocks_per_multiprocessor: u32,
    occupancy: f64,
}

#[derive(Serialize, Debug)]
struct SimulatorEntry {
    workers: usize,
    memory_bytes: u64,
    seed: u64,
}

impl Inventory {
    fn take(kernels: bool) -> Self {
        let (gpus, no_gpu) = match gpus() {
            Ok(gpus) => (gpus.into_iter().map(|gpu| GpuEntry::of(gpu, kernels)).collect(), None),
            Err(reason) => (vec![], Some(Absence { reason: reason.to_string(), remedy: reason.remedy() })),
        };
        let simulator = simt::Simulator::new();
        let memory_bytes = simt::memory::capacity() as u64;
        let simulator = SimulatorEntry { workers: simulator.workers(), memory_bytes, seed: simulator.seed() };
        Self { gpus, no_gpu, simulator }
    }
}

impl GpuEntry {
    fn of(gpu: Gpu, kernels: bool) -> Self {
        let Gpu { ordinal, name, compute_capability: (major, minor), memory_bytes } = gpu;
        let opened = Device::open(DeviceChoice::Gpu(Some(ordinal)), MODULES)
            .and_then(|device| Ok((GpuDetails::of(&device.properties()?), device)));
        let (details, kernels, cannot_be_used) = match opened {
            Ok((details, device)) => {
                let kernels =
                    catalogue::kernels().filter(|_| kernels).map(|kernel| KernelEntry::of(kernel, &device)).collect();
                (Some(details), kernels, None)
            }
            Err(error) => (None, vec![], Some(error.to_string())),
        };
        let compute_capability = format!("{major}.{minor}");
        Self { ordinal, name, compute_capability, memory_bytes, cannot_be_used, details, kernels }
    }
}

impl KernelEntry {
    fn of(kernel: &'static KernelInfo, device: &Device) -> Self {
        let (needs, cannot_be_loaded) = match KernelNeeds::of(kernel, device) {
            Ok(needs) => (Some(needs), None),
            Err(error) => (None, Some(error.to_string())),
        };
        Self { module: kernel.module, name: kernel.name, family: kernel.family, cannot_be_loaded, needs }
    }
}

impl KernelNeeds {
    /// Returns the larger resources of two instances, and the lower occupancy.
    fn worse(&self, other: &Self) -> Self {
        Self {
            registers: self.registers.max(other.registers),
            static_shared_bytes: self.static_shared_bytes.max(other.static_shared_bytes),
            local_bytes: self.local_bytes.max(other.local_bytes),
            max_threads_per_block: self.max_threads_per_block.min(other.max_threads_per_block),
            ptx_arch: self.ptx_arch.min(other.ptx_arch),
            binary_arch: self.binary_arch.min(other.binary_arch),
            block_threads: self.block_threads.max(other.block_threads),
            blocks_per_multiprocessor: self.blocks_per_multiprocessor.min(other.blocks_per_multiprocessor),
            occupancy: self.occupancy.min(other.occupancy),
        }
    }

    fn of(kernel: &'static KernelInfo, device: &Device) -> Result<Self, launch::Error> {
        let resources = device.resources(kernel)?;
        let block_threads = kernel.max_threads.unwrap_or(TYPICAL_BLOCK).min(resources.max_threads_per_block);
        let occupancy = device.occupancy(kernel, block_threads, 0)?;
        Ok(Self {
            registers: resources.registers,
            static_shared_bytes: resources.static_shared_bytes,
            local_bytes: resources.local_bytes,
            max_threads_per_block: resources.max_threads_per_block,
            ptx_arch: resources.ptx_arch,
            binary_arch: resources.binary_arch,
            block_threads,
            blocks_per_multiprocessor: occupancy.blocks_per_multiprocessor,
            occupancy: occupancy.fraction(),
        })
    }
}

#[cfg(test)]
mod tests;
