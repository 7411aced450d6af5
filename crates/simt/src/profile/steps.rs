//! The first steps of one warp of a launch, from which pictures of its accesses are drawn.

use super::replay::Step;
use super::site::{self, AccessKind, Sites};
use crate::lanes::{LANES, bits};
use crate::region::Space;
use crate::source::SourceLocation;
use crate::synchronisations::SyncKind;

/// The number of steps that a profile has at most.
pub(super) const MAX_STEPS: usize = 64;

/// A step of a warp: an instruction that accesses memory, a barrier, or a warp operation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WarpStep {
    /// The source site of the instruction.
    pub location: SourceLocation,
    /// The access; `None` for a barrier or a warp operation.
    pub access: Option<WarpAccess>,
    /// The kind of barrier or warp operation; `None` for an access. Every barrier of more than a warp is a
    /// [`SyncKind::Barrier`].
    pub meeting: Option<SyncKind>,
}

/// An access that the lanes of a warp make together.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WarpAccess {
    /// The memory space.
    pub space: Space,
    /// The kind of access.
    pub kind: AccessKind,
    /// The number of bytes per lane.
    pub bytes: u32,
    /// The array that the first participating lane accesses, if it has a name.
    pub array: Option<AccessedArray>,
    /// The participating lanes, each with the address of its first byte: in global memory a host address, which has the
    /// alignment of the device's address; in shared memory an address in that of the block.
    pub lanes: Vec<(u32, u64)>,
}

/// An array that a warp accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AccessedArray {
    /// The name of the array: a parameter of the kernel or a shared array.
    pub name: &'static str,
    /// The address of the array's first byte.
    pub start: u64,
    /// The size of an element in bytes.
    pub element: usize,
}

impl WarpStep {
    /// Returns the step that `step` is, or `None` for a branch. `array` returns the array at an address.
    pub(super) fn new(
        step: &Step<'_>,
        sites: &Sites,
        array: impl Fn(Space, u64) -> Option<AccessedArray>,
    ) -> Option<Self> {
        let site = sites.get(step.node)?;
        let (access, meeting) = match site.step {
            site::Step::Branch => return None,
            site::Step::Meeting(kind) => (None, Some(kind)),
            site::Step::Access { space, kind, bytes } => {
                let lanes: Vec<_> = bits(step.lanes).map(|lane| (lane as u32 % LANES, step.values[lane])).collect();
                let array = lanes.first().and_then(|&(_, address)| array(space, address));
                (Some(WarpAccess { space, kind, bytes: bytes.into(), array, lanes }), None)
            }
        };
        Some(Self { location: site.at.into(), access, meeting })
    }
}
