//! The error type of several devices.

use gridstride::error::AlgorithmError;
use gridstride::host::HostMemoryError;
use thiserror::Error;

use crate::ranks::RanksError;

/// The error of several devices. `Debug` prints the same text as `Display`, since `main` and `unwrap` print `Debug`.
#[derive(Error)]
#[non_exhaustive]
pub enum MultiError {
    /// A member's algorithm cannot run, or its device failed.
    #[error(transparent)]
    Algorithm(#[from] AlgorithmError),
    /// The host has too little memory for a part.
    #[error(transparent)]
    HostMemory(#[from] HostMemoryError),
    /// Ranks could not work together.
    #[error(transparent)]
    Ranks(#[from] RanksError),
}

impl From<launch::Error> for MultiError {
    fn from(error: launch::Error) -> Self {
        Self::Algorithm(error.into())
    }
}

gridstride::debug_as_displayed!(MultiError);
