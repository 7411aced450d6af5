//! Boards that grow before anything reaches their edges.
//!
//! # Design
//!
//! The unbounded plane is a matter of the program, not of the engines. It looks at the board as often as something
//! could have come near an edge, and makes a larger board then.

use std::ops::Range;

use life::board::Run;
use life::{Board, SizeError};

/// Cells between what is not dead and an edge, below which the board grows.
const NEAR: u64 = 64;

/// The columns and rows that a board's cells lie in, as far as they are known.
#[derive(Clone, Debug)]
pub struct Extent {
    columns: Range<usize>,
    rows: Range<usize>,
}

impl Default for Extent {
    fn default() -> Self {
        // Empty, and ended by any cell.
        let none = Range { start: usize::MAX, end: 0 };
        Self { columns: none.clone(), rows: none }
    }
}

impl Extent {
    /// Takes in `board`, whose rows are those from `first` on.
    pub fn add(&mut self, board: &Board, first: usize) {
        for Run { x, y, length } in board.runs() {
            self.columns = self.columns.start.min(x)..self.columns.end.max(x + length);
            self.rows = self.rows.start.min(first + y)..self.rows.end.max(first + y + 1);
        }
    }

    /// The generations in which nothing of a board of this size can reach an edge that moves away, of the columns and
    /// of the rows: what is not dead comes nearer by a cell in each. None if they are fewer than are worth a look at
    /// the board.
    pub fn room(&self, (width, height): (usize, usize), grows: [bool; 2]) -> Option<u64> {
        if self.rows.end == 0 {
            return Some(u64::MAX);
        }
        let columns = self.columns.start.min(width - self.columns.end);
        let rows = self.rows.start.min(height - self.rows.end);
        let room =
            [columns, rows].into_iter().zip(grows).filter_map(|(room, grows)| grows.then_some(room as u64)).min();
        room.map_or(Some(u64::MAX), |room| (room >= NEAR).then_some(room))
    }
}

/// The size of a board that has half as much again on each side that moves away, at least twice what is near; and where
/// the old board is on it.
pub fn larger((width, height): (usize, usize), grows: [bool; 2]) -> ((usize, usize), (usize, usize)) {
    let side = |side: usize, grows: bool| {
        // In whole vectors of the kernels.
        let more = if grows { (side / 2).max(2 * NEAR as usize).next_multiple_of(64) } else { 0 };
        (side.saturating_add(2 * more), more)
    };
    let ((width, left), (height, top)) = (side(width, grows[0]), side(height, grows[1]));
    ((width, height), (left, top))
}

/// A board of `size` cells with the cells of `board` on it, its upper left corner at `corner`, as column and row, which
/// may be beyond the edges.
///
/// # Errors
/// As for [`Board::new`].
pub fn window(board: &Board, size: (usize, usize), corner: (i64, i64)) -> Result<Board, SizeError> {
    let mut window = Board::with_states(size.0, size.1, board.states())?;
    for Run { x, y, length } in board.runs() {
        let y_there = y as i64 + corner.1;
        if !(0..size.1 as i64).contains(&y_there) {
            continue;
        }
        let begin = (x as i64 + corner.0).clamp(0, size.0 as i64);
        let end = ((x + length) as i64 + corner.0).clamp(0, size.0 as i64);
        let run = Run { x: begin as usize, y: y_there as usize, length: (end - begin) as usize };
        window.fill_run(run);
        if board.states() > 2 {
            for (x_there, y_there) in run.cells() {
                window.set_state(x_there, y_there, board.state((x_there as i64 - corner.0) as usize, y));
            }
        }
    }
    Ok(window)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(board: &Board, grows: [bool; 2]) -> Option<u64> {
        let mut extent = Extent::default();
        extent.add(&board.part(0..90).unwrap(), 0);
        extent.add(&board.part(90..200).unwrap(), 90);
        extent.room((300, 200), grows)
    }

    #[test]
    fn a_board_knows_its_room() {
        let mut board = Board::new(300, 200).unwrap();
        assert_eq!(room(&board, [true; 2]), Some(u64::MAX));
        board.set(100, 80, true);
        assert_eq!(room(&board, [true; 2]), Some(80));
        assert_eq!(room(&board, [true, false]), Some(100));
        board.set(299 - 70, 100, true);
        assert_eq!(room(&board, [true; 2]), Some(70));
        board.set(100, 199 - 63, true);
        assert_eq!(room(&board, [true; 2]), None);
        assert_eq!(room(&board, [true, false]), Some(70));
        assert_eq!(room(&board, [false, false]), Some(u64::MAX));
    }

    #[test]
    fn a_window_has_the_cells_that_are_in_it() {
        let mut board = Board::with_states(40, 3, 4).unwrap();
        board.set_state(0, 0, 2);
        board.set_state(39, 2, 3);
        board.set(5, 1, true);
        let (size, (left, top)) = larger((40, 3), [true, false]);
        assert_eq!((size, left, top), ((40 + 256, 3), 128, 0));
        let large = window(&board, size, (left as i64, top as i64)).unwrap();
        assert_eq!((large.state(128, 0), large.state(167, 2), large.state(133, 1)), (2, 3, 1));
        assert_eq!(large.population(), 3);
        assert_eq!(window(&large, (40, 3), (-128, 0)).unwrap(), board);
        assert_eq!(window(&large, (20, 2), (-128, 1)).unwrap().cells().collect::<Vec<_>>(), [(0, 1)]);
    }
}
