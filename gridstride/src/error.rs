//! The error type of the crate `gridstride`.

use cuda_std::UnknownRung;
use thiserror::Error;

use crate::histogram::bins_error::BinsError;
use crate::matmul::MatrixError;

/// The error that an algorithm returns. `Debug` prints the same text as `Display`, because `main` and `unwrap` use
/// `Debug`.
#[derive(Error)]
#[non_exhaustive]
pub enum AlgorithmError {
    /// The device failed, has too little memory, or received buffers of the wrong length.
    #[error(transparent)]
    Launch(#[from] launch::Error),
    /// The rung (the chosen kernel) is not built for the requested type, operator or number of elements.
    #[error("{algorithm}'s rung {rung} does not offer {requested}: it offers {offered}")]
    NotBuilt {
        /// The name of the algorithm.
        algorithm: &'static str,
        /// The name of the rung.
        rung: &'static str,
        /// The type, operator or size that was requested, such as "min of f64".
        requested: String,
        /// The types, operators and sizes for which the rung is built, such as "sum of f32 and i32".
        offered: String,
    },
    /// A histogram does not support the requested bins or number of keys.
    #[error(transparent)]
    Bins(#[from] BinsError),
    /// A matrix does not fit its memory, or matrices cannot be multiplied.
    #[error(transparent)]
    Matrix(#[from] MatrixError),
    /// No rung has the given name.
    #[error(transparent)]
    UnknownRung(#[from] UnknownRung),
    /// A buffer's length is not the width times the height of the matrix.
    #[error("a matrix of {width} x {height} has {} elements, but {what} has {len}", width.saturating_mul(*height))]
    SizeMismatch {
        /// The number of columns of the matrix.
        width: usize,
        /// The number of rows of the matrix.
        height: usize,
        /// The name of the buffer, such as "x".
        what: &'static str,
        /// The number of elements of the buffer.
        len: usize,
    },
}

crate::debug_as_displayed!(AlgorithmError);
