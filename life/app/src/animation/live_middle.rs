//! Finds the middle of the live cells on a torus.

use life::board::{Board, WORD_BITS};

/// Returns the middle of the smallest box on the torus that contains all live cells, or `None` if there are none.
pub fn middle(board: &Board) -> Option<(usize, usize)> {
    let mut columns = vec![0; board.words_per_row()];
    let mut rows = vec![false; board.height()];
    for (y, is_alive) in rows.iter_mut().enumerate() {
        for (column, word) in columns.iter_mut().zip(board.row(y)) {
            *column |= word;
            *is_alive |= *word != 0;
        }
    }
    let columns: Vec<_> = (0..board.width()).map(|x| columns[x / WORD_BITS] >> (x % WORD_BITS) & 1 == 1).collect();
    Some((middle_of(&columns)?, middle_of(&rows)?))
}

/// Returns the middle of the live positions on a circle. The function searches for the longest gap between live
/// positions, and returns the middle of the rest of the circle.
fn middle_of(alive: &[bool]) -> Option<usize> {
    let length = alive.len();
    let first = alive.iter().position(|&alive| alive)?;
    let (mut gap, mut end, mut last) = (0, first, first);
    for place in first + 1..=first + length {
        if alive[place % length] {
            if place - last > gap {
                (gap, end) = (place - last, place);
            }
            last = place;
        }
    }
    // The range of the live positions begins where the gap ends.
    Some((end + (length - gap) / 2) % length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_goes_around_the_torus() {
        let with = |cells: &[(usize, usize)]| {
            let mut board = Board::new(100, 40).unwrap();
            cells.iter().for_each(|&(x, y)| board.set(x, y, true));
            middle(&board)
        };
        assert_eq!(with(&[]), None);
        assert_eq!(with(&[(7, 3)]), Some((7, 3)));
        assert_eq!(with(&[(10, 10), (20, 28)]), Some((15, 19)));
        assert_eq!(with(&[(98, 39), (4, 1)]), Some((1, 0)), "the way across the edge is the shorter one");
    }
}
