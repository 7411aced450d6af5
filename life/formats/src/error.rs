//! Why a file is not read or written.

use std::path::PathBuf;

use life::pattern::ParseError;
use thiserror::Error;
use units::Bytes;

/// Why a file is not read or written.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The path's extension is none of those known.
    #[error(
        "{}: the extension says the format, and must be .rle, .cells, .lif, .life or .mc, each also with .gz behind it, \
         or .png or .gif",
        path.display()
    )]
    Unknown {
        /// The path as given.
        path: PathBuf,
    },
    /// The file is not supported. The text says what it is.
    #[error("{0}")]
    Refused(String),
    /// The text is malformed.
    #[error(transparent)]
    Malformed(#[from] ParseError),
    /// A picture or a compressed file is broken.
    #[error("the file is broken: {0}")]
    Picture(String),
    /// The pattern takes more memory than there is.
    #[error("it needs {} of memory, and {} are free", Bytes(*needed), Bytes(*free))]
    TooLarge {
        /// Bytes that it needs.
        needed: u64,
        /// Bytes that there are.
        free: u64,
    },
}
