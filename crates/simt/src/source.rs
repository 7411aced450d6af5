//! Source sites of kernels.

use std::fmt;
use std::panic::Location;

/// A line of a kernel's source, from `#[track_caller]`.
pub(crate) type Line = &'static Location<'static>;

/// Returns true if two operations have the same source position. It may have several `Location`s, one per instance of a
/// generic function.
#[inline]
pub(crate) fn is_same_line(a: Line, b: Line) -> bool {
    std::ptr::eq(a, b) || Location::eq(a, b)
}

/// A position in a kernel's source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SourceLocation {
    /// The file, as it was passed to the compiler.
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
