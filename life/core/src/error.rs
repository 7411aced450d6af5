//! Why a board of Life was not made or advanced.

use std::ops::Range;

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
    /// The board does not have these rows.
    #[error("rows {rows:?} of a board that is {height} high")]
    NoSuchRows {
        /// The rows that were named.
        rows: Range<usize>,
        /// Rows of the board.
        height: usize,
    },
    /// Rows are put on a board of another width.
    #[error("rows of {given} cells on a board that is {width} wide")]
    OtherWidth {
        /// Columns of the rows.
        given: usize,
        /// Columns of the board.
        width: usize,
    },
    /// A board is put in place of one of another height.
    #[error("a board {given} high in place of one of {height}")]
    OtherHeight {
        /// Rows of the new board.
        given: usize,
        /// Rows of the board that it replaces.
        height: usize,
    },
    /// A board is put in place of rows of another size.
    #[error("a board of {}x{} in place of {} rows of {} cells", given.0, given.1, size.1, size.0)]
    OtherSize {
        /// Columns and rows of the board.
        given: (usize, usize),
        /// Columns and number of the rows that it replaces.
        size: (usize, usize),
    },
    /// Some ranks advance a board by devices, and others by their processor's cores.
    #[error("some ranks have devices and others none: give all of them the same --device")]
    MixedRanks,
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
