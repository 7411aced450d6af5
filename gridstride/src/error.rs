//! Why an algorithm did not run.

use cuda_std::UnknownRung;
use thiserror::Error;

use crate::histogram::BinsError;

/// Why an algorithm did not run. `Debug` is the same text, since `main` and `unwrap` show that one.
#[derive(Error)]
#[non_exhaustive]
pub enum AlgorithmError {
    /// The device has failed, has too little memory, or was given buffers that do not fit.
    #[error(transparent)]
    Launch(#[from] launch::Error),
    /// The rung is not built for what was asked.
    #[error("{algorithm}'s rung {kernel} does not offer {asked}: it offers {offered}")]
    NotBuilt {
        /// The algorithm.
        algorithm: &'static str,
        /// The rung's name.
        kernel: &'static str,
        /// What was asked, such as "min of f64".
        asked: String,
        /// What it offers, such as "sum of f32 and i32".
        offered: String,
    },
    /// A histogram cannot have these bins, or so many keys.
    #[error(transparent)]
    Bins(#[from] BinsError),
    /// A text names no rung.
    #[error(transparent)]
    UnknownRung(#[from] UnknownRung),
    /// A buffer does not hold a matrix of the size given.
    #[error("a matrix of {width} x {height} has {} elements, and {what} has {len}", width.saturating_mul(*height))]
    SizeMismatch {
        /// Columns.
        width: usize,
        /// Rows.
        height: usize,
        /// Which buffer.
        what: &'static str,
        /// Its elements.
        len: usize,
    },
}

crate::debug_as_displayed!(AlgorithmError);
