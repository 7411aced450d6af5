//! The source of the cells of a run's first board.

use std::ops::Range;

use life::{Board, Pattern};

use crate::checkpoint::saved_board::SavedBoard;
use crate::universe::Universe;

/// The source of the cells of a run's first board.
#[derive(Debug)]
pub enum BoardSource {
    /// A pattern from a file.
    Pattern(PlacedPattern),
    /// The board of a rank that is not the first. Only the first rank has the board's cells.
    OfFirstRank {
        /// The size of the board as (columns, rows).
        size: (usize, usize),
    },
    /// A soup: random cells.
    Soup {
        /// The size of the board as (columns, rows).
        size: (usize, usize),
        /// The fraction of cells that are alive, from 0 to 1.
        density: f64,
        /// The seed of the random cells.
        seed: u64,
    },
    /// A checkpoint file.
    Saved(SavedBoard),
}

impl BoardSource {
    /// Returns the size of the board as (columns, rows).
    pub fn size(&self) -> (usize, usize) {
        match self {
            Self::Pattern(placed) => placed.size,
            Self::OfFirstRank { size } | Self::Soup { size, .. } => *size,
            Self::Saved(saved) => saved.header.size,
        }
    }
}

/// A pattern and its position on a board. The methods make the whole board or a part of it.
#[derive(Debug)]
pub struct PlacedPattern {
    pub(super) pattern: Box<Pattern>,
    /// The size of the board as (columns, rows).
    pub(super) size: (usize, usize),
    /// The universe of the board.
    pub(super) universe: Universe,
    /// The position of the board's upper left corner on the plane, as (column, row).
    pub(super) origin: (i64, i64),
    /// The position of the pattern's upper left corner on the board.
    pub(super) corner: (usize, usize),
    /// True for rules such as LifeHistory, in which cells in odd states are alive.
    pub(super) is_history: bool,
}

impl PlacedPattern {
    /// Makes a pattern from the cells of the two-state board `board`, placed on a board of the same size.
    #[cfg(test)]
    pub fn of(board: Board) -> Self {
        let (size, universe) = ((board.width(), board.height()), Universe::default());
        let pattern = Box::new(Pattern::from_board(board));
        Self { pattern, size, universe, origin: (0, 0), corner: (0, 0), is_history: false }
    }

    /// Makes the whole board.
    ///
    /// # Errors
    /// If memory is too small, or no board can have this size.
    pub fn board(&self) -> anyhow::Result<Board> {
        self.rows(0..self.size.1)
    }

    /// Makes `rows` of the board.
    ///
    /// # Errors
    /// Fails in the same cases as [`board`](Self::board).
    pub fn rows(&self, rows: Range<usize>) -> anyhow::Result<Board> {
        let (width, height) = self.size;
        let mut board = Board::with_states(width, rows.len(), self.universe.rule.states())?;
        board.place_rows(&self.pattern, self.corner, rows.start, height)?;
        if self.is_history {
            let odd = self.pattern.others().iter().filter(|(_, state)| state % 2 == 1);
            for (x, y) in odd.flat_map(|(run, _)| run.cells()) {
                let (x, y) = ((x + self.corner.0) % width, (y + self.corner.1) % height);
                if rows.contains(&y) {
                    board.set(x, y - rows.start, true);
                }
            }
        }
        Ok(board)
    }
}
