//! Positions in the source of kernels.

use std::fmt;
use std::panic::Location;

/// A position in a kernel's source, in the form in which `#[track_caller]` passes it.
pub(crate) type Line = &'static Location<'static>;

/// Returns true if `a` and `b` are the same source position. A position may have several `Location`s, one per instance
/// of a generic function.
#[inline]
pub(crate) fn is_same_line(a: Line, b: Line) -> bool {
    std::ptr::eq(a, b) || Location::eq(a, b)
}

/// A position in a kernel's source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SourceLocation {
    /// The path of the file, as it was passed to the compiler.
    pub file: String,
    /// The line number, counted from 1.
    pub line: u32,
    /// The column, counted from 1.
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
