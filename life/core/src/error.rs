//! Why a board of Life was not made or advanced.

use gridstride::error::AlgorithmError;
use multi::ranks::RanksError;
use thiserror::Error;

use crate::board::{SizeError, WordsError};
use crate::soup::SoupError;

/// Why a board of Life was not made or advanced. `Debug` is the same text, since `main` and `unwrap` show that one.
#[derive(Error)]
#[non_exhaustive]
pub enum LifeError {
    /// The rung cannot run, or the device failed.
    #[error(transparent)]
    Algorithm(#[from] AlgorithmError),
    /// What was asked for is impossible; the text says what is possible.
    #[error("{0}")]
    Asked(String),
    /// A board cannot be.
    #[error(transparent)]
    Board(#[from] SizeError),
    /// A random board cannot be.
    #[error(transparent)]
    Soup(#[from] SoupError),
    /// What came back from the device is no board.
    #[error(transparent)]
    Words(#[from] WordsError),
    /// The host has too little memory to advance a board on its own cores.
    #[error(transparent)]
    CpuMemory(#[from] life_cpu::OutOfMemory),
    /// Ranks could not work together.
    #[error(transparent)]
    Ranks(#[from] RanksError),
    /// A band of a board cannot be where it was to be.
    #[error("band {band} of {bands}, on {place}: {source}")]
    Band {
        /// Which one, from 1.
        band: usize,
        /// All of them.
        bands: usize,
        /// Where it was to be.
        place: String,
        /// Why not.
        source: Box<LifeError>,
    },
}

impl From<launch::Error> for LifeError {
    fn from(error: launch::Error) -> Self {
        Self::Algorithm(error.into())
    }
}

impl From<cuda_std::UnknownRung> for LifeError {
    fn from(error: cuda_std::UnknownRung) -> Self {
        Self::Algorithm(error.into())
    }
}

gridstride::debug_as_displayed!(LifeError);
