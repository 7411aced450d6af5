//! Places in a kernel's source.

use std::fmt;
use std::panic::Location;

/// A line of a kernel's source, as `#[track_caller]` gives it.
pub(crate) type Line = &'static Location<'static>;

/// Whether two operations stand at the same place of the source. One place may have several `Location`s, as every
/// instance of a generic function has its own.
#[inline]
pub(crate) fn is_same_line(a: Line, b: Line) -> bool {
    std::ptr::eq(a, b) || Location::eq(a, b)
}

/// A place in a kernel's source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SourceLocation {
    /// The file, as the compiler was given it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl From<&Location<'_>> for SourceLocation {
    fn from(at: &Location<'_>) -> Self {
        Self { file: at.file().to_owned(), line: at.line(), column: at.column() }
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}
