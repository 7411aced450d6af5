//! The boards that the animation has shown before, for the key `z`.

use std::collections::VecDeque;

use life::Board;
use life::plane::Bounds;

use crate::simulation::PlaneBoard;
use crate::timed_run::TimedRun;

/// The maximum number of bytes of all stored boards.
const BYTES: usize = 256 << 20;

/// The maximum number of stored boards.
const BOARDS: usize = 1000;

/// A board that the animation has shown.
#[derive(Clone)]
pub struct ShownBoard {
    /// The generation of the board.
    pub generation: u64,
    /// The cells of the board, or of the part of the plane around the view.
    pub board: Board,
    /// The position of the upper left cell of `board`, relative to that of the first board.
    pub corner: (i64, i64),
    /// The size of the whole board as (columns, rows).
    pub size: (usize, usize),
    /// The whole pattern, if it is on the plane.
    pub whole: Option<PlaneBoard>,
}

impl ShownBoard {
    /// Copies the board of `run`. On the plane, the copy contains `view` and, if it is not too large, the whole board.
    ///
    /// # Errors
    /// If the device fails, or memory is too small.
    pub fn of(run: &TimedRun, view: Option<Bounds>) -> anyhow::Result<Self> {
        let (generation, size) = (run.generation(), run.life.size());
        let Some(whole) = run.life.engine().plane() else {
            let (left, top) = run.life.added();
            let corner = (-(left as i64), -(top as i64));
            return Ok(Self { generation, board: run.life.board()?, corner, size, whole: None });
        };
        let area = whole.shown_area(view);
        Ok(Self { generation, board: whole.window(area)?, corner: (area.x, area.y), size, whole: Some(whole.clone()) })
    }
}

/// The boards that the animation showed last. If there are too many boards, the oldest are dropped.
#[derive(Default)]
pub struct History {
    boards: VecDeque<ShownBoard>,
}

impl History {
    /// Adds the board that was shown last. Ignores a board that alone exceeds the memory limit.
    pub fn push(&mut self, shown: ShownBoard) {
        let bytes = size_of_val(shown.board.words()) * (1 + shown.board.ages().len());
        let bytes = bytes + shown.whole.as_ref().map_or(0, |whole| whole.engine().bytes() as usize);
        let most = (BYTES / bytes.max(1)).min(BOARDS);
        if most == 0 {
            return;
        }
        while self.boards.len() >= most {
            self.boards.pop_front();
        }
        self.boards.push_back(shown);
    }

    /// Removes and returns the board that was shown last.
    pub fn pop(&mut self) -> Option<ShownBoard> {
        self.boards.pop_back()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_boards_come_back_in_turn() {
        let mut history = History::default();
        let shown = |generation, board| ShownBoard { generation, board, corner: (0, 0), size: (8, 8), whole: None };
        assert!(history.pop().is_none());
        for generation in 0..BOARDS as u64 + 5 {
            history.push(shown(generation, Board::new(8, 8).unwrap()));
        }
        let generations: Vec<_> = std::iter::from_fn(|| history.pop()).map(|shown| shown.generation).collect();
        assert_eq!(generations, (5..BOARDS as u64 + 5).rev().collect::<Vec<_>>());
        let large = Board::new(1 << 15, 1 << 15).unwrap();
        (0..4).for_each(|generation| history.push(shown(generation, large.clone())));
        assert_eq!(history.boards.len(), 2, "128 MiB each");
    }
}
