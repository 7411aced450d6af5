//! The error type of the workbench.

use cuda_std::UnknownRung;
use gridstride::error::AlgorithmError;
use gridstride::host::HostMemoryError;
use life::LifeError;
use life::board::{SizeError, WordsError};
use life::cpu::OutOfMemory;
use life::soup::SoupError;
use multi::MultiError;
use multi::ranks::RanksError;
use thiserror::Error;

/// `invalid!("…")` evaluates to `Err` with [`WorkbenchError::Options`] and a formatted text.
macro_rules! invalid {
    ($($text:tt)*) => {
        Err($crate::error::WorkbenchError::Options(format!($($text)*)))
    };
}

pub(crate) use invalid;

/// The error of a problem that could not be created, run or compared. `Debug` prints the same text as `Display`,
/// because `main` and `unwrap` use `Debug`.
#[derive(Error)]
#[non_exhaustive]
pub enum WorkbenchError {
    /// The algorithm cannot run on the device, or the device failed.
    #[error(transparent)]
    Algorithm(#[from] AlgorithmError),
    /// The options are invalid. The text says which options are valid.
    #[error("{0}")]
    Options(String),
    /// The host has too little memory for the inputs.
    #[error(transparent)]
    HostMemory(#[from] HostMemoryError),
    /// Life could not create or advance a board.
    #[error(transparent)]
    Life(LifeError),
    /// A computation on several devices failed.
    #[error(transparent)]
    Multi(MultiError),
}

impl From<LifeError> for WorkbenchError {
    fn from(error: LifeError) -> Self {
        match error {
            LifeError::Algorithm(error) => Self::Algorithm(error),
            error => Self::Life(error),
        }
    }
}

impl From<MultiError> for WorkbenchError {
    fn from(error: MultiError) -> Self {
        match error {
            MultiError::Algorithm(error) => Self::Algorithm(error),
            error => Self::Multi(error),
        }
    }
}

/// Implements `From` for each error, which is first converted to the error type that is named after `as`.
macro_rules! from {
    ($($error:ty as $layer:ty),* $(,)?) => {$(
        impl From<$error> for WorkbenchError {
            fn from(error: $error) -> Self {
                <$layer>::from(error).into()
            }
        }
    )*};
}

from! {
    launch::Error as AlgorithmError,
    UnknownRung as AlgorithmError,
    SizeError as LifeError,
    SoupError as LifeError,
    WordsError as LifeError,
    OutOfMemory as LifeError,
    RanksError as MultiError,
}

gridstride::debug_as_displayed!(WorkbenchError);
