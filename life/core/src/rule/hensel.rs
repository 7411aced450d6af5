//! Hensel's letters: classes of neighbourhoods that differ only by rotations and reflections.

use super::{CENTRE, MOORE};

/// For each count of neighbours up to 4, the letters and a neighbourhood of each. A row of the neighbourhood is an
/// octal digit.
const SHAPES: [&[(char, usize)]; 5] = [
    &[],
    &[('c', 0o400), ('e', 0o200)],
    &[('a', 0o600), ('c', 0o500), ('e', 0o240), ('i', 0o202), ('k', 0o410), ('n', 0o401)],
    &[
        ('a', 0o640),
        ('c', 0o504),
        ('e', 0o250),
        ('i', 0o700),
        ('j', 0o610),
        ('k', 0o412),
        ('n', 0o510),
        ('q', 0o601),
        ('r', 0o602),
        ('y', 0o502),
    ],
    &[
        ('a', 0o710),
        ('c', 0o505),
        ('e', 0o252),
        ('i', 0o550),
        ('j', 0o612),
        ('k', 0o542),
        ('n', 0o704),
        ('q', 0o641),
        ('r', 0o650),
        ('t', 0o702),
        ('w', 0o611),
        ('y', 0o514),
        ('z', 0o603),
    ],
];

/// Returns the letters of `count` neighbours in alphabetical order, each with a neighbourhood. From five neighbours on,
/// a letter describes the dead neighbours.
pub(super) fn shapes(count: usize) -> impl Iterator<Item = (char, usize)> {
    let (few, flip) = if count > 4 { (8 - count, MOORE) } else { (count, 0) };
    SHAPES[few].iter().map(move |&(letter, shape)| (letter, shape ^ flip))
}

/// Returns all neighbourhoods that `shape` becomes by rotations and reflections.
pub(super) fn images(shape: usize) -> [usize; 8] {
    let mut images = [shape; 8];
    for i in 1..8 {
        images[i] = if i == 4 { reflected(shape) } else { turned(images[i - 1]) };
    }
    images
}

/// Rotates the neighbourhood clockwise by 90 degrees.
fn turned(shape: usize) -> usize {
    permuted(shape, |row, column| (2 - column, row))
}

/// Transposes the neighbourhood.
fn reflected(shape: usize) -> usize {
    permuted(shape, |row, column| (column, row))
}

/// Returns the neighbourhood that has at a row and column the cell that `shape` has at `from(row, column)`.
fn permuted(shape: usize, from: impl Fn(usize, usize) -> (usize, usize)) -> usize {
    let bit = |row: usize, column: usize| 8 - (3 * row + column);
    let cells = (0..9).map(|i| (i / 3, i % 3));
    cells.fold(shape & CENTRE, |image, (row, column)| {
        let (from_row, from_column) = from(row, column);
        image | (shape >> bit(from_row, from_column) & 1) << bit(row, column)
    })
}
