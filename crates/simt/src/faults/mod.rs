//! Faults: the errors of a launch, and their messages.

pub(crate) mod bulk;
mod display;
pub(crate) mod older;
pub(crate) mod pointer;
pub(crate) mod race;
pub(crate) mod remedy;
pub(crate) mod remote;
pub(crate) mod wait;
pub(crate) mod warpgroup;
pub(crate) mod whereabouts;

use std::fmt;

use crate::call_path::CallPath;
use crate::faults::bulk::BulkFault;
use crate::faults::older::OlderValue;
use crate::faults::pointer::PointerFault;
use crate::faults::race::Race;
use crate::faults::remedy::Remedy;
use crate::faults::remote::{ClusterMisuse, Lifetime, RemoteAccess};
use crate::faults::wait::Wait;
use crate::faults::warpgroup::WarpgroupFault;
use crate::faults::whereabouts::{Absence, Activity, Whereabouts};
use crate::geometry::Dim3;
use crate::region::Space;
use crate::source::SourceLocation;

/// The error that ended a launch early, and the place where it happened.
///
/// The [`Display`](fmt::Display) form of a fault is one message that names the kernel, block, thread and source line,
/// if known. `Debug` prints the same text, because `unwrap` uses it.
#[derive(Clone, PartialEq, Eq)]
pub struct Fault {
    /// The name of the kernel that was launched.
    pub kernel: &'static str,
    /// The block of the faulting thread, or `None` when the whole launch is at fault.
    pub block: Option<Dim3>,
    /// The faulting thread's index in its block.
    pub thread: Option<Dim3>,
    /// The source line of the faulting thread.
    pub location: Option<SourceLocation>,
    /// The kind of fault, with its details.
    pub kind: FaultKind,
    /// An atomic access that did not see the newest write and may have led to the fault. PTX's memory model allows
    /// this. `None` unless the schedule explores weak memory.
    pub older: Option<Box<OlderValue>>,
}

crate::debug_as_display!(Fault);

