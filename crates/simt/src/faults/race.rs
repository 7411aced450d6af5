//! The report of a data race.

use std::fmt;

use crate::faults::remedy::Remedy;
use crate::geometry::Dim3;
use crate::region::{SharedPart, Space, fmt_element};
use crate::source::SourceLocation;

/// Two accesses to the same bytes, at least one of them a write, that nothing orders. They are not both atomic, or one
/// of them is atomic only for its own block and the other is made by another block.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Race {
    /// The memory space.
    pub space: Space,
    /// The element that both access.
    pub element: Element,
    /// Two overlapping parts of dynamic shared memory that contain the element. The two accesses may have been made
    /// through them.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub overlap: Option<Box<[SharedPart; 2]>>,
    /// The access that came second in this run; in another run it may be the first.
    pub here: RaceSide,
    /// The access that came first in this run.
    pub there: RaceSide,
    /// The synchronisation that would order them.
    pub remedy: Remedy,
}

/// An element of an array, or a byte of memory without a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Element {
    /// The array: a parameter of the kernel or a shared array. `None` for memory without a name.
    pub array: Option<&'static str>,
    /// The type of the array's elements, if it is a part of dynamic shared memory.
    pub element_type: Option<&'static str>,
    /// The element's index in the array; without an array the same as `address`.
    pub index: usize,
    /// The address of the first byte that both access: the host's in global memory, the block's in shared memory.
    pub address: usize,
}

/// One of the two accesses of a race.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RaceSide {
    /// The thread's block.
    pub block: Dim3,
    /// The thread's index in its block.
    pub thread: Dim3,
    /// The source line.
    pub location: SourceLocation,
    /// The kind of access.
    pub access: RaceAccess,
}

/// The kinds of access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
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
    /// An asynchronous copy, which may write until its thread has waited for it.
    AsynchronousCopy,
}

impl RaceAccess {
    /// Returns `true` if two accesses of atomic kinds do not race, unless their scopes or widths differ.
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
            Self::AsynchronousCopy => "asynchronous copy",
        })
    }
}

impl fmt::Display for Race {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("data race on ")?;
        let Element { array, element_type, index, .. } = self.element;
        fmt_element(f, self.space, (array, element_type), index)?;
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
        write!(f, "; {}", self.remedy)
    }
}
