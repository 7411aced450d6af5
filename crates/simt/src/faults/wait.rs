//! A thread that waits for a write that never comes, and the last write to the memory that it reads.

use std::fmt;

use crate::geometry::Dim3;
use crate::region::is_of_source;
use crate::source::SourceLocation;

/// A polling thread of a launch that makes no progress.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Wait {
    /// The index of the thread's block in the grid.
    pub block: Dim3,
    /// The thread's index in its block.
    pub thread: Dim3,
    /// The source line at which the thread polls.
    pub location: SourceLocation,
    /// The array and the index of the element that the thread polls, if known.
    pub element: Option<(&'static str, usize)>,
    /// The last atomic access that has changed the element, if any. Only checked launches record these accesses.
    pub changed: Option<Box<Change>>,
    /// The phase for which the thread waits, if it waits at a barrier in shared memory. Only checked launches record
    /// the phases.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub phase: Option<Box<PhaseWait>>,
}

/// The phase of a barrier in shared memory (`mbarrier`) for whose end a thread waits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct PhaseWait {
    /// The number of the phase, counted from 0.
    pub number: u64,
    /// The number of arrivals in this phase.
    pub arrived: u32,
    /// The number of arrivals that the phase still expects.
    pub missing: u32,
    /// Some threads that arrived in the previous phase and have not arrived in this one. In phase 0, if each thread of
    /// the block has to arrive once, some that have not.
    pub absent: Vec<Dim3>,
    /// The last phase for whose end the thread has waited before, if any.
    pub last: Option<u64>,
    /// The first and the last of the ended phases for which the thread has not waited, if there are any.
    pub missed: Option<[u64; 2]>,
    /// The address of the barrier in shared memory.
    pub address: usize,
    /// The bytes for which the phase waits, if it waits for any.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub bytes: Option<Bytes>,
}

/// The bytes that the current phase of a barrier expects, if not exactly these have arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Bytes {
    /// The number of bytes that threads have expected.
    pub expected: u64,
    /// The number of bytes that have arrived.
    pub arrived: u64,
    /// The thread that has expected bytes last, and the source line.
    pub by: Option<(Dim3, SourceLocation)>,
}

/// An atomic access that has changed the value in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Change {
    /// The index of the thread's block in the grid.
    pub block: Dim3,
    /// The thread's index in its block.
    pub thread: Dim3,
    /// The source line of the access.
    pub location: SourceLocation,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { block, thread, location, element, changed, phase } = self;
        write!(f, "block {block}, thread {thread} waits at {location}")?;
        if let Some(phase) = phase {
            return write!(f, " for {} of {}{}", Phase(phase.number), Barrier(*element, phase.address), &**phase);
        }
        let Some((array, index)) = *element else { return Ok(()) };
        f.write_str(" for ")?;
        if is_of_source(array) {
            write!(f, "`{array}[{index}]`")?;
        } else {
            write!(f, "element {index} of {array}")?;
        }
        match changed {
            Some(changed) => {
                let Change { block, thread, location } = &**changed;
                write!(f, ", last changed by block {block}, thread {thread} at {location}")
            }
            None => f.write_str(", which no thread has changed by an atomic access"),
        }
    }
}

/// Writes the rest of a sentence that ends with the name of the barrier.
impl fmt::Display for PhaseWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { arrived, missing, absent, missed, bytes, .. } = self;
        write!(f, ", which has {arrived} of {} arrivals", u64::from(*arrived) + u64::from(*missing))?;
        for (i, thread) in absent.iter().enumerate() {
            write!(f, "{}thread {thread}", if i == 0 { " (not from " } else { ", " })?;
        }
        if !absent.is_empty() {
            f.write_str(")")?;
        }
        if let Some(bytes) = bytes {
            write!(f, "{bytes}")?;
        }
        let Some([first, last]) = *missed else { return Ok(()) };
        f.write_str(", and has not waited for ")?;
        if first == last {
            write!(f, "{}, which has", Phase(first))?;
        } else {
            write!(f, "phases {first} to {last}, which have")?;
        }
        f.write_str(" ended: if it should, wait for each phase in turn, with alternating parity")
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { expected, arrived, by } = self;
        let missing = expected.abs_diff(*arrived);
        let more = if arrived < expected { "expects" } else { "has received" };
        write!(f, ", and {more} {missing} bytes more")?;
        f.write_str(if arrived < expected { ": " } else { " than it expects: " })?;
        match by {
            Some((thread, location)) => write!(f, "{expected} expected, last by thread {thread} at {location}")?,
            None => f.write_str("none expected")?,
        }
        write!(f, ", {arrived} arrived")
    }
}

/// Displays a phase and its parity.
pub(crate) struct Phase(pub(crate) u64);

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "phase {} (parity {})", self.0, self.0 % 2 == 1)
    }
}

/// Displays the barrier in the array element, or at the address in shared memory if the array has no name.
pub(crate) struct Barrier(pub(crate) Option<(&'static str, usize)>, pub(crate) usize);

impl fmt::Display for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some((array, index)) if is_of_source(array) => write!(f, "the barrier `{array}[{index}]`"),
            Some((array, index)) => write!(f, "the barrier in element {index} of {array}"),
            None => write!(f, "the barrier at byte {} of shared memory", self.1),
        }
    }
}
