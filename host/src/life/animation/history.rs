//! The boards that were shown before, to go back to.

use std::collections::VecDeque;

use gridstride::life::Board;

/// Bytes that it may take.
const BYTES: usize = 256 << 20;

/// Boards that it has at most.
const BOARDS: usize = 1000;

/// The last boards and their generations, the oldest of which give way.
#[derive(Default)]
pub struct History {
    boards: VecDeque<(u64, Board)>,
}

impl History {
    /// Adds the board that was shown last, if there is room for one of its size.
    pub fn push(&mut self, generation: u64, board: Board) {
        let most = (BYTES / size_of_val(board.words()).max(1)).min(BOARDS);
        if most == 0 {
            return;
        }
        while self.boards.len() >= most {
            self.boards.pop_front();
        }
        self.boards.push_back((generation, board));
    }

    /// Takes the board that was shown last.
    pub fn pop(&mut self) -> Option<(u64, Board)> {
        self.boards.pop_back()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_boards_come_back_in_turn() {
        let mut history = History::default();
        assert!(history.pop().is_none());
        for generation in 0..BOARDS as u64 + 5 {
            history.push(generation, Board::new(8, 8).unwrap());
        }
        let generations: Vec<_> = std::iter::from_fn(|| history.pop()).map(|(generation, _)| generation).collect();
        assert_eq!(generations, (5..BOARDS as u64 + 5).rev().collect::<Vec<_>>());
        let large = Board::new(1 << 15, 1 << 15).unwrap();
        (0..4).for_each(|generation| history.push(generation, large.clone()));
        assert_eq!(history.boards.len(), 2, "128 MiB each");
    }
}
