//! The report of a profiled launch.

use crate::geometry::{KernelInfo, LaunchConfig};
use crate::launch_log::Log;
use crate::region::Space;
use crate::source::SourceLocation;

/// The counters of one launch, as a GPU would count them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Profile {
    /// The kernel.
    pub kernel: &'static KernelInfo,
    /// The launch configuration.
    pub config: LaunchConfig,
    /// The source sites that access memory, in source order.
    pub accesses: Vec<AccessProfile>,
    /// The branches that the simulator observes, in source order.
    pub branches: Vec<BranchProfile>,
    /// The number of completed block barriers, summed over blocks.
    pub barriers: u64,
    /// The number of warp synchronisations, shuffles and votes, summed over groups of lanes.
    pub warp_operations: u64,
    /// The number of fences, summed over threads.
    pub fences: u64,
    /// The number of sectors of global memory that were read, each counted once.
    pub sectors_read: u64,
    /// The number of sectors of global memory that were written, each counted once.
    pub sectors_written: u64,
    /// The maximum shared memory of a block in bytes, dynamic and static.
    pub shared_bytes: u32,
}

/// The kind of access at a source site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessKind {
    /// A load.
    Load,
    /// A store.
    Store,
    /// An atomic update.
    Atomic,
}

/// The memory accesses of one source site. A *request* is one instruction of one warp: the accesses that its lanes make
/// together.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AccessProfile {
    /// The source site.
    pub location: SourceLocation,
    /// Global or shared memory.
    pub space: Space,
    /// Load, store or atomic.
    pub kind: AccessKind,
    /// The names of the kernel's parameters or shared arrays that the site accesses.
    pub arrays: Vec<&'static str>,
    /// The number of bytes per access of a lane.
    pub bytes_per_lane: u32,
    /// The number of requests.
    pub requests: u64,
    /// The number of accesses by lanes: at most 32 per request.
    pub lanes: u64,
    /// Global memory: the number of 32-byte sectors touched, summed over requests.
    pub sectors: u64,
    /// Global memory: the minimum number of sectors that could hold the bytes of each request, each byte counted once.
    pub ideal_sectors: u64,
    /// Shared memory: the number of wavefronts, the passes over the 32 banks that the requests need.
    pub wavefronts: u64,
    /// Shared memory: the number of wavefronts that the same bytes would need without bank conflicts.
    pub ideal_wavefronts: u64,
    /// Shared memory: the largest number of ways into which a bank conflict has split a request.
    pub max_ways: u32,
    /// The distance in bytes from one lane's address to the next lane's, if it is the same in nearly all requests.
    pub stride: Option<i64>,
}

/// The counters of one branch.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BranchProfile {
    /// The source site.
    pub location: SourceLocation,
    /// The number of times that a warp reached the branch.
    pub executions: u64,
    /// The number of times that only some lanes of the warp took the branch.
    pub divergent: u64,
    /// The number of times that lanes reached the branch.
    pub lanes: u64,
    /// The number of times that lanes took the branch.
    pub taken: u64,
}

/// The profiles of a simulator's launches, in order.
pub type Profiles = Log<Profile>;
