//! What a device is, and what a kernel takes of it.

/// A GPU that the driver shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// Its number, for [`DeviceChoice::Gpu`](crate::DeviceChoice::Gpu).
    pub ordinal: u32,
    /// Its name: "NVIDIA H200".
    pub name: String,
    /// Its compute capability, (9, 0) for 9.0.
    pub compute_capability: (u32, u32),
    /// Its memory in bytes.
    pub memory_bytes: u64,
}

/// What a device is. What only GPUs have is `None` for the simulator.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Properties {
    /// "NVIDIA H200" or "simulator".
    pub name: String,
    /// The compute capability, (9, 0) for 9.0.
    pub compute_capability: Option<(u32, u32)>,
    /// The CUDA version that the driver supports.
    pub driver: Option<crate::CudaVersion>,
    /// Streaming multiprocessors; for the simulator, the threads that run its blocks.
    pub multiprocessors: u32,
    /// Threads in a warp.
    pub warp_size: u32,
    /// Global memory, in bytes.
    pub memory_bytes: u64,
    /// How much of it is free now, in bytes.
    pub memory_free_bytes: u64,
    /// Width of the bus to it, in bits.
    pub memory_bus_bits: Option<u32>,
    /// Its clock in MHz; it transfers twice per cycle.
    pub memory_clock_mhz: Option<u32>,
    /// The SMs' highest clock, in MHz.
    pub clock_mhz: Option<u32>,
    /// Second-level cache, in bytes.
    pub l2_bytes: Option<u64>,
    /// Shared memory that any kernel's block may have, in bytes.
    pub shared_bytes_per_block: u32,
    /// Shared memory that a block may have at most, in bytes: static and dynamic together.
    pub shared_bytes_per_block_optin: u32,
    /// Shared memory of an SM, in bytes.
    pub shared_bytes_per_multiprocessor: Option<u32>,
    /// 32-bit registers that a block may have.
    pub registers_per_block: Option<u32>,
    /// 32-bit registers of an SM.
    pub registers_per_multiprocessor: Option<u32>,
    /// Threads that a block may have.
    pub max_threads_per_block: u32,
    /// Threads that an SM holds at once.
    pub max_threads_per_multiprocessor: Option<u32>,
}

/// What a kernel takes of a GPU, after the driver compiled it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelResources {
    /// 32-bit registers of a thread.
    pub registers: u32,
    /// Static shared memory of a block, in bytes.
    pub static_shared_bytes: u32,
    /// Local memory of a thread, in bytes: what spilled, and arrays that are not in registers.
    pub local_bytes: u32,
    /// Constant memory, in bytes.
    pub constant_bytes: u32,
    /// Threads that a block of this kernel may have.
    pub max_threads_per_block: u32,
    /// The architecture of the PTX that was compiled: 90 for `compute_90`.
    pub ptx_arch: u32,
    /// The architecture that it was compiled for: 90 for `sm_90`.
    pub binary_arch: u32,
}

/// How much of an SM a kernel's blocks fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Blocks that an SM holds at once.
    pub blocks_per_multiprocessor: u32,
    /// Warps of those blocks.
    pub active_warps: u32,
    /// Warps that an SM can hold.
    pub max_warps: u32,
}

impl Occupancy {
    /// Active warps of those that an SM can hold, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        f64::from(self.active_warps) / f64::from(self.max_warps.max(1))
    }
}
