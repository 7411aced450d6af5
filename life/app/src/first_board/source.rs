//! Where the first board of a run comes from.

use std::ops::Range;

use life::{Board, Pattern};

use crate::checkpoint::saved::Saved;

/// Where a run's first board comes from.
#[derive(Debug)]
pub enum Source {
    /// A pattern.
    Pattern(Placed),
    /// A board of this size, whose cells the first rank has.
    OfFirstRank {
        /// Columns and rows.
        size: (usize, usize),
    },
    /// Random cells.
    Soup {
        /// Columns and rows.
        size: (usize, usize),
        /// The share of live cells.
        density: f64,
        /// The seed of the random numbers.
        seed: u64,
    },
    /// A checkpoint.
    Saved(Saved),
}

impl Source {
    /// Columns and rows.
    pub fn size(&self) -> (usize, usize) {
        match self {
            Self::Pattern(placed) => placed.size,
            Self::OfFirstRank { size } | Self::Soup { size, .. } => *size,
            Self::Saved(saved) => saved.size(),
        }
    }
}

/// A pattern on a board that is made when it is asked for, in parts where it is large.
#[derive(Debug)]
pub struct Placed {
    pub(super) pattern: Pattern,
    /// Columns and rows of the board.
    pub(super) size: (usize, usize),
    /// The states of its cells.
    pub(super) states: u16,
    /// Where its upper left corner is.
    pub(super) corner: (usize, usize),
    /// True for rules such as LifeHistory, whose cells of odd states are alive.
    pub(super) is_history: bool,
}

impl Placed {
    /// The pattern that fills a board of two states.
    #[cfg(test)]
    pub fn of(board: Board) -> Self {
        let size = (board.width(), board.height());
        Self { pattern: Pattern::from_board(board), size, states: 2, corner: (0, 0), is_history: false }
    }

    /// The board.
    ///
    /// # Errors
    /// When memory does not suffice, or there is no such board.
    pub fn board(&self) -> anyhow::Result<Board> {
        self.rows(0..self.size.1)
    }

    /// Rows of the board.
    ///
    /// # Errors
    /// As for [`board`](Self::board).
    pub fn rows(&self, rows: Range<usize>) -> anyhow::Result<Board> {
        let (width, height) = self.size;
        let mut board = Board::with_states(width, rows.len(), self.states)?;
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
