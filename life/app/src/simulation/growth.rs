//! Computes when a board must grow, and how large it becomes.
//!
//! # Design
//!
//! Engines advance only boards of a fixed size. The program examines the board whenever a live cell may have come near
//! an edge. If necessary, the program then makes a larger board.

use std::ops::Range;

use life::board::Run;
use life::{Board, Rule, SizeError};

/// The board grows if fewer than this number of cells lie between a live cell and an edge.
const NEAR: u64 = 64;

/// The bounding box of a board's live cells. The live cells are added to the box in several calls, one for each part of
/// the board.
#[derive(Clone, Debug)]
pub struct Extent {
    columns: Range<usize>,
    rows: Range<usize>,
}

impl Default for Extent {
    fn default() -> Self {
        // The box is empty, and any cell extends it.
        let none = Range { start: usize::MAX, end: 0 };
        Self { columns: none.clone(), rows: none }
    }
}

impl Extent {
    /// Extends the box by the live cells of `board`, whose first row is row `first` of the whole board.
    pub fn add(&mut self, board: &Board, first: usize) {
        for Run { x, y, length } in board.runs() {
            self.columns = self.columns.start.min(x)..self.columns.end.max(x + length);
            self.rows = self.rows.start.min(first + y)..self.rows.end.max(first + y + 1);
        }
    }

    /// Returns the number of generations for which no live cell can reach an edge. Live cells spread by at most one
    /// cell per generation. Only the edges in the directions that `grows` selects are considered. Returns `None` if the
    /// number is below [`NEAR`].
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

/// Returns the size of a larger board, and the position of the old board on the larger one. In each direction of
/// growth, both sides are extended by half the old length, but at least by twice [`NEAR`].
pub fn larger((width, height): (usize, usize), grows: [bool; 2]) -> ((usize, usize), (usize, usize)) {
    let side = |side: usize, grows: bool| {
        // The length is a multiple of 64, because the kernels process vectors of 64 cells.
        let more = if grows { (side / 2).max(2 * NEAR as usize).next_multiple_of(64) } else { 0 };
        (side.saturating_add(2 * more), more)
    };
    let ((width, left), (height, top)) = (side(width, grows[0]), side(height, grows[1]));
    ((width, height), (left, top))
}

/// Returns a board of `size` with the cells of `board`. The upper left corner of `board` is placed at `corner`, as
/// (column, row). Cells outside the new board are omitted.
///
/// # Errors
/// Fails in the same cases as [`Board::new`].
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

/// Returns a copy of `board` that can store the states of `rule`. A cell becomes dead if the rule does not have the
/// cell's state.
///
/// # Errors
/// If memory is too small.
pub fn with_states_of(board: &Board, rule: &Rule) -> anyhow::Result<Board> {
    let mut other = Board::with_states(board.width(), board.height(), rule.states())?;
    for (x, y) in board.cells() {
        let state = board.state(x, y);
        if u16::from(state) < rule.states() {
            other.set_state(x, y, state);
        }
    }
    Ok(other)
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

    #[test]
    fn states_that_there_are_not_are_dead() {
        let mut board = Board::with_states(40, 2, 4).unwrap();
        (0..4).for_each(|state| board.set_state(30 + usize::from(state), 1, state));
        for (rule, states) in [("B3/S23", [0, 1, 0, 0]), ("/2/3", [0, 1, 2, 0]), ("345/2/4", [0, 1, 2, 3])] {
            let other = with_states_of(&board, &rule.parse().unwrap()).unwrap();
            assert_eq!([30, 31, 32, 33].map(|x| other.state(x, 1)), states, "{rule}");
        }
    }
}
