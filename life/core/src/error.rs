//! The error of boards and simulations.

use std::ops::Range;

use gridstride::error::AlgorithmError;
use multi::ranks::RanksError;
use thiserror::Error;

use crate::board::{SizeError, WordsError};
use crate::soup::SoupError;

/// Why a board of Life was not made or advanced. `Debug` prints the same text as `Display`, because `main` and `unwrap`
/// print `Debug`.
#[derive(Error)]
#[non_exhaustive]
pub enum LifeError {
    /// The rung does not support the board, or the device failed.
    #[error(transparent)]
    Algorithm(#[from] AlgorithmError),
    /// The board lacks one of these rows.
    #[error("rows {rows:?} were given, but the board has the rows 0..{height}")]
    NoSuchRows {
        /// The rows.
        rows: Range<usize>,
        /// Rows of the board.
        height: usize,
    },
    /// The new rows have another width than the board.
    #[error("rows of {given} cells were given, but the board is {width} wide: give rows of that width")]
    OtherWidth {
        /// Columns of the new rows.
        given: usize,
        /// Columns of the board.
        width: usize,
    },
    /// The new board has another height than the board that it replaces.
    #[error("a board of {given} rows was given, but the present one has {height}: give a board of that height")]
    OtherHeight {
        /// Rows of the new board.
        given: usize,
        /// Rows of the board that it replaces.
        height: usize,
    },
    /// The new board has another size than the rows that it replaces.
    #[error("a board of {}x{} was given, but it replaces {}x{} cells: give that size", given.0, given.1, size.0, size.1)]
    OtherSize {
        /// Columns and rows of the new board.
        given: (usize, usize),
        /// Columns and number of the rows that it replaces.
        size: (usize, usize),
    },
    /// Some ranks advance their bands on devices, others on the host's cores.
    #[error("some ranks have devices and others none: give all of them the same --device")]
    MixedRanks,
    /// No board of this size can be made.
    #[error(transparent)]
    Board(#[from] SizeError),
    /// No random board of this size or density can be made.
    #[error(transparent)]
    Soup(#[from] SoupError),
    /// The words that were read from the device are not a board.
    #[error(transparent)]
    Words(#[from] WordsError),
    /// The host has too little memory for a simulation on its cores.
    #[error(transparent)]
    CpuMemory(#[from] life_cpu::OutOfMemory),
    /// The ranks failed to exchange data.
    #[error(transparent)]
    Ranks(#[from] RanksError),
    /// A band of the board could not be made.
    #[error("band {band} of {bands}, on {place}: {source}")]
    Band {
        /// The number of the band, from 1.
        band: usize,
        /// The number of bands.
        bands: usize,
        /// The device or the cores that it was made on.
        place: String,
        /// The reason.
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