/// The kinds of fault that end a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(tag = "kind", content = "details", rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum FaultKind {
    /// A panic of the kernel, with the panic's message.
    Panic(String),
    /// An access outside of the bounds of a view.
    OutOfBounds {
        /// The memory space of the view.
        space: Space,
        /// The name of the array to which the view belongs, if known.
        array: Option<&'static str>,
        /// The type of the array's elements, if the array is a part of dynamic shared memory.
        element_type: Option<&'static str>,
        /// The index of the accessed element in a typed view, or of the accessed byte if shared memory is addressed
        /// directly.
        #[cfg_attr(feature = "serde", serde(serialize_with = "crate::json::signed"))]
        index: usize,
        /// The length of the view or of shared memory, in the unit of `index`.
        len: usize,
    },
    /// An access whose address is not a multiple of the access's size.
    Misaligned {
        /// The memory space of the address.
        space: Space,
        /// The array and the element that contains the address, if known.
        element: Option<Box<(&'static str, usize)>>,
        /// The misaligned address.
        address: usize,
        /// The size of the access in bytes, and its required alignment.
        size: usize,
    },
    /// An invalid access through a pointer.
    Pointer(Box<PointerFault>),
    /// An access by a function that is not instrumented, at an address that is not mapped or not writable.
    Unseen {
        /// The address of the access.
        address: usize,
    },
    /// A stack overflow of a simulated thread.
    StackOverflow {
        /// The size of a simulated thread's stack in bytes.
        bytes: usize,
    },
    /// A data race: two accesses to the same bytes that nothing orders.
    Race(Box<Race>),
    /// An atomic read (`here`) of memory that was uninitialised before the launch. The atomic write `there` initialises
    /// the memory, but nothing orders the read after this write. The read may therefore return uninitialised bytes.
    EarlyRead(Box<Race>),
    /// A read-only load (`ld.global.nc`) of memory that the launch writes. One of the two accesses is the load, the
    /// other is the write. They may be ordered, but such a load ignores the order.
    WrittenReadOnly(Box<Race>),
    /// A read of uninitialised memory.
    Uninitialised {
        /// The memory space of the uninitialised bytes.
        space: Space,
        /// The array that contains the bytes, if it has a name.
        array: Option<&'static str>,
        /// The type of the array's elements, if the array is a part of dynamic shared memory.
        element_type: Option<&'static str>,
        /// The index of the element in the array. If the bytes are in no array, this is the address: a host address in
        /// global memory, or an address in the block's shared memory.
        index: usize,
        /// The unfinished asynchronous copy that writes the element, if any. The thread that began the copy has not
        /// waited for it.
        copy: Option<Box<CopyUnderWay>>,
    },
    /// A write by a thread that an asynchronous operation reads or overwrites without a proxy fence between the two.
    /// One of the two accesses is the write, the other is that of the operation. They are ordered, but through
    /// different proxies.
    WithoutProxyFence(Box<Race>),
    /// A bulk copy that no GPU would make, or whose end no thread waits for.
    BulkCopy(BulkFault),
    /// A wrong use of the instructions of a warpgroup (`wgmma`, `setmaxnreg`).
    Warpgroup(WarpgroupFault),
    /// An access to global memory by a thread that has not waited for the previous launches, although other threads of
    /// its block have.
    BeforeDependencies,
    /// Some threads of a block wait at a block barrier that other threads of the block never reach.
    BarrierNotReached {
        /// The number of threads of the block that wait at the barrier.
        waiting: u32,
        /// The number of threads of the block that have exited, which never reach the barrier.
        exited: u32,
        /// A thread of the block that does not reach the barrier.
        missing: Box<Whereabouts>,
    },
    /// Some blocks wait at a barrier of the grid that other blocks never reach.
    GridBarrierNotReached {
        /// The number of blocks that wait at the barrier.
        waiting: u64,
        /// The number of blocks that have ended without reaching the barrier.
        ended: u64,
    },
    /// Some threads of a cluster wait at a barrier that other threads of the cluster never reach.
    ClusterBarrierNotReached {
        /// The number of threads of the cluster that wait at the barrier.
        waiting: u32,
        /// The number of threads of the cluster that have exited.
        exited: u32,
        /// The block of the thread in `missing`.
        block: Dim3,
        /// A thread of the cluster that does not reach the barrier.
        missing: Box<Whereabouts>,
    },
    /// A wrong use of a cluster's barrier, or a rank out of range.
    ClusterMisuse(ClusterMisuse),
    /// An access to the shared memory of another block, which need not have begun or may have ended.
    RemoteAccess(Box<RemoteAccess>),
    /// Threads of one block wait at different barriers.
    BarrierMismatch {
        /// The source line of the other barrier.
        other: Box<SourceLocation>,
        /// A thread that waits at the other barrier.
        other_thread: Dim3,
    },
    /// Lanes of one warp reach the line of a barrier by different calls or in different loop iterations. On a GPU these
    /// lanes would not wait at the same barrier together.
    BarrierApart {
        /// A lane of the warp that already waits at the barrier.
        other_thread: Dim3,
        /// The call paths of the faulting thread and of `other_thread`.
        #[cfg_attr(feature = "serde", serde(rename = "ways"))]
        paths: Box<[CallPath; 2]>,
    },
    /// A warp operation that some lanes of its mask never reach, or that a lane outside of the mask calls.
    WarpMismatch {
        /// The mask that the faulting lane passed.
        mask: u32,
        /// A lane of the mask that does not reach the operation, or `None` if the calling lane is not in its own mask.
        other: Option<Box<Whereabouts>>,
    },
    /// An instruction that all 32 lanes of a warp must execute together, and that some lanes never reach.
    PartialWarp {
        /// The name of the instruction in PTX.
        instruction: &'static str,
        /// A lane that does not reach the instruction, or `None` if the warp has fewer than 32 threads.
        missing: Option<Box<Whereabouts>>,
    },
    /// Every unfinished thread of the grid only polls for a write that never comes.
    NoProgress {
        /// The number of polling threads of the fault's block.
        polling: u32,
        /// The number of threads of the fault's block that wait at a barrier or a warp operation.
        waiting: u32,
        /// A thread of the block that waits at a barrier or a warp operation, if any.
        held_up: Option<Box<Whereabouts>>,
        /// Threads that poll, with the elements that they poll: at most eight, and one of each block for each source
        /// line and element. Empty if the launch is not checked.
        #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
        waits: Vec<Wait>,
    },
    /// A thread that has run for a long time in loops, without a memory access and without waiting. The simulator
    /// assumes that it never ends.
    EndlessLoop {
        /// The limit of that time in seconds.
        seconds: u64,
    },
    /// A shuffle that takes the value of a lane that takes no part in it. The value is unspecified, and
    /// the results of the launch depend on it.
    UnspecifiedShuffle {
        /// The mask of the shuffle.
        mask: u32,
        /// The lane that takes no part in the shuffle.
        source: u32,
        /// The reason why it takes no part.
        absence: Absence,
        /// An array and the index of an element that depends on the value, if any element does.
        element: Option<(&'static str, usize)>,
    },
    /// A block needs more shared memory than is allowed.
    SharedMemory {
        /// The number of bytes of shared memory that a block needs.
        needed: usize,
        /// The maximum number of bytes of shared memory of a block.
        limit: usize,
    },
    /// The static shared arrays of a kernel need more memory than GPUs allow for static arrays.
    StaticSharedMemory {
        /// The number of bytes that the static arrays need.
        needed: usize,
        /// The maximum number of bytes of the static arrays of a block.
        limit: usize,
    },
    /// An invalid launch, which no device would run. The text states the reason.
    InvalidLaunch(String),
    /// A launch that exceeds a limit of the simulator. The text states the limit. A GPU may run the launch.
    SimulatorLimit(String),
    /// The host has no memory left for the stacks of suspended threads or for other needs of the launch.
    HostMemory(String),
}

impl FaultKind {
    /// Returns `true` if a limit of the simulator or of the host machine ended the launch. The kernel may still be
    /// correct.
    pub fn is_limit_of_simulator(&self) -> bool {
        matches!(self, Self::StackOverflow { .. } | Self::SimulatorLimit(_) | Self::HostMemory(_))
    }
}

/// An asynchronous copy that has begun. The thread that began it has not yet waited for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CopyUnderWay {
    /// The thread that began the copy.
    pub thread: Dim3,
    /// The source line at which the copy began.
    pub location: SourceLocation,
    /// `true` if the copy overwrites initialised memory.
    pub overwrites: bool,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}`", self.kernel)?;
        if let Some(block) = self.block {
            write!(f, ", block {block}")?;
        }
        if let Some(thread) = self.thread {
            write!(f, ", thread {thread}")?;
        }
        if let Some(location) = &self.location {
            write!(f, ", at {location}")?;
        }
        write!(f, ": {}", self.kind)?;
        match (&self.kind, self.remedy()) {
            // The message of a race already has its remedy.
            (FaultKind::Race(_) | FaultKind::EarlyRead(_) | FaultKind::WrittenReadOnly(_), _) | (_, None) => {}
            (_, Some(remedy)) => write!(f, "; {remedy}")?,
        }
        self.older.as_ref().map_or(Ok(()), |older| write!(f, ". Before, {older}"))
    }
}

impl Fault {
    /// Returns the change that would make the kernel correct, if the fault determines one. The fault's message includes
    /// the text of this change.
    pub fn remedy(&self) -> Option<Remedy> {
        match &self.kind {
            FaultKind::Race(race)
            | FaultKind::EarlyRead(race)
            | FaultKind::WrittenReadOnly(race)
            | FaultKind::WithoutProxyFence(race) => Some(race.remedy),
            FaultKind::Uninitialised { copy: Some(copy), .. } if copy.overwrites => Some(Remedy::EitherSideOfCopy),
            FaultKind::Uninitialised { copy: Some(_), .. } => Some(Remedy::WaitForCopy),
            // The missing thread waits at a warp operation. It reaches the barrier when the lanes of its mask reach the
            // operation.
            FaultKind::BarrierNotReached { missing, .. }
                if matches!(missing.activity, Activity::AtWarpOperation { .. }) =>
            {
                Some(Remedy::MaskOfReachingLanes)
            }
            FaultKind::BarrierNotReached { .. } => Some(Remedy::BarrierForAll),
            FaultKind::BarrierMismatch { .. } | FaultKind::BarrierApart { .. } => Some(Remedy::OneBarrier),
            FaultKind::ClusterBarrierNotReached { .. } => Some(Remedy::ClusterBarrierForAll),
            FaultKind::RemoteAccess(access) => Some(match access.problem {
                Lifetime::MayNotHaveBegun => Remedy::ClusterBarrierBefore,
                Lifetime::HasEnded | Lifetime::MayHaveEnded => Remedy::ClusterBarrierAfter,
            }),
            FaultKind::WarpMismatch { other: None, .. } => Some(Remedy::MaskWithCaller),
            FaultKind::WarpMismatch { other: Some(_), .. } => Some(Remedy::MaskOfReachingLanes),
            FaultKind::PartialWarp { missing: Some(_), .. } => Some(Remedy::WholeWarp),
            FaultKind::PartialWarp { missing: None, .. } => Some(Remedy::WholeWarps),
            FaultKind::UnspecifiedShuffle { .. } => Some(Remedy::MaskWithSource),
            FaultKind::Warpgroup(fault) => fault.remedy(),
            _ => None,
        }
    }
}

impl std::error::Error for Fault {}
