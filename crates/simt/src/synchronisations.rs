//! Records the barriers, fences and other synchronisations that launches reach, and selects one that launches leave
//! out. A test leaves out a synchronisation to check that the omission causes a fault.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use crate::source::{Line, SourceLocation};

/// The kinds of synchronisation that a kernel can execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SyncKind {
    /// A block barrier.
    Barrier,
    /// A block barrier that returns the number of threads whose predicate is true.
    CountingBarrier,
    /// A synchronisation of lanes of a warp.
    Warp,
    /// A warp shuffle, by which lanes exchange values.
    Shuffle,
    /// A warp vote, which returns the mask of lanes whose predicate is true.
    Vote,
    /// A warp match, which compares the values of lanes.
    Match,
    /// A warp reduction of the lanes' values.
    Reduction,
    /// An instruction that a whole warp executes on the registers of its lanes. It orders no accesses.
    Collective,
    /// A memory fence.
    Fence,
    /// A barrier of all blocks of the grid.
    Grid,
    /// A barrier of all blocks of a cluster.
    Cluster,
    /// A fence between the generic proxy and the asynchronous one, or of the initialisation of barriers.
    ProxyFence,
    /// A wait for groups of bulk copies.
    BulkWait,
    /// A fence between the registers of a thread and the products of its warpgroup.
    ProductFence,
    /// The end of a group of products of a warpgroup.
    ProductCommit,
    /// A wait for groups of products of a warpgroup.
    ProductWait,
}

impl SyncKind {
    /// Returns true if synchronisations of this kind mainly order accesses, and false if lanes exchange values by them.
    pub fn is_for_order(self) -> bool {
        !matches!(self, Self::Shuffle | Self::Vote | Self::Match | Self::Reduction | Self::Collective)
    }

    /// Returns the name of the kind in messages, such as "barrier".
    pub fn name(self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::CountingBarrier => "counting barrier",
            Self::Warp => "warp synchronisation",
            Self::Shuffle => "shuffle",
            Self::Vote => "vote",
            Self::Match => "match",
            Self::Reduction => "reduction",
            Self::Collective => "collective instruction",
            Self::Fence => "fence",
            Self::Grid => "grid barrier",
            Self::Cluster => "cluster barrier",
            Self::ProxyFence => "proxy fence",
            Self::BulkWait => "wait for bulk copies",
            Self::ProductFence => "fence of registers",
            Self::ProductCommit => "end of a group of products",
            Self::ProductWait => "wait for products",
        }
    }
}

/// The synchronisations that a simulator's launches have reached, and the synchronisation that launches leave out, if
/// any.
///
/// A barrier, warp synchronisation or fence that is left out has no effect. Some synchronisations return a value:
/// counting barriers, shuffles, votes, matches and reductions. If one of these is left out, it still returns the value,
/// but orders nothing.
#[derive(Clone, Debug, Default)]
pub struct Synchronisations(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    left_out: Option<SourceLocation>,
    /// The file, line, column and kind of each synchronisation that a launch has reached.
    reached: Mutex<BTreeSet<(String, u32, u32, SyncKind)>>,
}

impl Synchronisations {
    /// Makes an empty record for launches that leave no synchronisation out.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes an empty record for launches that leave out the synchronisation at `location`.
    pub fn without(location: SourceLocation) -> Self {
        Self(Arc::new(Inner { left_out: Some(location), reached: Mutex::default() }))
    }

    /// Returns the synchronisations that launches have reached, in source order, including the synchronisation that
    /// launches leave out. Synchronisations of several kinds at one source position are left out together.
    pub fn reached(&self) -> Vec<(SourceLocation, SyncKind)> {
        let reached = self.0.reached.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = |(file, line, column, kind): &(String, u32, u32, SyncKind)| {
            (SourceLocation { file: file.clone(), line: *line, column: *column }, *kind)
        };
        reached.iter().map(entry).collect()
    }

    /// Records that a launch has reached the synchronisation at `at`. Returns true if the launch must skip it.
    pub(crate) fn note(&self, kind: SyncKind, at: Line) -> bool {
        let mut reached = self.0.reached.lock().unwrap_or_else(PoisonError::into_inner);
        reached.insert((at.file().to_owned(), at.line(), at.column(), kind));
        self.0.left_out.as_ref().is_some_and(|left_out| *left_out == SourceLocation::from(at))
    }
}
