//! The state of a thread that waits or has exited.

use std::fmt;

use crate::geometry::Dim3;
use crate::source::SourceLocation;

/// A thread that a fault names besides the faulting thread, and the state of this thread.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Whereabouts {
    /// The thread's index in its block.
    pub thread: Dim3,
    /// The state of the thread: exited, waiting or polling.
    pub activity: Activity,
    /// The source line at which the thread waits, if known. For a thread that has exited, this is the line of its last
    /// memory access or wait, which only checked launches record.
    pub location: Option<SourceLocation>,
}

/// The activity of a thread that does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Activity {
    /// The thread has returned from the kernel.
    Exited,
    /// The thread waits at a block barrier.
    AtBarrier,
    /// The thread waits at a warp operation.
    AtWarpOperation {
        /// The mask of lanes that the thread has passed to the operation.
        mask: u32,
    },
    /// The thread waits at a barrier of its cluster.
    AtClusterBarrier,
    /// The thread waits for products of its warpgroup.
    AtProducts,
    /// The thread waits for registers.
    AtRegisters,
    /// The thread polls for another thread's write.
    Polling,
}

/// The reason why a lane takes no part in a shuffle.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Absence {
    /// The lane is not in the mask of the shuffle.
    NotInMask,
    /// The lane is in the mask, but the block has no such thread.
    NotInBlock,
    /// The lane has skipped the shuffle, and has returned from the kernel later. Its last memory access or wait, which
    /// is at this location, is also the last one of the calling lane before the shuffle, or it is below the shuffle.
    Skipped(SourceLocation),
    /// The lane has returned from the kernel before the shuffle. Its last memory access or wait is at this location, if
    /// it has made any.
    Exited(Option<SourceLocation>),
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInMask => f.write_str("is not in the mask"),
            Self::NotInBlock => f.write_str("the block does not have"),
            Self::Skipped(at) => write!(f, "has skipped the shuffle and was last seen at {at}"),
            Self::Exited(Some(at)) => write!(f, "has exited before the shuffle and was last seen at {at}"),
            Self::Exited(None) => f.write_str("has exited before the shuffle"),
        }
    }
}

impl fmt::Display for Whereabouts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread {} ", self.thread)?;
        match self.activity {
            Activity::Exited => f.write_str("has exited")?,
            Activity::AtBarrier => f.write_str("waits at a block barrier")?,
            Activity::AtWarpOperation { mask } => write!(f, "waits at a warp operation with mask {mask:#010x}")?,
            Activity::AtClusterBarrier => f.write_str("waits at a barrier of the cluster")?,
            Activity::AtProducts => f.write_str("waits for products of its warpgroup")?,
            Activity::AtRegisters => f.write_str("waits for registers")?,
            Activity::Polling => f.write_str("polls for another thread's write")?,
        }
        match (&self.location, self.activity) {
            (Some(location), Activity::Exited) => write!(f, ", last seen at {location}"),
            (Some(location), _) => write!(f, " at {location}"),
            (None, _) => Ok(()),
        }
    }
}
