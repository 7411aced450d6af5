//! Where a waiting thread stands.

use std::fmt;

use crate::geometry::Dim3;
use crate::source::SourceLocation;

/// What a thread other than the faulting one is at.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Whereabouts {
    /// The thread's index in its block.
    pub thread: Dim3,
    /// What it does.
    pub activity: Activity,
    /// The source line that it waits at, where known. Of a thread that has exited: where it last accessed memory or
    /// waited, which is known in launches that are checked.
    pub location: Option<SourceLocation>,
}

/// What a thread that does not run is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Activity {
    /// It has returned from the kernel.
    Exited,
    /// It waits at a block barrier.
    AtBarrier,
    /// It waits at a warp operation.
    AtWarpOperation {
        /// The mask that it gave.
        mask: u32,
    },
    /// It polls for another thread's write.
    Polling,
}

impl fmt::Display for Whereabouts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread {} ", self.thread)?;
        match self.activity {
            Activity::Exited => f.write_str("has exited")?,
            Activity::AtBarrier => f.write_str("waits at a block barrier")?,
            Activity::AtWarpOperation { mask } => write!(f, "waits at a warp operation with mask {mask:#010x}")?,
            Activity::Polling => f.write_str("polls for another thread's write")?,
        }
        match (&self.location, self.activity) {
            (Some(location), Activity::Exited) => write!(f, ", last seen at {location}"),
            (Some(location), _) => write!(f, " at {location}"),
            (None, _) => Ok(()),
        }
    }
}
