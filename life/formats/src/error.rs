//! The error type of readers and writers.

use std::path::PathBuf;

use life::pattern::ParseError;
use thiserror::Error;
use units::Bytes;

/// An error that occurs while a file is read or written.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The extension of the path belongs to no supported format.
    #[error(
        "{}: unknown extension: it chooses the format and must be .rle, .cells, .lif, .life or .mc, each also \
         followed by .gz, or .png or .gif",
        path.display()
    )]
    Unknown {
        /// The path of the file.
        path: PathBuf,
    },
    /// The file is not supported, or it contains no pattern. The text describes the file and says what to do instead.
    #[error("{0}")]
    Refused(String),
    /// The text is malformed.
    #[error(transparent)]
    Malformed(#[from] ParseError),
    /// A picture or a compressed file is damaged.
    #[error("the file is damaged: {0}")]
    Picture(String),
    /// The pattern needs more memory than is free.
    #[error("it needs {} of memory, but only {} are free: use a smaller pattern", Bytes(*needed), Bytes(*free))]
    TooLarge {
        /// The number of bytes that the pattern needs.
        needed: u64,
        /// The number of free bytes.
        free: u64,
    },
}

/// Checks that `needed` bytes are not more than `free`. Returns [`FormatError::TooLarge`] if they are.
pub(crate) fn check_memory(needed: u64, free: u64) -> Result<(), FormatError> {
    if needed > free { Err(FormatError::TooLarge { needed, free }) } else { Ok(()) }
}
