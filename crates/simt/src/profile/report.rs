//! What a profile reports of a launch.

use std::sync::{Arc, Mutex, PoisonError};

use crate::geometry::{KernelInfo, LaunchConfig};
use crate::region::Space;
use crate::source::SourceLocation;

/// What one launch did, as a GPU would count it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Profile {
    /// The kernel.
    pub kernel: &'static KernelInfo,
    /// The launch.
    pub config: LaunchConfig,
    /// Every place of the source that accesses memory, in the order of the source.
    pub accesses: Vec<AccessProfile>,
    /// Every branch that the simulator sees, in the order of the source.
    pub branches: Vec<BranchProfile>,
    /// Block barriers completed, one for each block.
    pub barriers: u64,
    /// Warp synchronisations, shuffles and votes, one for each group of lanes that met.
    pub warp_operations: u64,
    /// Fences, one for each thread that made one.
    pub fences: u64,
    /// Sectors of global memory that were read, each counted once.
    pub sectors_read: u64,
    /// Sectors of global memory that were written, each counted once.
    pub sectors_written: u64,
    /// Bytes of shared memory that a block has at most: dynamic and static ones.
    pub shared_bytes: u32,
}

/// How a place of the source accesses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessKind {
    /// A load.
    Load,
    /// A store.
    Store,
    /// An atomic update.
    Atomic,
}

/// What one place of the source did in memory. A *request* is one instruction of one warp: the accesses that its lanes
/// make together.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AccessProfile {
    /// The place.
    pub location: SourceLocation,
    /// Global or shared memory.
    pub space: Space,
    /// Load, store or atomic.
    pub kind: AccessKind,
    /// The array, by the name of the kernel's parameter or of the shared array; several, if one place accesses several.
    pub arrays: Vec<&'static str>,
    /// Bytes that a lane accesses at once.
    pub bytes_per_lane: u32,
    /// Requests.
    pub requests: u64,
    /// Accesses of lanes: at most 32 per request.
    pub lanes: u64,
    /// Global memory: 32-byte sectors touched, counted for each request.
    pub sectors: u64,
    /// Global memory: the fewest sectors in which the bytes of each request, each counted once, would fit.
    pub ideal_sectors: u64,
    /// Shared memory: wavefronts, the passes over the 32 banks that the requests take.
    pub wavefronts: u64,
    /// Shared memory: the wavefronts that as many bytes would take without bank conflicts.
    pub ideal_wavefronts: u64,
    /// Shared memory: the most ways that one request was split.
    pub max_ways: u32,
    /// The bytes from one lane's address to the next lane's, if they are the same for all lanes of nearly all requests.
    pub stride: Option<i64>,
}

/// What one branch did.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BranchProfile {
    /// The place.
    pub location: SourceLocation,
    /// How often a warp came to it.
    pub executions: u64,
    /// How often some lanes of the warp took it and some did not.
    pub divergent: u64,
    /// How often lanes came to it.
    pub lanes: u64,
    /// How often lanes took it.
    pub taken: u64,
}

/// Where a simulator leaves the profiles of its launches, in their order.
#[derive(Clone, Debug, Default)]
pub struct Profiles(Arc<Mutex<Vec<Profile>>>);

impl Profiles {
    /// Takes all profiles so far.
    pub fn take(&self) -> Vec<Profile> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn push(&self, profile: Profile) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(profile);
    }
}
