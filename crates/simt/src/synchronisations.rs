//! Which synchronisations launches come to, and which of them they leave out.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use crate::source::{Line, SourceLocation};

/// What a synchronisation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SyncKind {
    /// A block barrier.
    Barrier,
    /// A block barrier that counts.
    CountingBarrier,
    /// A warp synchronisation.
    Warp,
    /// A shuffle.
    Shuffle,
    /// A vote.
    Vote,
    /// A comparison of the lanes' values.
    Match,
    /// A reduction of the lanes' values.
    Reduction,
    /// A fence.
    Fence,
    /// A barrier of all blocks of the grid.
    Grid,
}

impl SyncKind {
    /// Whether it is there for the order alone, or mostly: not one whose lanes hand over values.
    pub fn is_for_order(self) -> bool {
        !matches!(self, Self::Shuffle | Self::Vote | Self::Match | Self::Reduction)
    }

    /// What it is called: "barrier".
    pub fn name(self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::CountingBarrier => "counting barrier",
            Self::Warp => "warp synchronisation",
            Self::Shuffle => "shuffle",
            Self::Vote => "vote",
            Self::Match => "match",
            Self::Reduction => "reduction",
            Self::Fence => "fence",
            Self::Grid => "grid barrier",
        }
    }
}

/// The synchronisations that a simulator's launches have come to, and the one that they leave out.
///
/// A barrier, warp synchronisation or fence that is left out is passed as if it were not in the source. One that gives
/// a value (a counting barrier, a shuffle, a vote, a match, a reduction) gives it, and orders nothing.
#[derive(Clone, Debug, Default)]
pub struct Synchronisations(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    left_out: Option<SourceLocation>,
    /// File, line, column and kind of each.
    met: Mutex<BTreeSet<(String, u32, u32, SyncKind)>>,
}

impl Synchronisations {
    /// Leaves none out.
    pub fn new() -> Self {
        Self::default()
    }

    /// Leaves out the one at `location`.
    pub fn without(location: SourceLocation) -> Self {
        Self(Arc::new(Inner { left_out: Some(location), met: Mutex::default() }))
    }

    /// Those that launches have come to, by their places, the one left out among them. Synchronisations of several
    /// kinds that stand at one place are left out together.
    pub fn met(&self) -> Vec<(SourceLocation, SyncKind)> {
        let met = self.0.met.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = |(file, line, column, kind): &(String, u32, u32, SyncKind)| {
            (SourceLocation { file: file.clone(), line: *line, column: *column }, *kind)
        };
        met.iter().map(entry).collect()
    }

    /// Notes that a launch has come to the one at `at`. Gives whether that is left out.
    pub(crate) fn note(&self, kind: SyncKind, at: Line) -> bool {
        let mut met = self.0.met.lock().unwrap_or_else(PoisonError::into_inner);
        met.insert((at.file().to_owned(), at.line(), at.column(), kind));
        self.0.left_out.as_ref().is_some_and(|left_out| *left_out == SourceLocation::from(at))
    }
}
