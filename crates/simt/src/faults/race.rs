//! The report of a data race.

use std::fmt;

use crate::faults::remedy::Remedy;
use crate::faults::wait::{Barrier, Phase};
use crate::geometry::Dim3;
use crate::region::{SharedPart, Space, fmt_element};
use crate::source::SourceLocation;

/// A data race: two accesses to the same bytes that nothing orders, at least one of them a write. In addition, one of
/// the following is true: an access is not atomic, the atomics have different widths, or an atomic has block scope and
/// the other access comes from another block.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Race {
    /// The memory space of the bytes.
    pub space: Space,
    /// The array element that both accesses touch.
    pub element: Element,
    /// The block in whose shared memory the element is, if blocks of a cluster race.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub owner: Option<Dim3>,
    /// Two overlapping parts of dynamic shared memory that contain the element, if any. The accesses may have been made
    /// through these two parts.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub overlap: Option<Box<[SharedPart; 2]>>,
    /// The access that came second in this run. In another run this access may come first.
    pub here: RaceSide,
    /// The access that came first in this run.
    pub there: RaceSide,
    /// The number of bytes of the access `here`.
    pub bytes: usize,
    /// The phase of a barrier in shared memory for which one of the threads has not waited, if that is the reason.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub phase: Option<Box<MissedPhase>>,
    /// The phase that has ended without the bytes of the copy that takes part, if that is the reason.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub short: Option<Box<ShortPhase>>,
    /// The column past the end of a row, if that may be the reason for which two threads store to the element.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub past_row: Option<PastRow>,
    /// The change that would order the two accesses.
    pub remedy: Remedy,
}

/// A column past the end of its row: the position in the grid, along x and y, of a thread whose element would be that
/// of another thread in a later row, if the elements lie row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct PastRow {
    /// The index of the thread along x in the grid.
    pub column: usize,
    /// The index of the thread along y in the grid.
    pub row: usize,
    /// The number of elements of a row.
    pub width: usize,
}

impl PastRow {
    /// Returns the row length for which both `threads`, each a block and a thread of it, have the element `index`.
    /// `block` is the number of threads of a block. Returns `None` if there is no such length.
    pub(crate) fn find(index: usize, threads: [(Dim3, Dim3); 2], block: Dim3) -> Option<Self> {
        let along = |of: fn(Dim3) -> u32| {
            threads.map(|(at, thread)| of(at) as usize * of(block) as usize + of(thread) as usize)
        };
        let (x, y) = (along(|dim| dim.x), along(|dim| dim.y));
        let (above, below) = if y[0] < y[1] { (0, 1) } else { (1, 0) };
        let (column, row) = (x[above], y[above]);
        let width = column.checked_sub(x[below])?.checked_div(y[below] - row).filter(|width| *width > 0)?;
        let is_element = |thread: usize| y[thread].checked_mul(width)?.checked_add(x[thread]);
        (is_element(above) == Some(index) && is_element(below) == Some(index)).then_some(Self { column, row, width })
    }
}

impl fmt::Display for PastRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { column, row, width } = self;
        write!(
            f,
            "with rows of {width} elements, column {column} of row {row} is past the end of its row: make threads \
             whose column is not below the width access nothing"
        )
    }
}

/// A phase of a barrier in shared memory (`mbarrier`) for which a thread has not waited before an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MissedPhase {
    /// The array and the index of the barrier, if the array has a name.
    pub barrier: Option<(&'static str, usize)>,
    /// The address of the barrier in shared memory.
    pub address: usize,
    /// The index of the waiting thread in its block.
    pub thread: Dim3,
    /// The last phase for whose end the thread has waited, if any. Phases are counted from 0.
    pub waited: Option<u64>,
    /// The phase in which the other thread, or a lane of its warp, arrives.
    pub needed: u64,
}

impl fmt::Display for MissedPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { barrier, address, thread, waited, needed } = *self;
        write!(f, "thread {thread} has last waited for ")?;
        match waited {
            Some(phase) => write!(f, "{}", Phase(phase))?,
            None => f.write_str("no phase")?,
        }
        write!(f, " of {}, and the other thread arrives in {}", Barrier(barrier, address), Phase(needed))
    }
}

/// A phase of a barrier in shared memory (`mbarrier`) that has ended before all bulk copies that arrive there, because
/// it expected too few bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ShortPhase {
    /// The array and the index of the barrier, if the array has a name.
    pub barrier: Option<(&'static str, usize)>,
    /// The address of the barrier in shared memory.
    pub address: usize,
    /// The number of bytes that threads have expected in the phase.
    pub expected: u64,
    /// The number of bytes of all copies.
    pub copied: u64,
    /// The thread that has expected bytes last, and the source line.
    pub by: Option<(Dim3, SourceLocation)>,
}

