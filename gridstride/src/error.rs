//! Why an algorithm did not run.

use cuda_std::UnknownRung;
use thiserror::Error;

use crate::inputs::HostMemoryError;
use crate::life::board::{SizeError, WordsError};
use crate::life::soup::SoupError;
use crate::ranks::RanksError;

/// Why an algorithm did not run. `Debug` is the same text, since `main` and `unwrap` show that one.
#[derive(Error)]
#[non_exhaustive]
pub enum AlgorithmError {
    /// The device has failed, has too little memory, or was given buffers that do not fit.
    #[error(transparent)]
    Launch(#[from] launch::Error),
    /// The rung is not built for what was asked.
    #[error("{algorithm}'s rung {kernel} does not offer {asked}: it offers {offered}")]
    NotOffered {
        /// The algorithm.
        algorithm: &'static str,
        /// The rung's name.
        kernel: &'static str,
        /// What was asked, such as "min of f64".
        asked: String,
        /// What it offers, such as "sum of f32 and i32".
        offered: String,
    },
    /// What was asked for is impossible; the text says what is possible.
    #[error("{0}")]
    Asked(String),
    /// A text names no rung.
    #[error(transparent)]
    UnknownRung(#[from] UnknownRung),
    /// The host has too little memory for the inputs.
    #[error(transparent)]
    HostMemory(#[from] HostMemoryError),
    /// A board of Life cannot be.
    #[error(transparent)]
    Board(#[from] SizeError),
    /// A random board of Life cannot be.
    #[error(transparent)]
    Soup(#[from] SoupError),
    /// What came back from the device is no board of Life.
    #[error(transparent)]
    Words(#[from] WordsError),
    /// The host has too little memory to advance a board of Life on its own cores.
    #[error(transparent)]
    CpuMemory(#[from] life_cpu::OutOfMemory),
    /// Ranks could not work together.
    #[error(transparent)]
    Ranks(#[from] RanksError),
    /// A band of a board of Life cannot be where it was to be.
    #[error("band {band} of {bands}, on {place}: {source}")]
    Band {
        /// Which one, from 1.
        band: usize,
        /// All of them.
        bands: usize,
        /// Where it was to be.
        place: String,
        /// Why not.
        source: Box<AlgorithmError>,
    },
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

debug_as_displayed!(AlgorithmError);
