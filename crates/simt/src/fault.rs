//! What can go wrong in a launch, and how that is reported.

use std::fmt;

use crate::block::arena::DYNAMIC;
use crate::call_path::CallPath;
use crate::geometry::Dim3;
use crate::pointer_fault::PointerFault;
use crate::race::Race;
use crate::region::{OfType, Space, fmt_element, is_of_source};
use crate::source::SourceLocation;
use crate::whereabouts::Whereabouts;

/// Why and where a launch ended early.
///
/// Its [`Display`](fmt::Display) form is one message that names the kernel, block, thread and source line as far as
/// they are known. `Debug` is the same text, since `unwrap` shows that one.
#[derive(Clone, PartialEq, Eq)]
pub struct Fault {
    /// The kernel's name.
    pub kernel: &'static str,
    /// The block of the faulting thread; `None` when the launch as a whole is at fault.
    pub block: Option<Dim3>,
    /// The faulting thread's index in its block.
    pub thread: Option<Dim3>,
    /// The source line that the faulting thread was at.
    pub location: Option<SourceLocation>,
    /// What went wrong.
    pub kind: FaultKind,
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The kinds of fault.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(tag = "kind", content = "details", rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum FaultKind {
    /// The kernel panicked with this message.
    Panic(String),
    /// An access outside a view.
    OutOfBounds {
        /// The memory that was accessed.
        space: Space,
        /// The array that the view shows, or part of which, where known.
        array: Option<&'static str>,
        /// The type of its elements, where it is a part of dynamic shared memory.
        element_type: Option<&'static str>,
        /// The index asked for: of an element where a typed view is accessed, of a byte where shared memory is
        /// addressed directly.
        #[cfg_attr(feature = "serde", serde(serialize_with = "crate::json::signed"))]
        index: usize,
        /// How many there are, in the same unit.
        len: usize,
    },
    /// An access at an address that is not a multiple of its size.
    Misaligned {
        /// The memory that was accessed.
        space: Space,
        /// The array and the element that holds the address, where known.
        element: Option<Box<(&'static str, usize)>>,
        /// The address.
        address: usize,
        /// The size of the access in bytes, and the alignment that it needs.
        size: usize,
    },
    /// An access through a pointer that leads where it must not.
    Pointer(Box<PointerFault>),
    /// An access that the simulator was not told of, where there is no memory, or none that may be written.
    Unseen {
        /// The address.
        address: usize,
    },
    /// The thread needs more stack than it has.
    StackOverflow {
        /// What it has, in bytes.
        bytes: usize,
    },
    /// Two accesses to the same bytes that nothing orders.
    Race(Box<Race>),
    /// An atomic read of memory that nobody had written before the launch (`here`), which nothing orders after the atomic write
    /// that initialises it (`there`): it may find what nobody has written.
    EarlyRead(Box<Race>),
    /// A read of memory that nobody has written.
    Uninitialised {
        /// The memory.
        space: Space,
        /// The array, if it has a name.
        array: Option<&'static str>,
        /// The type of its elements, where it is a part of dynamic shared memory.
        element_type: Option<&'static str>,
        /// The index of the element; without an array the address, in global memory the host's, in shared memory the
        /// block's.
        index: usize,
        /// The asynchronous copy that is to write it and has not been waited for.
        copy: Option<Box<CopyUnderWay>>,
    },
    /// An access to global memory by a thread that has not waited for the launches before, of a kernel whose threads do.
    BeforeDependencies,
    /// Some threads wait at a block barrier that others never reach.
    BarrierNotReached {
        /// How many threads of the block wait at the barrier.
        waiting: u32,
        /// How many threads of the block have exited.
        exited: u32,
        /// One thread that does not come.
        missing: Box<Whereabouts>,
    },
    /// Some blocks wait at a barrier of the grid that others never reach.
    GridBarrierNotReached {
        /// How many blocks wait at the barrier.
        waiting: u64,
        /// How many blocks have ended.
        ended: u64,
    },
    /// Threads of one block wait at different barriers.
    BarrierMismatch {
        /// The other barrier.
        other: Box<SourceLocation>,
        /// A thread that waits there.
        other_thread: Dim3,
    },
    /// Lanes of one warp come to one line of a barrier by different calls, or in different iterations of a loop: what is
    /// there for each of them is another barrier.
    BarrierApart {
        /// A thread that waits there.
        other_thread: Dim3,
        /// The way of the faulting thread, and of the other.
        ways: Box<[CallPath; 2]>,
    },
    /// A warp operation whose lanes can never meet, or whose caller is not in its own mask.
    WarpMismatch {
        /// The mask that the faulting lane gave.
        mask: u32,
        /// A lane of the mask that is elsewhere; `None` if the caller is not in its own mask.
        other: Option<Box<Whereabouts>>,
    },
    /// Every unfinished thread of the grid only polls for a write that never comes.
    NoProgress {
        /// How many threads of the named block poll.
        polling: u32,
        /// How many threads of the named block wait at a barrier or a warp operation.
        waiting: u32,
        /// One of those, if there are any.
        held_up: Option<Box<Whereabouts>>,
    },
    /// A block needs more shared memory than there is.
    SharedMemory {
        /// Bytes needed by a block.
        needed: usize,
        /// Bytes that a block may have.
        limit: usize,
    },
    /// The shared arrays of a kernel take more than a GPU gives it without the launch asking.
    StaticSharedMemory {
        /// Bytes that they take.
        needed: usize,
        /// Bytes that they may take.
        limit: usize,
    },
    /// The launch is one that no device would run; the text says why.
    InvalidLaunch(String),
    /// The simulator does not run so large a launch, though a GPU may; the text says why.
    SimulatorLimit(String),
    /// The machine that simulates has no memory left for the stacks of suspended threads.
    HostMemory(String),
}

impl FaultKind {
    /// Whether a limit of the simulator or of its machine ended the launch. Such an end says nothing about the kernel.
    pub fn is_limit_of_simulator(&self) -> bool {
        matches!(self, Self::StackOverflow { .. } | Self::SimulatorLimit(_) | Self::HostMemory(_))
    }
}

/// An asynchronous copy that has begun, and that its thread has not waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CopyUnderWay {
    /// The thread of the block that has begun it.
    pub thread: Dim3,
    /// Where it has.
    pub location: SourceLocation,
    /// Whether there was something that it overwrites.
    pub overwrites: bool,
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panic(message) => write!(f, "panicked: {message}"),
            Self::OutOfBounds { space, array, element_type, index, len } => {
                // What has wrapped around began below 0.
                write!(f, "index {} is out of bounds of ", index.cast_signed())?;
                match array {
                    Some(name) if is_of_source(name) => write!(f, "`{name}`{}, {space} memory", OfType(*element_type))?,
                    Some(description) => f.write_str(description)?,
                    None => write!(f, "{space} memory")?,
                }
                write!(f, " of length {len}")?;
                if *array == Some(DYNAMIC) {
                    f.write_str(
                        "; the launch says how much of that there is: `.shared_bytes(bytes)` of its `LaunchConfig`",
                    )?;
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
                "an access at address {address:#x}, where there is no memory that allows it, by a function that the simulator \
                 does not see into: the line is the last that is known; mark the function with `#[cuda_std::device]`"
            ),
            Self::StackOverflow { bytes } => write!(
                f,
                "the thread needs more than the {} KiB of stack that the simulator gives it: keep large arrays in \
                 shared or global memory",
                bytes / 1024
            ),
            Self::Race(race) => write!(f, "{race}"),
            Self::EarlyRead(race) => {
                let Race { space, element, here, there, remedy, .. } = &**race;
                write!(f, "a read of ")?;
                fmt_element(f, *space, (element.array, element.element_type), element.index)?;
                write!(
                    f,
                    " that may find what nobody has written: nothing orders this {} after the {} by block {}, thread {} at {}, which \
                     is the first to write it; {remedy}",
                    here.access, there.access, there.block, there.thread, there.location
                )
            }
            Self::Uninitialised { space, array, element_type, index, copy } => {
                f.write_str("a read of ")?;
                fmt_element(f, *space, (*array, *element_type), *index)?;
                if let Some(copy) = copy {
                    return write!(
                        f,
                        ", to which an asynchronous copy is under way that thread {} began at {}",
                        copy.thread, copy.location
                    );
                }
                match space {
                    Space::Global => f.write_str(", which neither the host nor any kernel has written"),
                    Space::Shared => f.write_str(", which no thread of the block has written"),
                }
            }
            Self::BeforeDependencies => f.write_str(
                "global memory is accessed before `grid::wait_for_dependencies()`, which every thread calls first: the launch \
                 before may still be running",
            ),
            Self::BarrierNotReached { waiting, exited, missing } => write!(
                f,
                "a block barrier that not every thread reaches: {waiting} wait, {exited} have exited; {missing}"
            ),
            Self::GridBarrierNotReached { waiting, ended } => write!(
                f,
                "a barrier of the grid that not every block reaches: {waiting} wait, {ended} have ended. Every thread of the \
                 grid must reach each such barrier"
            ),
            Self::BarrierMismatch { other, other_thread } => write!(
                f,
                "threads of one block wait at different barriers: this one here, thread {other_thread} at {other}"
            ),
            Self::BarrierApart { other_thread, ways } => {
                let [way, other] = &**ways;
                write!(
                    f,
                    "lanes of one warp come to this barrier by different ways: this one {way}, thread {other_thread} {other}; \
                     the lanes of a warp must reach a barrier together"
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
                write!(f, "a block needs {needed} bytes of shared memory, of which it may have {limit}")
            }
            Self::StaticSharedMemory { needed, limit } => write!(
                f,
                "the kernel's shared arrays take {needed} bytes, of which GPUs give it {limit}: have the large ones in dynamic \
                 shared memory (`dynamic_shared`), for which the launch asks by `.shared_bytes(bytes)` of its `LaunchConfig`"
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
            // Which says it itself.
            (FaultKind::Race(_) | FaultKind::EarlyRead(_), _) | (_, None) => Ok(()),
            (_, Some(remedy)) => write!(f, "; {remedy}"),
        }
    }
}

impl std::error::Error for Fault {}
