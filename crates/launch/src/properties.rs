//! The properties of devices, and the resources that kernels use.

/// A GPU that the driver lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// The GPU's ordinal, for [`DeviceChoice::Gpu`](crate::DeviceChoice::Gpu).
    pub ordinal: u32,
    /// The GPU's name: "NVIDIA H200".
    pub name: String,
    /// The GPU's compute capability, (9, 0) for 9.0.
    pub compute_capability: (u32, u32),
    /// The size of the GPU's memory in bytes.
    pub memory_bytes: u64,
}

/// The properties of a device. Properties that only GPUs have are `None` for the simulator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Properties {
    /// The device's name: "NVIDIA H200" or "simulator".
    pub name: String,
    /// The GPU's compute capability, (9, 0) for 9.0.
    pub compute_capability: Option<(u32, u32)>,
    /// The CUDA version that the driver supports.
    pub driver: Option<crate::CudaVersion>,
    /// The number of streaming multiprocessors; for the simulator, the number of threads that run blocks.
    pub multiprocessors: u32,
    /// The number of threads in a warp.
    pub warp_size: u32,
    /// The size of global memory in bytes.
    pub memory_bytes: u64,
    /// The part of global memory that is free now, in bytes.
    pub memory_free_bytes: u64,
    /// The width of the memory bus in bits.
    pub memory_bus_bits: Option<u32>,
    /// The memory clock in MHz; memory transfers twice per cycle.
    pub memory_clock_mhz: Option<u32>,
    /// The highest clock of the multiprocessors in MHz.
    pub clock_mhz: Option<u32>,
    /// The size of the second-level cache in bytes.
    pub l2_bytes: Option<u64>,
    /// The number of bytes of shared memory that a block may use without raising the kernel's limit.
    pub shared_bytes_per_block: u32,
    /// The maximum number of bytes of shared memory, static and dynamic together, that a block may use.
    pub shared_bytes_per_block_optin: u32,
    /// The shared memory of a multiprocessor in bytes.
    pub shared_bytes_per_multiprocessor: Option<u32>,
    /// The number of 32-bit registers that a block may use.
    pub registers_per_block: Option<u32>,
    /// The number of 32-bit registers of a multiprocessor.
    pub registers_per_multiprocessor: Option<u32>,
    /// The maximum number of threads per block.
    pub max_threads_per_block: u32,
    /// The maximum number of resident threads per multiprocessor.
    pub max_threads_per_multiprocessor: Option<u32>,
}

/// The registers and memory that a kernel uses on a GPU, as compiled by the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelResources {
    /// The number of 32-bit registers per thread.
    pub registers: u32,
    /// The static shared memory per block in bytes.
    pub static_shared_bytes: u32,
    /// The local memory per thread in bytes: spilled registers, and arrays that are not in registers.
    pub local_bytes: u32,
    /// The constant memory in bytes.
    pub constant_bytes: u32,
    /// The maximum number of threads per block for this kernel.
    pub max_threads_per_block: u32,
    /// The architecture of the PTX that was compiled: 90 for `compute_90`.
    pub ptx_arch: u32,
    /// The architecture of the machine code: 90 for `sm_90`.
    pub binary_arch: u32,
}

/// The share of a multiprocessor that a kernel's blocks occupy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// The number of blocks per multiprocessor that are resident at once.
    pub blocks_per_multiprocessor: u32,
    /// The number of warps in these blocks.
    pub active_warps: u32,
    /// The maximum number of resident warps per multiprocessor.
    pub max_warps: u32,
}

impl Occupancy {
    /// Returns the active warps as a fraction of the maximum, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        f64::from(self.active_warps) / f64::from(self.max_warps.max(1))
    }
}
