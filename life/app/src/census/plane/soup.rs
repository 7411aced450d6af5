//! The soups of Catagolue: random cells in a small area of the plane, with a symmetry.
//!
//! The 256 bits of a soup are the SHA-256 hash of its name, which is a root and a number, such as `k_abc12` for the
//! root `k_abc` and the number 12. apgsearch makes the same soups, so that a census can be repeated by either program.

use std::str::FromStr;

use life::soup_census::{MAX_SOUP_SIDE, SoupRows};
use sha2::{Digest, Sha256};

/// A symmetry of soups, named as by Catagolue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Symmetry(&'static str);

/// The known symmetries. Soups without symmetry have 16 × 16 cells (`C1`), or the size in their name.
const NAMES: [&str; 20] = [
    "C1", "C2_1", "C2_2", "C2_4", "C4_1", "C4_4", "D2_+1", "D2_+2", "D2_x", "D4_+1", "D4_+2", "D4_+4", "D4_x1",
    "D4_x4", "D8_1", "D8_4", "8x32", "4x64", "2x128", "1x256",
];

impl Symmetry {
    /// Returns the name of the symmetry.
    pub fn name(self) -> &'static str {
        self.0
    }

    /// Returns true if [`rows`] makes these soups.
    pub fn fits_device(self) -> bool {
        !matches!(self.0, "4x64" | "2x128" | "1x256")
    }
}

impl FromStr for Symmetry {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = NAMES.iter().find(|name| name.eq_ignore_ascii_case(text));
        name.map(|name| Self(name)).ok_or_else(|| format!("no symmetry has this name: use one of {}", NAMES.join(", ")))
    }
}

/// The side length of the random square, in cells.
const SIDE: i32 = 16;

/// A square of random cells. Cell (column, row) is bit `15 - column` of a row.
#[derive(Clone, Copy)]
struct Square([u16; SIDE as usize]);

impl Square {
    fn of(digest: &[u8; 32]) -> Self {
        Self(std::array::from_fn(|row| u16::from_be_bytes([digest[2 * row], digest[2 * row + 1]])))
    }

    /// Returns bit `i` of row `row`, counted from the highest bit.
    fn bit(&self, row: usize, i: usize) -> bool {
        self.0[row] >> (15 - i) & 1 == 1
    }

    /// Makes a square whose bit `i` of row `row` is `bit(row, i)`.
    fn from_bits(bit: impl Fn(usize, usize) -> bool) -> Self {
        Self(std::array::from_fn(|row| (0..16).fold(0, |bits, i| bits << 1 | u16::from(bit(row, i)))))
    }

    fn transposed(&self) -> Self {
        Self::from_bits(|row, i| self.bit(i, row))
    }

    /// Returns the live cells. The lowest bit of a row is its first column.
    fn cells(self) -> impl Iterator<Item = (i32, i32)> {
        let rows = (0..SIDE).zip(self.0);
        rows.flat_map(|(y, bits)| (0..SIDE).filter(move |x| bits >> x & 1 == 1).map(move |x| (x, y)))
    }
}

/// Returns the live cells of the soup `name` with `symmetry`, each once.
pub fn cells(symmetry: Symmetry, name: &str) -> Vec<(i32, i32)> {
    let mut cells = copies(symmetry, name);
    cells.sort_unstable();
    cells.dedup();
    cells
}

/// Returns the soup `name` with `symmetry` as rows of cells, or `None` if it is too large.
pub fn rows(symmetry: Symmetry, name: &str) -> Option<SoupRows> {
    let cells = copies(symmetry, name);
    let top = cells.iter().map(|cell| cell.1).min().unwrap_or(0);
    let mut rows = [0; MAX_SOUP_SIDE];
    for (x, y) in cells {
        let side = MAX_SOUP_SIDE as i32;
        if !(0..side).contains(&x) || y - top >= side {
            return None;
        }
        rows[(y - top) as usize] |= 1 << x;
    }
    Some(rows)
}

