//! The error type of readers and writers.

use std::path::PathBuf;

use life::pattern::ParseError;
use thiserror::Error;
use units::Bytes;

/// An error of a reader or writer.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The extension of the path is unknown.
    #[error(
        "{}: unknown extension: it chooses the format and must be .rle, .cells, .lif, .life or .mc, each also \
         followed by .gz, or .png or .gif",
        path.display()
    )]
    Unknown {
        /// The path.
        path: PathBuf,
    },
    /// The file is not supported, or contains no pattern. The text names what it is.
    #[error("{0}")]
    Refused(String),
    /// The text is malformed.
    #[error(transparent)]
    Malformed(#[from] ParseError),
    /// A picture or a compressed file is damaged.
    #[error("the file is damaged: {0}")]
    Picture(String),
    /// The pattern needs more memory than is free.
    #[error("it needs {} of memory, and {} are free", Bytes(*needed), Bytes(*free))]
    TooLarge {
        /// The bytes that the pattern needs.
        needed: u64,
        /// The free bytes.
        free: u64,
    },
}

/// Returns [`FormatError::TooLarge`] if `needed` bytes are more than `free`.
pub(crate) fn check_memory(needed: u64, free: u64) -> Result<(), FormatError> {
    if needed > free { Err(FormatError::TooLarge { needed, free }) } else { Ok(()) }
}
