//! The error type of the crate `multi`.

use gridstride::error::AlgorithmError;
use gridstride::host::HostMemoryError;
use thiserror::Error;

use crate::ranks::RanksError;

/// The error of an algorithm on several devices. `Debug` prints the same text as `Display`, because `main` and `unwrap`
/// use `Debug`.
#[derive(Error)]
#[non_exhaustive]
pub enum MultiError {
    /// The algorithm cannot run on a member, or the member's device failed.
    #[error(transparent)]
    Algorithm(#[from] AlgorithmError),
    /// The host has too little memory for a segment.
    #[error(transparent)]
    HostMemory(#[from] HostMemoryError),
    /// The parts of matrices are not those of the product. The text says what was given and what is allowed.
    #[error("{0}")]
    Matrices(String),
    /// A communication between ranks failed.
    #[error(transparent)]
    Ranks(#[from] RanksError),
}

impl From<launch::Error> for MultiError {
    fn from(error: launch::Error) -> Self {
        Self::Algorithm(error.into())
    }
}

gridstride::debug_as_displayed!(MultiError);
