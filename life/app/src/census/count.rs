//! Counts the objects of a board that is periodic.

use std::collections::{BTreeMap, HashMap};

use life::{Board, CpuSimulation};

use crate::divisors::divisors;
use crate::objects::{CellSet, identify};

/// The number of objects of each kind, by apgcode.
pub type Tally = BTreeMap<String, u64>;

/// The label of objects whose period was not found or that wrap around the torus.
pub const UNKNOWN: &str = "unidentified";

/// If the period of a board is at most this number, its objects are counted without first removing spaceships. Longer
/// periods are mostly caused by spaceships that travel around the torus.
const LONG: u64 = 120;

/// The maximum number of searches for spaceships. Each search begins some generations after the previous one, because a
/// search does not find spaceships that are near other cells.
const ATTEMPTS: u64 = 16;

/// The number of generations in which the parts of a spaceship reach each other's places.
const SWEEP: u64 = 1024;

/// A cache that maps each group of cells identified so far to the apgcodes of its objects.
#[derive(Default)]
pub struct ObjectCache(HashMap<CellSet, Option<Vec<String>>>);

impl ObjectCache {
    fn codes(&mut self, cells: CellSet) -> Option<&[String]> {
        self.0.entry(cells).or_insert_with_key(identify).as_deref()
    }
}

/// Adds the objects of `board`, whose period is `period`, to `tally`.
///
/// # Errors
/// If memory is too small.
pub fn count(board: &Board, period: u64, known: &mut ObjectCache, tally: &mut Tally) -> anyhow::Result<()> {
    let (mut board, mut period) = (board.clone(), period);
    for _ in 0..ATTEMPTS {
        if period <= LONG {
            break;
        }
        if take_spaceships(&mut board, known, tally) {
            period = period_of(&board, period)?;
        } else {
            let mut later = CpuSimulation::new(&board)?;
            later.advance(period / ATTEMPTS + 1);
            board = later.board()?;
        }
    }
    let mut found = objects(&board, period, known)?;
    let unknown = |tally: &Tally| tally.get(UNKNOWN).copied().unwrap_or(0);
    if unknown(&found) > 0 {
        // The parts of a spaceship such as a Cordership are far apart, but in time they come to the same places.
        let later = objects(&board, period.max(SWEEP), known)?;
        if unknown(&later) < unknown(&found) {
            found = later;
        }
    }
    found.into_iter().for_each(|(code, count)| *tally.entry(code).or_default() += count);
    Ok(())
}

/// Returns the objects of `board`. Cells belong to the same group of objects if they are near to each other, or to
/// cells that are alive in one of `generations` generations.
fn objects(board: &Board, generations: u64, known: &mut ObjectCache) -> anyhow::Result<Tally> {
    let mut ever = board.words().to_vec();
    let mut life = CpuSimulation::new(board)?;
    for _ in 1..generations {
        life.advance(1);
        for (ever, now) in ever.iter_mut().zip(life.board()?.words()) {
            *ever |= now;
        }
    }
    let ever = Board::from_words(board.width(), board.height(), ever)?;
    let mut tally = Tally::new();
    for group in groups(&ever) {
        let here = group.iter().filter(|cell| board.get(cell.on_board.0, cell.on_board.1));
        let cells = CellSet::new(here.map(|cell| cell.on_plane).collect()).0;
        if cells.cells().is_empty() {
            continue;
        }
        let codes = known.codes(cells);
        for code in codes.unwrap_or(&[UNKNOWN.to_owned()]) {
            *tally.entry(code.clone()).or_default() += 1;
        }
    }
    Ok(tally)
}

/// Searches for groups of cells that consist of spaceships. Adds these groups to `tally` and removes them from the
/// board. Returns true if the function found such a group.
fn take_spaceships(board: &mut Board, known: &mut ObjectCache, tally: &mut Tally) -> bool {
    let mut any = false;
    for group in groups(board) {
        let cells = CellSet::new(group.iter().map(|cell| cell.on_plane).collect()).0;
        let Some(codes) = known.codes(cells) else { continue };
        if codes.iter().all(|code| code.starts_with("xq")) {
            any = true;
            for code in codes {
                *tally.entry(code.clone()).or_default() += 1;
            }
            group.iter().for_each(|cell| board.set(cell.on_board.0, cell.on_board.1, false));
        }
    }
    any
}

