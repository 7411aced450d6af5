//! Converts a board to the states of another rule.

use life::{Board, Rule};

/// Returns `board` with the states of `rule`. Cells in other states die.
///
/// # Errors
/// If memory is too small.
pub fn of(board: &Board, rule: &Rule) -> anyhow::Result<Board> {
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

    #[test]
    fn states_that_there_are_not_are_dead() {
        let mut board = Board::with_states(40, 2, 4).unwrap();
        (0..4).for_each(|state| board.set_state(30 + usize::from(state), 1, state));
        for (rule, states) in [("B3/S23", [0, 1, 0, 0]), ("/2/3", [0, 1, 2, 0]), ("345/2/4", [0, 1, 2, 3])] {
            let other = of(&board, &rule.parse().unwrap()).unwrap();
            assert_eq!([30, 31, 32, 33].map(|x| other.state(x, 1)), states, "{rule}");
        }
    }
}
