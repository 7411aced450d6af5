//! The error type of the library.

use cuda_std::UnknownRung;
use thiserror::Error;

use crate::histogram::BinsError;

/// The error of an algorithm that did not run. `Debug` prints the same text as `Display`, because `main` and `unwrap`
/// print `Debug`.
#[derive(Error)]
#[non_exhaustive]
pub enum AlgorithmError {
    /// The device has failed, has too little memory, or was given buffers that do not fit.
    #[error(transparent)]
    Launch(#[from] launch::Error),
    /// The rung is not built for the request.
    #[error("{algorithm}'s rung {rung} does not offer {requested}: it offers {offered}")]
    NotBuilt {
        /// The algorithm.
        algorithm: &'static str,
        /// The rung's name.
        rung: &'static str,
        /// The request, such as "min of f64".
        requested: String,
        /// The types, operators and sizes that the rung offers, such as "sum of f32 and i32".
        offered: String,
    },
    /// A histogram does not support the bins or the number of keys.
    #[error(transparent)]
    Bins(#[from] BinsError),
    /// No rung has the given name.
    #[error(transparent)]
    UnknownRung(#[from] UnknownRung),
    /// A buffer does not have the size of the matrix.
    #[error("a matrix of {width} x {height} has {} elements, but {what} has {len}", width.saturating_mul(*height))]
    SizeMismatch {
        /// Columns.
        width: usize,
        /// Rows.
        height: usize,
        /// The buffer, such as "x".
        what: &'static str,
        /// The number of its elements.
        len: usize,
    },
}

crate::debug_as_displayed!(AlgorithmError);