/// Returns the live cells of the soup `name` with `symmetry`. Columns begin at 0. Cells of several copies of the random
/// square occur several times.
fn copies(symmetry: Symmetry, name: &str) -> Vec<(i32, i32)> {
    let digest: [u8; 32] = Sha256::digest(name.as_bytes()).into();
    let Symmetry(symmetry) = symmetry;
    if let Some((height, width)) = symmetry.split_once('x').filter(|(_, width)| width.len() > 1) {
        let side = |text: &str| text.parse().unwrap_or(SIDE);
        return rectangle(&digest, side(height), side(width));
    }
    let mut square = Square::of(&digest);
    let mut mirror = square.transposed();
    if symmetry == "C2_2" && !name.starts_with("l_") {
        std::mem::swap(&mut square, &mut mirror);
    }
    if matches!(symmetry, "D2_x" | "D8_4" | "D8_1" | "D4_x4" | "D4_x1") {
        // The upper triangle is mirrored. For two diagonals, the lower triangle is mirrored too.
        let upper = |row: usize, i: usize| square.bit(row.min(i), row.max(i));
        let lower = |row: usize, i: usize| square.bit(row.max(i), row.min(i));
        (square, mirror) = (Square::from_bits(upper), Square::from_bits(lower));
    }
    if !matches!(symmetry, "C4_1" | "C4_4" | "D4_x1" | "D4_x4") {
        mirror = square;
    }
    // The copies turned by half a turn, turned upside down, and mirrored, each by how far the copies overlap: 1 for the
    // row or column that they share, 0 for none.
    let half_turn = |x: i32, y: i32| square.cells().map(move |(a, b)| (31 - x - a, y - 1 - b));
    let upside_down = |y: i32| mirror.cells().map(move |(a, b)| (a, y - 1 - b));
    let mirrored = |x: i32| mirror.cells().map(move |(a, b)| (31 - x - a, b));
    let mut cells: Vec<_> = square.cells().collect();
    match symmetry {
        "C2_1" => cells.extend(half_turn(1, 1)),
        "C2_2" => cells.extend(half_turn(0, 1)),
        "C2_4" => cells.extend(half_turn(0, 0)),
        "D2_+1" => cells.extend(upside_down(1)),
        "D2_+2" => cells.extend(upside_down(0)),
        "C4_1" | "D4_+1" | "D4_x1" | "D8_1" => {
            cells.extend(half_turn(1, 1).chain(upside_down(1)).chain(mirrored(1)));
        }
        "D4_+2" => cells.extend(half_turn(0, 1).chain(upside_down(1)).chain(mirrored(0))),
        "C4_4" | "D4_+4" | "D4_x4" | "D8_4" => {
            cells.extend(half_turn(0, 0).chain(upside_down(0)).chain(mirrored(0)));
        }
        _ => {}
    }
    cells
}

/// Returns the live cells of a soup of `height` rows. The highest bit of the hash is the last cell of the first row.
fn rectangle(digest: &[u8; 32], height: i32, width: i32) -> Vec<(i32, i32)> {
    let bit = |i: i32| digest[i as usize / 8] >> (7 - i % 8) & 1 == 1;
    let cells = (0..height).flat_map(|y| (0..width).map(move |x| (width - 1 - x, y, y * width + x)));
    cells.filter(|&(_, _, i)| bit(i)).map(|(x, y, _)| (x, y)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soup(symmetry: &str) -> Vec<(i32, i32)> {
        cells(symmetry.parse().unwrap(), "k_test1")
    }

    /// Returns `cells`, moved to (0, 0) after `turn`.
    fn turned(cells: &[(i32, i32)], turn: impl Fn(i32, i32) -> (i32, i32)) -> Vec<(i32, i32)> {
        let mut cells: Vec<_> = cells.iter().map(|&(x, y)| turn(x, y)).collect();
        let left = cells.iter().map(|cell| cell.0).min().unwrap();
        let top = cells.iter().map(|cell| cell.1).min().unwrap();
        cells.iter_mut().for_each(|cell| *cell = (cell.0 - left, cell.1 - top));
        cells.sort_unstable();
        cells
    }

    #[test]
    fn each_symmetry_is_one() {
        let same = |x: i32, y: i32| (x, y);
        for name in NAMES {
            let cells = soup(name);
            let is = |turn: fn(i32, i32) -> (i32, i32)| turned(&cells, turn) == turned(&cells, same);
            let expected = (
                name.starts_with("C2") || name.starts_with("C4") || name.starts_with("D4") || name.starts_with("D8"),
                name.starts_with("C4") || name.starts_with("D8"),
                name == "1x256" || name.starts_with("D2_+") || name.starts_with("D4_+") || name.starts_with("D8"),
                name == "D2_x" || name.starts_with("D4_x") || name.starts_with("D8"),
            );
            let found =
                (is(|x, y| (-x, -y)), is(|x, y| (-y, x)), is(|x, y| (x, -y)), is(|x, y| (y, x)) || is(|x, y| (-y, -x)));
            assert_eq!(found, expected, "{name}");
            assert!(cells.windows(2).all(|pair| pair[0] != pair[1]) && cells.len() > 90, "{name}: {}", cells.len());
        }
    }

    #[test]
    fn sizes_are_those_of_the_names() {
        let size = |name: &str| {
            let cells = soup(name);
            let side = |of: fn(&(i32, i32)) -> i32| {
                cells.iter().map(of).max().unwrap() - cells.iter().map(of).min().unwrap() + 1
            };
            (side(|cell| cell.0), side(|cell| cell.1))
        };
        for (name, expected) in [
            ("C1", (16, 16)),
            ("D8_1", (31, 31)),
            ("D4_+2", (32, 31)),
            ("C4_4", (32, 32)),
            ("8x32", (32, 8)),
            ("1x256", (256, 1)),
        ] {
            let (width, height) = size(name);
            assert!(expected.0 - width < 4 && width <= expected.0, "{name}: {width}");
            assert!(expected.1 - height < 2 && height <= expected.1, "{name}: {height}");
        }
    }

    #[test]
    fn a_name_is_a_soup() {
        // The SHA-256 hash of "abc" is published: ba7816bf 8f01cfea 414140de 5dae2223 ...
        let first: Vec<_> = cells("c1".parse().unwrap(), "abc").into_iter().filter(|cell| cell.1 == 0).collect();
        // 0xba78, the lowest bit first.
        assert_eq!(first.iter().map(|cell| cell.0).collect::<Vec<_>>(), [3, 4, 5, 6, 9, 11, 12, 13, 15]);
        let error = "C3".parse::<Symmetry>().unwrap_err();
        assert!(error.contains("D4_+4"), "{error}");
    }
}
