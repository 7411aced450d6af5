//! How a data race is reported.

use std::fmt;

use crate::geometry::Dim3;
use crate::lanes::LANES;
use crate::region::{Space, fmt_element};
use crate::source::SourceLocation;

/// Two accesses to the same bytes, at least one of them a write, that nothing orders, and not both atomic, or of different
/// blocks and one of them atomic for its own block alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The memory.
    pub space: Space,
    /// What both access.
    pub element: Element,
    /// The access that came second in this run; in another it may be the first.
    pub here: RaceSide,
    /// The access that came first.
    pub there: RaceSide,
    /// What would order them.
    pub remedy: Remedy,
}

/// An element of an array, or a byte of memory that has no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// The array: a parameter of the kernel, or a shared array. `None` for memory that has no name.
    pub array: Option<&'static str>,
    /// The element's index in the array; without an array the same as `address`.
    pub index: usize,
    /// In global memory the host's address of the first byte that both access, in shared memory the block's.
    pub address: usize,
}

/// One of the two accesses of a race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaceSide {
    /// The thread's block.
    pub block: Dim3,
    /// The thread's index in its block.
    pub thread: Dim3,
    /// The source line.
    pub location: SourceLocation,
    /// What it does.
    pub access: RaceAccess,
}

/// The kinds of access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RaceAccess {
    /// A plain load.
    Load,
    /// A plain store.
    Store,
    /// An atomic load.
    AtomicLoad,
    /// An atomic store.
    AtomicStore,
    /// An atomic update.
    AtomicUpdate,
}

/// What orders two accesses: the narrowest that would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Remedy {
    /// A warp synchronisation of both lanes.
    WarpSynchronisation,
    /// A block barrier.
    BlockBarrier,
    /// Release and acquire, or another launch.
    BetweenBlocks,
    /// Atomics whose scope has both threads in it.
    WiderScope,
    /// One of the threads makes the store that they all make.
    OneThread,
    /// A release by the thread of the earlier access, before an atomic write that the later one's has read.
    Release,
    /// An acquire by the thread of the later access, after it has read the other's atomic write.
    Acquire,
    /// Both of them.
    ReleaseAndAcquire,
}

impl Remedy {
    /// For two threads, each with its block and its number there.
    pub(crate) fn between((block, thread): (u32, u32), (other_block, other_thread): (u32, u32)) -> Self {
        if block != other_block {
            Self::BetweenBlocks
        } else if thread / LANES == other_thread / LANES {
            Self::WarpSynchronisation
        } else {
            Self::BlockBarrier
        }
    }
}

impl RaceAccess {
    /// Whether two such accesses never race, but for their scopes.
    pub fn is_atomic(self) -> bool {
        matches!(self, Self::AtomicLoad | Self::AtomicStore | Self::AtomicUpdate)
    }
}

impl fmt::Display for RaceAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::AtomicLoad => "atomic load",
            Self::AtomicStore => "atomic store",
            Self::AtomicUpdate => "atomic update",
        })
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WarpSynchronisation => "put warp::sync_warp of both lanes, or a block barrier, between them",
            Self::BlockBarrier => "put thread::sync_threads between them",
            Self::WiderScope => {
                "one of them is atomic for the threads of its own block alone: make both atomic for the device"
            }
            Self::OneThread => {
                "several threads make one store: let one thread make it, or give each its own element, or make it atomic; the \
                 rounds of a loop in one block are ordered by thread::sync_threads between them"
            }
            Self::Release => {
                "this thread has read an atomic write that follows the other access, which does not release it: put a fence \
                 between that access and the atomic write, or make the write a releasing store, of a scope that has both \
                 threads in it"
            }
            Self::Acquire => {
                "the other access is released by an atomic write that this thread has read, and not acquired: put a fence \
                 between the atomic read and this access, or make the read an acquiring load, of a scope that has both threads \
                 in it"
            }
            Self::ReleaseAndAcquire => {
                "this thread has read an atomic write that follows the other access: put a fence between that access and the \
                 atomic write, and another between the atomic read and this access, or have a releasing store and an \
                 acquiring load, of a scope that has both threads in it"
            }
            Self::BetweenBlocks => {
                "order them by a releasing store and an acquiring load, or by fences around atomics, or by a launch of \
                 their own, or make both atomic"
            }
        })
    }
}

impl fmt::Display for Race {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("data race on ")?;
        fmt_element(f, self.space, self.element.array, self.element.index)?;
        let (here, there) = (&self.here, &self.there);
        write!(
            f,
            ": nothing orders this {} and the {} by block {}, thread {} at {}",
            here.access, there.access, there.block, there.thread, there.location
        )?;
        if here.access.is_atomic() != there.access.is_atomic() {
            f.write_str(", and only one of them is atomic")?;
        }
        write!(f, "; {}", self.remedy)
    }
}
