//! Faults of clusters: wrong uses of a cluster's barrier, and accesses to the shared memory of a block that is not
//! there.

use std::fmt;

use crate::faults::race::{Element, RaceAccess};
use crate::faults::whereabouts::Whereabouts;
use crate::geometry::Dim3;
use crate::region::{Space, fmt_element};
use crate::source::SourceLocation;

/// A wrong use of a cluster's barrier or of its shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ClusterMisuse {
    /// A thread arrives twice without a wait. The source line is that of the first arrival.
    ArrivedTwice(Box<SourceLocation>),
    /// A thread waits without having arrived.
    WaitWithoutArrival,
    /// A rank that is not below the number of blocks per cluster.
    Rank {
        /// The rank that the thread has passed.
        rank: u32,
        /// The number of blocks per cluster.
        blocks: u32,
    },
}

impl fmt::Display for ClusterMisuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ArrivedTwice(first) => write!(
                f,
                "the thread arrives at the cluster's barrier a second time without having waited since its arrival at \
                 {first}: call `cluster::wait` between the two"
            ),
            Self::WaitWithoutArrival => {
                f.write_str("the thread waits at the cluster's barrier without having arrived: arrive first")
            }
            Self::Rank { rank, blocks } => {
                write!(f, "the cluster has no block of rank {rank}: ")?;
                match blocks {
                    1 => f.write_str("the launch has no clusters, add `.cluster(…)` to its `LaunchConfig`"),
                    _ => write!(f, "it has {blocks} blocks, whose ranks are 0 to {}", blocks - 1),
                }
            }
        }
    }
}

/// An access to another block's shared memory before that block has begun or after it has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RemoteAccess {
    /// The index of the block that owns the memory.
    pub owner: Dim3,
    /// The accessed array element.
    pub element: Element,
    /// The kind of access.
    pub access: RaceAccess,
    /// The reason why the memory need not exist.
    pub problem: Lifetime,
    /// The last thread of the owner to exit, if the owner has ended.
    pub last: Option<Whereabouts>,
}

/// The reason why the shared memory of another block need not exist at an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum Lifetime {
    /// Nothing orders the access after the beginning of the block.
    MayNotHaveBegun,
    /// The block had ended before the access in this run.
    HasEnded,
    /// Nothing orders the access before the end of the block. In another run the block may end before the access.
    MayHaveEnded,
}

impl fmt::Display for RemoteAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { owner, element: Element { array, element_type, index, .. }, access, .. } = self;
        let kind = match access {
            RaceAccess::AtomicLoad | RaceAccess::AtomicStore | RaceAccess::AtomicUpdate => "an",
            _ => "a",
        };
        write!(f, "{kind} {access} of ")?;
        fmt_element(f, Space::Shared, (*array, *element_type), *index)?;
        write!(f, " of block {owner}, which ")?;
        f.write_str(match self.problem {
            Lifetime::MayNotHaveBegun => "may not have begun: nothing orders this access after the block's beginning",
            Lifetime::HasEnded => "has ended",
            Lifetime::MayHaveEnded => "may have ended: nothing orders this access before the block's end",
        })?;
        match &self.last {
            Some(last) => write!(f, " ({last})"),
            None => Ok(()),
        }
    }
}