impl fmt::Display for ShortPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { barrier, address, expected, copied, by } = self;
        let barrier = Barrier(*barrier, *address);
        match by {
            Some((thread, location)) => write!(
                f,
                "A phase of {barrier} has ended after {expected} of {copied} bytes of its copies, because thread \
                 {thread} has expected {expected} at {location}"
            ),
            None => write!(
                f,
                "A phase of {barrier} has ended before copies of {copied} bytes, because no thread has expected bytes"
            ),
        }
    }
}

/// An element of an array, or a byte of memory without a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Element {
    /// The array: a parameter of the kernel or a shared array. `None` for memory without a name.
    pub array: Option<&'static str>,
    /// The type of the array's elements, if the array is a part of dynamic shared memory.
    pub element_type: Option<&'static str>,
    /// The element's index in the array. If `array` is `None`, this equals `address`.
    pub index: usize,
    /// The address of the first byte that both accesses touch: a host address in global memory, or an address in the
    /// block's shared memory.
    pub address: usize,
}

/// One of the two accesses of a race.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RaceSide {
    /// The index of the thread's block in the grid.
    pub block: Dim3,
    /// The thread's index in its block.
    pub thread: Dim3,
    /// The source line of the access.
    pub location: SourceLocation,
    /// The kind of memory access: a load, a store or an atomic.
    pub access: RaceAccess,
}

/// The kinds of memory access that a race report distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum RaceAccess {
    /// A plain load.
    Load,
    /// A plain store.
    Store,
    /// A mutable borrow of the memory, which counts as a store.
    MutableBorrow,
    /// An atomic load.
    AtomicLoad,
    /// An atomic store.
    AtomicStore,
    /// An atomic update.
    AtomicUpdate,
    /// An asynchronous copy, which may write until its thread has waited for it.
    AsynchronousCopy,
    /// A read by an asynchronous operation, such as a bulk copy.
    AsynchronousRead,
    /// A write by an asynchronous operation, such as a bulk copy.
    AsynchronousWrite,
    /// A read by a product of a warpgroup, which is asynchronous.
    ProductRead,
}

impl RaceAccess {
    /// Returns `true` for the atomic kinds. Two atomic accesses race only if their widths differ or a scope does not
    /// include both threads.
    pub fn is_atomic(self) -> bool {
        matches!(self, Self::AtomicLoad | Self::AtomicStore | Self::AtomicUpdate)
    }
}

impl fmt::Display for RaceAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::MutableBorrow => "mutable borrow",
            Self::AtomicLoad => "atomic load",
            Self::AtomicStore => "atomic store",
            Self::AtomicUpdate => "atomic update",
            Self::AsynchronousCopy => "asynchronous copy",
            Self::AsynchronousRead => "asynchronous read",
            Self::AsynchronousWrite => "asynchronous write",
            Self::ProductRead => "asynchronous read of a product",
        })
    }
}

impl fmt::Display for Race {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("data race on ")?;
        let Element { array, element_type, index, .. } = self.element;
        fmt_element(f, self.space, (array, element_type), index)?;
        if let Some(owner) = self.owner {
            write!(f, " of block {owner}")?;
        }
        let (here, there) = (&self.here, &self.there);
        write!(
            f,
            ": nothing orders this {} and the {} by block {}, thread {} at {}",
            here.access, there.access, there.block, there.thread, there.location
        )?;
        if here.access.is_atomic() != there.access.is_atomic() {
            f.write_str(", and only one of them is atomic")?;
        }
        if let Some([part, other]) = self.overlap.as_deref() {
            write!(f, ". Two parts of dynamic shared memory overlap there: {part} and {other}")?;
        }
        if let Some(phase) = &self.phase {
            write!(f, ". The {phase}")?;
        }
        if let Some(short) = &self.short {
            write!(f, ". {short}")?;
        }
        if let Some(past_row) = &self.past_row {
            write!(f, "; {past_row}; otherwise, {}", self.remedy)?;
        } else {
            write!(f, "; {}", self.remedy)?;
        }
        if self.bytes < 4 && self.remedy.may_release_element() {
            f.write_str(
                ". An element of 1 or 2 bytes has no `store_release` and `load_acquire`: use `store_relaxed` after a \
                `fence()`, and `load_relaxed` before one",
            )?;
        }
        Ok(())
    }
}
