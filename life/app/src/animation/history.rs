//! The boards that the animation has shown before, for the key `z`.

use std::collections::VecDeque;

use life::Board;

/// The maximum number of bytes of all stored boards.
const BYTES: usize = 256 << 20;

/// The maximum number of stored boards.
const BOARDS: usize = 1000;

/// A board that the animation has shown.
#[derive(Clone)]
pub struct ShownBoard {
    /// The generation of the board.
    pub generation: u64,
    /// The cells of the board.
    pub board: Board,
    /// The number of columns by which the board had grown at the left, and the number of rows by which it had grown at
    /// the top.
    pub added: (usize, usize),
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
        let shown = |generation, board| ShownBoard { generation, board, added: (0, 0) };
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
