//! A thread that waits for a write that never comes, and the last write to the memory that it reads.

use std::collections::BTreeSet;
use std::fmt;

use crate::faults::display::counted;
use crate::faults::whereabouts::Whereabouts;
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
        write!(f, "Block {block}, thread {thread} waits at {location}")?;
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
            write!(f, ", and {bytes}")?;
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

/// Writes the rest of a sentence about the phase.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { expected, arrived, .. } = self;
        let missing = expected.abs_diff(*arrived);
        if arrived < expected {
            write!(f, "expects {missing} bytes more than have arrived")
        } else {
            write!(f, "has received {missing} bytes more than it expects")
        }
    }
}

/// The maximum number of waiting threads that a report lists.
const MAX_LISTED: usize = 3;

/// Displays a launch that makes no progress: the cause, as far as the waits show it, and then the waiting threads.
pub(super) struct NoProgress<'a> {
    pub(super) polling: u32,
    pub(super) waiting: u32,
    pub(super) held_up: Option<&'a Whereabouts>,
    pub(super) waits: &'a [Wait],
}

impl NoProgress<'_> {
    fn fmt_cause(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phases = || self.waits.iter().filter_map(|wait| Some((wait.element, wait.phase.as_deref()?)));
        let of_bytes = phases().find_map(|(element, phase)| Some((element, phase, phase.bytes.as_ref()?)));
        if let Some((element, PhaseWait { number, address, .. }, bytes)) = of_bytes {
            let barrier = Barrier(element, *address);
            write!(f, "{} of {barrier} never ends, because it {bytes}. ", Phase(*number))?;
            match &bytes.by {
                Some((thread, location)) => {
                    write!(f, "Thread {thread} was the last to expect bytes, at {location}: ")?;
                    write!(f, "{} are expected and {} have arrived. ", bytes.expected, bytes.arrived)?;
                }
                None => write!(f, "No thread has expected bytes, and {} have arrived. ", bytes.arrived)?,
            }
            return f.write_str("Expect exactly the bytes of the copies that arrive in the phase");
        }
        let barriers: BTreeSet<usize> = phases().map(|(_, phase)| phase.address).collect();
        let is_first = |(_, phase): (_, &PhaseWait)| (phase.number, phase.arrived, phase.last) == (0, 0, None);
        if barriers.len() > 1 && phases().count() == self.waits.len() && phases().all(is_first) {
            return f.write_str(
                "every unfinished thread waits for the first phase of a barrier, and no thread has arrived there. In a \
                 pipeline, all stages are free at the beginning: let the loading thread begin with parity true, for \
                 which the wait returns at once",
            );
        }
        f.write_str("every unfinished thread waits for a write that never comes")
    }
}

impl fmt::Display for NoProgress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { polling, waiting, held_up, waits } = self;
        f.write_str("no progress: ")?;
        self.fmt_cause(f)?;
        write!(f, ". In this block, {} and ", counted((*polling).into(), "polls", "poll"))?;
        write!(f, "{} at a barrier or a warp operation", counted((*waiting).into(), "waits", "wait"))?;
        if let Some(held_up) = held_up {
            write!(f, "; {held_up}")?;
        }
        waits.iter().take(MAX_LISTED).try_for_each(|wait| write!(f, ". {wait}"))?;
        match waits.len().saturating_sub(MAX_LISTED) {
            0 => Ok(()),
            more => write!(f, ". Not listed: {more} more"),
        }
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
