//! Copies of boards.

use life::Board;

use super::advance::CopiedCells;

/// A copy of a board. If the board is in bands, each rank has its own rows.
pub struct Snapshot {
    size: (usize, usize),
    cells: CopiedCells,
}

impl Snapshot {
    /// Returns a copy of a board of this size.
    pub fn new(size: (usize, usize), cells: CopiedCells) -> Self {
        Self { size, cells }
    }

    /// Returns the columns and rows of the board.
    pub fn size(&self) -> (usize, usize) {
        self.size
    }

    /// Returns the copied cells.
    pub fn cells(&self) -> &CopiedCells {
        &self.cells
    }

    /// Returns the board if this rank has all of it.
    pub fn board(&self) -> Option<&Board> {
        match &self.cells {
            CopiedCells::Whole(board) => board.as_ref(),
            CopiedCells::Bands(_) => None,
        }
    }
}
