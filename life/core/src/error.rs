//! The error type of boards and simulations.

use std::ops::Range;

use cuda_std::Ladder;
use gpu::life::LifeRung;
use gridstride::capabilities;
use gridstride::error::AlgorithmError;
use multi::ranks::RanksError;
use thiserror::Error;

use crate::board::{Board, SizeError, WordsError};
use crate::soup::SoupError;

/// The reason why a board of Life could not be made or advanced. `Debug` prints the same text as `Display`, because
/// `main` and `unwrap` print errors with `Debug`.
#[derive(Error)]
#[non_exhaustive]
pub enum LifeError {
    /// The rung does not support the board, or the device failed.
    #[error(transparent)]
    Algorithm(#[from] AlgorithmError),
    /// The caller requested a row that the board does not have.
    #[error("rows {rows:?} were given, but the board has the rows 0..{height}")]
    NoSuchRows {
        /// The requested rows.
        rows: Range<usize>,
        /// The number of rows of the board.
        height: usize,
    },
    /// The new board has another size than the cells that it should replace.
    #[error("a {}x{} board was given, but it replaces {}x{} cells: pass that size", given.0, given.1, size.0, size.1)]
    OtherSize {
        /// The columns and rows of the new cells.
        given: (usize, usize),
        /// The columns and rows of the cells that the new cells replace.
        size: (usize, usize),
    },
    /// Some ranks advance their bands on devices, and others on the host's cores.
    #[error("some ranks have devices and others none: give all of them the same --device")]
    MixedRanks,
    /// No board of this size can be made.
    #[error(transparent)]
    Board(#[from] SizeError),
    /// No random board of this size or density can be made.
    #[error(transparent)]
    Soup(#[from] SoupError),
    /// The words that were read from the device are not a valid board.
    #[error(transparent)]
    Words(#[from] WordsError),
    /// The host has too little memory for a simulation on its cores.
    #[error(transparent)]
    CpuMemory(#[from] life_cpu::OutOfMemory),
    /// The pattern reaches the limits of the plane, or the host has too little memory for it.
    #[error(transparent)]
    Plane(#[from] life_cpu::plane::PlaneError),
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
        /// The device or the cores that should have advanced the band.
        place: String,
        /// The reason why the band could not be made.
        source: Box<LifeError>,
    },
}

impl LifeError {
    /// Returns the error for a rung that does not support `asked`. `offered` says what the rung supports.
    pub(crate) fn refused(rung: LifeRung, asked: String, offered: &str) -> Self {
        capabilities::refused(rung.rung(), asked, offered.to_owned()).into()
    }

    /// Checks that `rows` is not empty and lies within a board of `height` rows.
    pub(crate) fn check_rows(rows: &Range<usize>, height: usize) -> Result<(), Self> {
        if rows.start < rows.end && rows.end <= height {
            return Ok(());
        }
        Err(Self::NoSuchRows { rows: rows.clone(), height })
    }

    /// Checks that `board` has the size of the cells that it replaces: (columns, rows).
    pub(crate) fn check_size(board: &Board, size: (usize, usize)) -> Result<(), Self> {
        let given = (board.width(), board.height());
        if given == size { Ok(()) } else { Err(Self::OtherSize { given, size }) }
    }
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
