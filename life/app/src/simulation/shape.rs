//! Compares boards that grow. Positions are relative to the first live cell, so these positions do not change if all
//! cells move or if the board grows.

use std::hash::{DefaultHasher, Hasher};

use life::Board;
use life::board::Run;

/// A run of adjacent cells in a row: the run's position, the run's length, and the states of the cells (empty if the
/// rule has two states). In a direction of growth, the position is relative to the board's first live cell.
type Part = ((i64, i64), usize, Vec<u8>);

/// Returns the runs of `board`. `board` is a part of a larger board, from row `top` on. The first live cell of the
/// larger board is at `first`.
fn parts(board: &Board, top: usize, first: (i64, i64), grows: [bool; 2]) -> impl Iterator<Item = Part> + '_ {
    let from = (if grows[0] { first.0 } else { 0 }, if grows[1] { first.1 } else { 0 });
    board.runs().map(move |run| {
        let Run { x, y, length } = run;
        let has_states = board.states() > 2;
        let states = if has_states { run.cells().map(|(x, y)| board.state(x, y)).collect() } else { Vec::new() };
        ((x as i64 - from.0, (top + y) as i64 - from.1), length, states)
    })
}

/// Returns the column and row of the first cell that is not dead.
fn first(board: &Board) -> Option<(i64, i64)> {
    board.runs().next().map(|Run { x, y, .. }| (x as i64, y as i64))
}

/// A hash of a board. The cells are added to the hash in several calls, one for each part of the board. If all cells
/// move in a direction of growth, the hash does not change.
#[derive(Default)]
pub struct ShapeHash {
    hasher: DefaultHasher,
    first: Option<(i64, i64)>,
}

impl ShapeHash {
    /// Adds `board`, whose first row is row `top` of the whole board.
    pub fn add(&mut self, board: &Board, top: usize, grows: [bool; 2]) {
        let here = first(board).map(|(x, y)| (x, y + top as i64));
        let Some(first) = self.first.or(here) else { return };
        self.first = Some(first);
        for ((x, y), length, states) in parts(board, top, first, grows) {
            self.hasher.write_i64(x);
            self.hasher.write_i64(y);
            self.hasher.write_usize(length);
            self.hasher.write(&states);
        }
    }

    /// Returns the hash of all parts that were added.
    pub fn finish(&self) -> u64 {
        self.hasher.finish()
    }
}

/// Returns the numbers of columns and rows by which all cells have moved from `then` to `now`. Returns `None` if the
/// cells have changed in another way.
pub fn moved(then: &Board, now: &Board, grows: [bool; 2]) -> Option<(i64, i64)> {
    if grows == [false; 2] {
        return (then == now).then_some((0, 0));
    }
    let (Some(from), Some(to)) = (first(then), first(now)) else {
        return (then.population() == now.population()).then_some((0, 0));
    };
    let is_same = parts(then, 0, from, grows).eq(parts(now, 0, to, grows));
    is_same.then_some((to.0 - from.0, to.1 - from.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glider(size: (usize, usize), (x, y): (usize, usize)) -> Board {
        let mut board = Board::new(size.0, size.1).unwrap();
        [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)].iter().for_each(|(dx, dy)| board.set(x + dx, y + dy, true));
        board
    }

    fn hash(board: &Board, grows: [bool; 2]) -> u64 {
        let mut hash = ShapeHash::default();
        for rows in [0..5, 5..11, 11..board.height()] {
            hash.add(&board.part(rows.clone()).unwrap(), rows.start, grows);
        }
        hash.finish()
    }

    #[test]
    fn cells_move_where_the_board_grows() {
        let (here, there) = (glider((40, 20), (3, 10)), glider((90, 50), (60, 4)));
        assert_eq!(moved(&here, &there, [true; 2]), Some((57, -6)));
        assert_eq!(hash(&here, [true; 2]), hash(&there, [true; 2]));
        let beside = glider((90, 20), (60, 10));
        for (grows, there, by) in
            [([true, false], &beside, Some((57, 0))), ([true, false], &there, None), ([false, true], &beside, None)]
        {
            assert_eq!(moved(&here, there, grows), by);
            assert_eq!(hash(&here, grows) == hash(there, grows), by.is_some());
        }
        let mut other = there.clone();
        other.set(0, 0, true);
        assert_eq!(moved(&here, &other, [true; 2]), None);
        let dead = Board::new(5, 12).unwrap();
        assert_eq!((moved(&here, &dead, [true; 2]), moved(&dead, &dead, [true; 2])), (None, Some((0, 0))));
    }

    #[test]
    fn states_are_part_of_a_shape() {
        let of = |state| {
            let mut board = Board::with_states(8, 12, 4).unwrap();
            board.set_state(1, 1, state);
            board
        };
        assert_eq!(moved(&of(2), &of(3), [true; 2]), None);
        assert_ne!(hash(&of(2), [true; 2]), hash(&of(3), [true; 2]));
    }
}
