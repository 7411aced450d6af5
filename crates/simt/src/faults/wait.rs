//! A thread that waits for a write that never comes, and the last write to the memory that it reads.

use std::fmt;

use crate::geometry::Dim3;
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
        let Self { block, thread, location, element, changed } = self;
        write!(f, "block {block}, thread {thread} waits at {location}")?;
        let Some((array, index)) = element else { return Ok(()) };
        write!(f, " for `{array}[{index}]`, ")?;
        match changed {
            Some(changed) => {
                let Change { block, thread, location } = &**changed;
                write!(f, "last changed by block {block}, thread {thread} at {location}")
            }
            None => f.write_str("which no thread has changed by an atomic access"),
        }
    }
}
