//! The results of a profiled launch: its counters per source site.

use super::copies::{BulkProfile, BytesInFlight};
use super::products::ProductProfile;
use super::site::AccessKind;
use super::steps::WarpStep;
use crate::geometry::{KernelInfo, LaunchConfig};
use crate::launch_log::Log;
use crate::region::Space;
use crate::source::SourceLocation;

/// The counters of one launch, as a GPU would count them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Profile {
    /// The kernel that was launched.
    pub kernel: &'static KernelInfo,
    /// The launch configuration.
    pub config: LaunchConfig,
    /// The counters of the source sites that access memory, in source order.
    pub accesses: Vec<AccessProfile>,
    /// The counters of the branches that the simulator observes, in source order.
    pub branches: Vec<BranchProfile>,
    /// The number of completed block barriers, summed over all blocks.
    pub barriers: u64,
    /// The source sites of these barriers, and how many of them were completed at each site.
    pub barrier_sites: Vec<(SourceLocation, u64)>,
    /// The bulk copies, in source order.
    pub bulk_copies: Vec<BulkProfile>,
    /// The most bytes of bulk loads that a block had in flight at a time.
    pub bytes_in_flight: BytesInFlight,
    /// The products of tensor cores, in source order.
    pub products: Vec<ProductProfile>,
    /// The number of warp synchronisations, shuffles and votes. Each group of lanes that executes one together counts
    /// once. Products of tensor cores and moves of matrices are not counted here.
    pub warp_operations: u64,
    /// The number of fences, summed over all threads.
    pub fences: u64,
    /// The number of distinct sectors of global memory that the launch read, also by bulk copies.
    pub sectors_read: u64,
    /// The number of distinct sectors of global memory that the launch wrote, also by bulk copies.
    pub sectors_written: u64,
    /// The maximum shared memory of a block in bytes, dynamic and static.
    pub shared_bytes: u32,
    /// The first 64 steps of one warp: the first one of the first block, unless
    /// [`Simulator::with_steps_of`](crate::Simulator::with_steps_of) has chosen another.
    pub steps: Vec<WarpStep>,
}

/// The memory accesses of one source site. A *request* is one instruction of one warp: the accesses that its lanes make
/// together.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AccessProfile {
    /// The source site of the accesses.
    pub location: SourceLocation,
    /// The memory space that the site accesses.
    pub space: Space,
    /// The kind of access: load, store or atomic update.
    pub kind: AccessKind,
    /// The names of the kernel's parameters or shared arrays that the site accesses.
    pub arrays: Vec<&'static str>,
    /// The number of bytes per access of a lane.
    pub bytes_per_lane: u32,
    /// The number of requests that the site made.
    pub requests: u64,
    /// The number of accesses by single lanes, at most 32 per request.
    pub lanes: u64,
    /// For global memory: the number of 32-byte sectors that the requests touched, summed over requests.
    pub sectors: u64,
    /// For global memory: the minimum number of sectors that could hold the distinct bytes of each request, summed over
    /// requests.
    pub ideal_sectors: u64,
    /// For shared memory: the number of requests of which a lane accesses the memory of another block of its cluster.
    /// Such a request goes over the network between multiprocessors. Its wavefronts are those in the other block.
    pub remote_requests: u64,
    /// For shared memory: the number of wavefronts of the requests. A wavefront is a pass over the 32 banks.
    pub wavefronts: u64,
    /// For shared memory: the number of wavefronts that the requests would need without bank conflicts.
    pub ideal_wavefronts: u64,
    /// For shared memory: the degree of the worst bank conflict of a request, such as 32 for a 32-way conflict.
    pub max_ways: u32,
    /// The distance in bytes between the addresses of consecutive lanes, if it is the same in nearly all requests.
    pub stride: Option<i64>,
}

/// The counters of one branch in the source.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BranchProfile {
    /// The source site of the branch.
    pub location: SourceLocation,
    /// The number of times that a warp executed the branch. Lanes that reach the branch together count once.
    pub executions: u64,
    /// The number of times that only some lanes of the warp took the branch.
    pub divergent: u64,
    /// The number of times that lanes reached the branch.
    pub lanes: u64,
    /// The number of times that lanes took the branch.
    pub taken: u64,
}

/// The profiles of a simulator's launches, in the order in which the launches end.
pub type Profiles = Log<Profile>;
