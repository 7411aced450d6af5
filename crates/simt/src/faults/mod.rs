//! Faults: the errors of a launch, and their messages.

pub(crate) mod older;
pub(crate) mod pointer;
pub(crate) mod race;
pub(crate) mod remedy;
pub(crate) mod whereabouts;

use std::fmt;

use crate::call_path::CallPath;
use crate::faults::older::OlderValue;
use crate::faults::pointer::PointerFault;
use crate::faults::race::Race;
use crate::faults::remedy::Remedy;
use crate::faults::whereabouts::{Activity, Whereabouts};
use crate::geometry::Dim3;
use crate::region::{DYNAMIC, OfType, Space, fmt_element, is_of_source};
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
    /// Every unfinished thread of the grid only polls for a write that never comes.
    NoProgress {
        /// The number of polling threads of the fault's block.
        polling: u32,
        /// The number of threads of the fault's block that wait at a barrier or a warp operation.
        waiting: u32,
        /// A thread of the block that waits at a barrier or a warp operation, if any.
        held_up: Option<Box<Whereabouts>>,
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

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panic(message) => write!(f, "panicked: {message}"),
            Self::OutOfBounds { space, array, element_type, index, len } => {
                // An index that has wrapped around is printed as a negative number.
                write!(f, "index {} is out of bounds of ", index.cast_signed())?;
                match array {
                    Some(name) if is_of_source(name) => write!(f, "`{name}`{}, {space} memory", OfType(*element_type))?,
                    Some(description) => f.write_str(description)?,
                    None => write!(f, "{space} memory")?,
                }
                write!(f, " of length {len}")?;
                if *array == Some(DYNAMIC) {
                    f.write_str("; the launch sets this length: `.shared_bytes(bytes)` of its `LaunchConfig`")?;
                }
                Ok(())
            }
            Self::Misaligned { space, element, address, size } => {
                write!(f, "{space} access of {size} bytes at address {address:#x}")?;
                match element.as_deref() {
                    Some((name, index)) if is_of_source(name) => write!(f, " (`{name}[{index}]`)")?,
                    Some((description, index)) => write!(f, " (element {index} of {description})")?,
                    None => {}
                }
                write!(f, ", which is not a multiple of {size}: use a narrower access or align the data")
            }
            Self::Pointer(fault) => {
                let PointerFault { address, bytes, problem } = &**fault;
                write!(f, "an access of {bytes} bytes through a pointer, at address {address:#x}: {problem}")
            }
            Self::Unseen { address } => write!(
                f,
                "an access at address {address:#x}, which is not mapped or not writable, by a function that is not \
                 instrumented: mark the function with `#[cuda_std::device]`; the reported line is the last one known"
            ),
            Self::StackOverflow { bytes } => write!(
                f,
                "the thread needs more than the {} KiB of stack of a simulated thread: keep large arrays in shared or \
                global memory",
                bytes / 1024
            ),
            Self::Race(race) => write!(f, "{race}"),
            Self::EarlyRead(race) => {
                let Race { space, element, here, there, remedy, .. } = &**race;
                write!(f, "a read of ")?;
                fmt_element(f, *space, (element.array, element.element_type), element.index)?;
                write!(
                    f,
                    " that may read uninitialised memory: nothing orders this {} after the {} by block {}, thread {} \
                    at {}, which is the first write to it; {remedy}",
                    here.access, there.access, there.block, there.thread, there.location
                )
            }
            Self::Uninitialised { space, array, element_type, index, copy } => {
                f.write_str("a read of ")?;
                fmt_element(f, *space, (*array, *element_type), *index)?;
                if let Some(copy) = copy {
                    return write!(
                        f,
                        ", to which thread {} began an asynchronous copy at {} that has not ended",
                        copy.thread, copy.location
                    );
                }
                match space {
                    Space::Global => f.write_str(", which neither the host nor any kernel has written"),
                    Space::Shared => f.write_str(", which no thread of the block has written"),
                }
            }
            Self::BeforeDependencies => f.write_str(
                "global memory is accessed before `grid::wait_for_dependencies()`, which every thread must call first: \
                the previous launch may still be running",
            ),
            Self::BarrierNotReached { waiting, exited, missing } => write!(
                f,
                "a block barrier that not every thread reaches: {waiting} wait, {exited} have exited; {missing}"
            ),
            Self::GridBarrierNotReached { waiting, ended } => write!(
                f,
                "a barrier of the grid that not every block reaches: {waiting} wait, {ended} have ended. Every thread \
                of the grid must reach each such barrier"
            ),
            Self::BarrierMismatch { other, other_thread } => write!(
                f,
                "threads of one block wait at different barriers: this thread here, thread {other_thread} at {other}"
            ),
            Self::BarrierApart { other_thread, paths } => {
                let [path, other] = &**paths;
                write!(
                    f,
                    "lanes of one warp reach this barrier by different call paths: this one {path}, thread \
                    {other_thread} {other}; the lanes of a warp must reach a barrier together"
                )
            }
            Self::WarpMismatch { mask, other: None } => {
                write!(f, "a warp operation whose caller is not in its own mask {mask:#010x}")
            }
            Self::WarpMismatch { mask, other: Some(other) } => {
                write!(f, "a warp operation with mask {mask:#010x} whose lanes never meet: {other}")
            }
            Self::NoProgress { polling, waiting, held_up } => {
                write!(
                    f,
                    "no progress: every unfinished thread waits for a write that never comes; in this block {polling} \
                     poll and {waiting} wait at a barrier or a warp operation"
                )?;
                held_up.as_ref().map_or(Ok(()), |held_up| write!(f, "; {held_up}"))
            }
            Self::SharedMemory { needed, limit } => {
                write!(f, "a block needs {needed} bytes of shared memory, and {limit} are allowed: use smaller arrays")
            }
            Self::StaticSharedMemory { needed, limit } => write!(
                f,
                "the kernel's static shared arrays need {needed} bytes, and {limit} are allowed: put the large ones in \
                dynamic shared memory (`dynamic_shared`), whose size `.shared_bytes(bytes)` of the launch's \
                `LaunchConfig` sets"
            ),
            Self::InvalidLaunch(reason) => write!(f, "invalid launch: {reason}"),
            Self::SimulatorLimit(reason) => write!(f, "beyond a limit of the simulator: {reason}"),
            Self::HostMemory(reason) => write!(f, "the simulator ran out of memory: {reason}"),
        }
    }
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
            (FaultKind::Race(_) | FaultKind::EarlyRead(_), _) | (_, None) => {}
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
            FaultKind::Race(race) | FaultKind::EarlyRead(race) => Some(race.remedy),
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
            FaultKind::WarpMismatch { other: None, .. } => Some(Remedy::MaskWithCaller),
            FaultKind::WarpMismatch { other: Some(_), .. } => Some(Remedy::MaskOfReachingLanes),
            _ => None,
        }
    }
}

impl std::error::Error for Fault {}