/// Returns the smallest divisor of `multiple` that is a period of `board`, or `multiple` if no divisor is a period.
pub fn period_of(board: &Board, multiple: u64) -> anyhow::Result<u64> {
    let mut life = CpuSimulation::new(board)?;
    for divisor in divisors(multiple) {
        life.advance(divisor - life.generation());
        if life.board()? == *board {
            return Ok(divisor);
        }
    }
    Ok(multiple)
}

/// A cell of a group.
struct Member {
    on_board: (usize, usize),
    /// The position of the cell on an unwrapped plane. On this plane, a group that crosses an edge of the torus stays
    /// connected.
    on_plane: (i32, i32),
}

/// Divides the live cells into groups. Two groups are more than two columns or more than two rows apart, so that no
/// cell has neighbours in two groups.
fn groups(board: &Board) -> Vec<Vec<Member>> {
    let (width, height) = (board.width() as i32, board.height() as i32);
    let mut left = board.clone();
    let mut groups = Vec::new();
    for (x, y) in board.cells() {
        if !left.get(x, y) {
            continue;
        }
        left.set(x, y, false);
        let mut group = vec![Member { on_board: (x, y), on_plane: (x as i32, y as i32) }];
        let mut next = 0;
        while let Some(&Member { on_plane: (x, y), .. }) = group.get(next) {
            next += 1;
            for on_plane in (y - 2..=y + 2).flat_map(|y| (x - 2..=x + 2).map(move |x| (x, y))) {
                let on_board = (on_plane.0.rem_euclid(width) as usize, on_plane.1.rem_euclid(height) as usize);
                if left.get(on_board.0, on_board.1) {
                    left.set(on_board.0, on_board.1, false);
                    group.push(Member { on_board, on_plane });
                }
            }
        }
        groups.push(group);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally_of(cells: &[(usize, usize)], width: usize, height: usize, period: u64) -> Vec<(String, u64)> {
        let mut board = Board::new(width, height).unwrap();
        cells.iter().for_each(|&(x, y)| board.set(x, y, true));
        let mut tally = Tally::new();
        count(&board, period, &mut ObjectCache::default(), &mut tally).unwrap();
        tally.into_iter().collect()
    }

    #[test]
    fn objects_across_the_edges_are_whole() {
        let block = [(0, 0), (31, 0), (0, 19), (31, 19)];
        assert_eq!(tally_of(&block, 32, 20, 1), [("xs4_33".to_owned(), 1)]);
        let blinker = [(31, 10), (0, 10), (1, 10)];
        assert_eq!(tally_of(&blinker, 32, 20, 2), [("xp2_7".to_owned(), 1)]);
    }

    #[test]
    fn spaceships_on_their_way_are_found_beside_the_rest() {
        let glider_and_blinker = [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2), (40, 10), (41, 10), (42, 10)];
        assert_eq!(tally_of(&glider_and_blinker, 64, 64, 256), [("xp2_7".to_owned(), 1), ("xq4_153".to_owned(), 1)]);
    }

    const CORDERSHIP: [&str; 3] = [
        "xq96_yngo82n6ec86y0goi0a4zyf66y21121zy7ggysok6cogzy711yggxsy1cmia231zys121yg",
        "gzyco2q0eeypos4hb37643y08c9052zyc11yp33y01zy68gy4m4cg8xf8zy481xo8gy011w1ydoo",
        "w3354ikgcaoo8y1cczy34bg85l48hey6gggzccy5111y9332233252y0shd077y533zyzy4oozyd66",
    ];

    /// Golly's collection has this Cordership, a spaceship of seven switch engines.
    #[test]
    fn a_cordership_is_one_object() {
        let code = CORDERSHIP.concat();
        let pattern = life_formats::apgcode::parse(&code, 1 << 20).unwrap();
        let cells: Vec<_> = pattern.cells().map(|(x, y)| (x + 90, y + 90)).collect();
        assert_eq!(tally_of(&cells, 256, 256, 96), [(code, 1)]);
    }

    #[test]
    fn what_goes_around_the_torus_is_no_object() {
        let line: Vec<_> = (0..16).flat_map(|x| [(x, 4), (x, 5)]).collect();
        assert_eq!(tally_of(&line, 16, 12, 1), [(UNKNOWN.to_owned(), 1)]);
    }
}
