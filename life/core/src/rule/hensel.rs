//! Hensel's letters, and Callahan's letters for hexagonal neighbourhoods. Each letter names a class of neighbourhoods
//! that differ only by rotations and reflections.

use super::{CENTRE, HEXAGONAL, MOORE};

/// The letters for each number of live neighbours from 0 to 4.
const LETTERS: [&str; 5] = ["", "ce", "aceikn", "aceijknqry", "aceijknqrtwyz"];

/// One example neighbourhood for each letter of [`LETTERS`], in the same order. Each octal digit is a row of three
/// cells.
const SHAPES: [&[usize]; 5] = [
    &[],
    &[0o400, 0o200],
    &[0o600, 0o500, 0o240, 0o202, 0o410, 0o401],
    &[0o640, 0o504, 0o250, 0o700, 0o610, 0o412, 0o510, 0o601, 0o602, 0o502],
    &[0o710, 0o505, 0o252, 0o550, 0o612, 0o542, 0o704, 0o641, 0o650, 0o702, 0o611, 0o514, 0o603],
];

/// Returns the letters for `count` live neighbours in alphabetical order, each with an example neighbourhood. If
/// `count` is 5 or more, a letter describes the positions of the dead neighbours.
pub(super) fn shapes(count: usize) -> impl Iterator<Item = (char, usize)> {
    let (few, flip) = if count > 4 { (8 - count, MOORE) } else { (count, 0) };
    LETTERS[few].chars().zip(SHAPES[few]).map(move |(letter, shape)| (letter, shape ^ flip))
}

/// The letters of a hexagonal neighbourhood with two to four live cells: ortho, meta and para, as on a benzene ring.
pub(super) const OF_HEXAGONS: &str = "omp";

/// The hexagonal neighbours in the order in which they surround the cell, as bit positions: NW, N, E, SE, S, W.
const RING: [usize; 6] = [8, 7, 3, 0, 1, 5];

/// Returns the letter of the hexagonal neighbours in `shape`, or `None` if there are fewer than two or more than four
/// live ones. The letter for four live cells describes the positions of the two dead ones.
pub(super) fn of_hexagon(shape: usize) -> Option<char> {
    let count = (shape & HEXAGONAL).count_ones();
    let flip = if count == 4 { HEXAGONAL } else { 0 };
    let has = |place: usize| (shape ^ flip) >> RING[place % 6] & 1 == 1;
    let pairs = |distance: usize| (0..6).filter(|&place| has(place) && has(place + distance)).count();
    match (count, pairs(1), pairs(3)) {
        (2 | 4, 1, _) | (3, 2, _) => Some('o'),
        (2 | 4, 0, 0) | (3, 1, _) => Some('m'),
        (2 | 4, ..) | (3, ..) => Some('p'),
        _ => None,
    }
}

/// Returns the eight rotations and reflections of `shape`.
pub(super) fn images(shape: usize) -> [usize; 8] {
    let mut images = [shape; 8];
    for i in 1..8 {
        images[i] = if i == 4 { reflected(shape) } else { turned(images[i - 1]) };
    }
    images
}

/// Returns the neighbourhood rotated clockwise by 90 degrees.
fn turned(shape: usize) -> usize {
    permuted(shape, |row, column| (2 - column, row))
}

/// Returns the neighbourhood with rows and columns exchanged.
fn reflected(shape: usize) -> usize {
    permuted(shape, |row, column| (column, row))
}

/// Returns a neighbourhood whose cell at (row, column) is the cell of `shape` at `from(row, column)`.
fn permuted(shape: usize, from: impl Fn(usize, usize) -> (usize, usize)) -> usize {
    let bit = |row: usize, column: usize| 8 - (3 * row + column);
    let cells = (0..9).map(|i| (i / 3, i % 3));
    cells.fold(shape & CENTRE, |image, (row, column)| {
        let (from_row, from_column) = from(row, column);
        image | (shape >> bit(from_row, from_column) & 1) << bit(row, column)
    })
}
