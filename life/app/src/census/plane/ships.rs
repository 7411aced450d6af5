//! Spaceships that leave the part of the plane that is computed.
//!
//! # Design
//!
//! A board is a window of the plane. Its rim is the outermost part of it, and the rest is its inner part. A cluster in
//! the rim must be a spaceship that moves away from the inner part. The spaceship is removed when it is [`DEPTH`] cells
//! away from the inner part. Any other cluster in the rim ends the run, which begins again on a larger board.
//!
//! The removal changes nothing that is computed later. A removed spaceship never comes nearer to the inner part. Any
//! other cells that could meet it must first cross `DEPTH` cells of the rim, which takes longer than the 8 generations
//! after which the rim is checked again. If such cells are spaceships, their paths are compared with the paths of all
//! removed spaceships: from now on, the two must stay apart at all times.

use std::collections::HashMap;
use std::sync::Arc;

use super::cluster::Columns;
use crate::objects::{CellSet, Counts, Phase, identify_under, is_spaceship, phases};

/// The distance from the inner part at which a spaceship is removed, in cells. It is greater than the number of
/// generations between two checks of the rim, by enough for two cells that must not have a common neighbour.
const DEPTH: i64 = 12;

/// The minimum distance of a cluster from the border of the board, in cells. In the 8 generations until the next check,
/// no cell reaches the border.
const MIN_MARGIN: i64 = 10;

/// The maximum number of cells of a cluster that may be a spaceship.
const MAX_CELLS: usize = 2000;

/// A kind of spaceship, or several that travel together.
#[derive(Debug)]
struct Kind {
    codes: Vec<String>,
    period: i64,
    /// The columns to the right and the rows down by which the cells move in a period.
    moved: (i32, i32),
    /// The first and the last column, and the first and the last row, that are alive in a period, relative to the
    /// position of the first cells.
    columns: (i32, i32),
    rows: (i32, i32),
    /// The cells in each generation of a period, relative to the position of the first ones.
    phases: Vec<Phase>,
}

/// Returns the first and the last column, and the first and the last row, of a phase.
fn area((cells, (x, y)): &Phase) -> [(i32, i32); 2] {
    let (width, height) = cells.size();
    [(*x, x + width - 1), (*y, y + height - 1)]
}

impl Kind {
    fn of(rule: Counts, cells: &CellSet) -> Option<Self> {
        let (phases, moved) = phases(rule, cells)?;
        let codes = identify_under(rule, cells)?;
        if moved == (0, 0) || codes.iter().any(|code| !is_spaceship(code)) {
            return None;
        }
        let [columns, rows] = [0, 1].map(|side| {
            let of = phases.iter().map(|phase| area(phase)[side]);
            of.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1))).unwrap_or((0, 0))
        });
        Some(Self { codes, period: phases.len() as i64, moved, columns, rows, phases })
    }
}

/// The path of a spaceship: the area that it covers in its first period, and its velocity. Numbers are cells and cells
/// per generation.
#[derive(Clone, Debug)]
struct Path {
    kind: Arc<Kind>,
    /// The position of the cells in `generation`.
    at: (i64, i64),
    columns: (f64, f64),
    rows: (f64, f64),
    velocity: (f64, f64),
    generation: u64,
}

/// The minimum distance of two spaceships, in cells.
const APART: f64 = 3.0;

/// The maximum time for which two spaceships that are near each other are followed, in generations. After it, they are
/// assumed to meet.
const MAX_MEETING: f64 = 10_000.0;

impl Path {
    fn of(kind: &Arc<Kind>, (left, top): (i64, i64), generation: u64) -> Self {
        // Within a period a spaceship may lag behind its mean position by the distance of a period.
        let side = |(first, last): (i32, i32), at: i64, moved: i32| {
            let (first, last) = ((at + i64::from(first)) as f64, (at + i64::from(last)) as f64);
            let lag = f64::from(moved.abs());
            (first - lag, last + lag)
        };
        let (dx, dy) = kind.moved;
        let period = kind.period as f64;
        let velocity = (f64::from(dx) / period, f64::from(dy) / period);
        let (columns, rows) = (side(kind.columns, left, dx), side(kind.rows, top, dy));
        Self { kind: Arc::clone(kind), at: (left, top), columns, rows, velocity, generation }
    }

    /// Returns true if the two spaceships change each other in `generation` or later.
    fn meets(&self, other: &Self, rule: Counts, generation: u64) -> bool {
        let Some((from, until)) = self.may_meet(other, generation) else { return false };
        // Spaceships of the same velocity repeat their distance after this time.
        let periods = (self.kind.period * other.kind.period) as f64;
        let time = if until.is_finite() { until - from } else { periods };
        if time > MAX_MEETING {
            return true;
        }
        let first = generation + from as u64;
        let both = |generation: u64| CellSet::new([self.cells(generation), other.cells(generation)].concat());
        let (mut now, mut at) = both(first);
        (first + 1..first + time as u64 + 2).any(|generation| {
            let (next, by) = now.next_under(rule);
            (now, at) = (next, (at.0 + by.0, at.1 + by.1));
            let (expected, place) = both(generation);
            (&now, at) != (&expected, place)
        })
    }

    /// Returns the cells in a generation, as (column, row).
    fn cells(&self, generation: u64) -> Vec<(i32, i32)> {
        let since = generation.saturating_sub(self.generation) as i64;
        let (periods, phase) = (since / self.kind.period, since % self.kind.period);
        let (cells, at) = &self.kind.phases[phase as usize];
        let side = |first: i64, moved: i32, at: i32| (first + periods * i64::from(moved)) as i32 + at;
        let (dx, dy) = self.kind.moved;
        let (left, top) = (side(self.at.0, dx, at.0), side(self.at.1, dy, at.1));
        cells.cells().iter().map(|(x, y)| (x + left, y + top)).collect()
    }

    /// Returns the first and the last time, in generations after `generation`, at which the two spaceships might be
    /// near to each other. Returns `None` if they never are.
    fn may_meet(&self, other: &Self, generation: u64) -> Option<(f64, f64)> {
        // The intersection of the times at which both the columns and the rows are near, counted from `generation`.
        let (mut from, mut until) = (0.0_f64, f64::INFINITY);
        let at = |path: &Self, (first, last): (f64, f64), velocity: f64| {
            let by = velocity * generation.saturating_sub(path.generation) as f64;
            (first + by, last + by)
        };
        for (a, b, va, vb) in [
            (self.columns, other.columns, self.velocity.0, other.velocity.0),
            (self.rows, other.rows, self.velocity.1, other.velocity.1),
        ] {
            let (a, b, speed) = (at(self, a, va), at(other, b, vb), va - vb);
            // a.0 + speed·t < b.1 + APART, and a.1 + speed·t > b.0 - APART.
            let (least, most) = (b.0 - APART - a.1, b.1 + APART - a.0);
            if speed == 0.0 {
                if least >= 0.0 || most <= 0.0 {
                    return None;
                }
            } else {
                let (first, last) =
                    if speed > 0.0 { (least / speed, most / speed) } else { (most / speed, least / speed) };
                (from, until) = (from.max(first), until.min(last));
            }
        }
        (from < until).then_some((from, until))
    }
}

/// The reason why a run must begin again on a larger board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TooSmall {
    /// Something other than a spaceship on its way out is in the rim.
    Grows,
    /// Two spaceships on their way out might meet.
    MayMeet,
}

/// The spaceships that have left a board, and the kinds of spaceships found so far.
#[derive(Default)]
pub struct Escaped {
    kinds: HashMap<CellSet, Option<Arc<Kind>>>,
    paths: Vec<Path>,
    /// The apgcodes of the spaceships that were removed from this board.
    pub codes: Vec<String>,
    /// The generation in which the last one was removed.
    pub last: u64,
    scratch: (Columns, Vec<(usize, usize)>),
}

/// The sizes of a board and of its rim: the outermost columns and rows.
#[derive(Clone, Copy)]
pub struct Rim {
    pub size: (usize, usize),
    pub columns: usize,
    pub rows: usize,
}

impl Escaped {
    /// Forgets the spaceships of the last board.
    pub fn clear(&mut self) {
        self.paths.clear();
        self.codes.clear();
        self.last = 0;
    }

    /// Checks the rim of a board whose cells `read` writes. Returns the cells of the spaceships to remove.
    ///
    /// # Errors
    /// [`TooSmall`] if the board is too small.
    pub fn check(
        &mut self,
        rule: Counts,
        rim: Rim,
        generation: u64,
        read: impl FnOnce(&mut Vec<u64>),
    ) -> Result<Vec<(usize, usize)>, TooSmall> {
        let (mut board, mut cluster) = std::mem::take(&mut self.scratch);
        board.height = rim.size.1;
        read(&mut board.words);
        let result = self.removed(rule, rim, generation, &mut board, &mut cluster);
        self.scratch = (board, cluster);
        result
    }

    fn removed(
        &mut self,
        rule: Counts,
        rim: Rim,
        generation: u64,
        board: &mut Columns,
        cluster: &mut Vec<(usize, usize)>,
    ) -> Result<Vec<(usize, usize)>, TooSmall> {
        let (mut removed, mut new) = (Vec::new(), Vec::new());
        let (reach, mut column) = (super::reach(rule), 0);
        while let Some((x, y)) = rim.first_live(board, column) {
            column = x / 64;
            board.take_cluster(x, y, reach, cluster);
            if cluster.len() > MAX_CELLS {
                return Err(TooSmall::Grows);
            }
            let (cells, at) = CellSet::new(cluster.iter().map(|&(x, y)| (x as i32, y as i32)).collect());
            let kind = self.kinds.entry(cells).or_insert_with_key(|cells| Kind::of(rule, cells).map(Arc::new));
            let kind = kind.as_ref().ok_or(TooSmall::Grows)?;
            let at = (i64::from(at.0), i64::from(at.1));
            let path = Path::of(kind, at, generation);
            let mut others = self.paths.iter().chain(new.iter().map(|(path, _)| path));
            if others.any(|other| path.meets(other, rule, generation)) {
                return Err(TooSmall::MayMeet);
            }
            let leaves = rim.depth(kind, at) >= DEPTH;
            if leaves {
                removed.append(cluster);
                self.codes.extend_from_slice(&kind.codes);
                self.last = generation;
            } else if rim.margin(kind, at) < MIN_MARGIN {
                return Err(TooSmall::Grows);
            }
            new.push((path, leaves));
        }
        self.paths.extend(new.into_iter().filter(|(_, leaves)| *leaves).map(|(path, _)| path));
        Ok(removed)
    }
}

impl Rim {
    /// Returns the first live cell in the rim from column 64 · `column` on.
    fn first_live(self, board: &Columns, column: usize) -> Option<(usize, usize)> {
        let (width, height) = self.size;
        let live = |words: &[u64], first: usize| Some(first + words.iter().position(|&word| word != 0)?);
        board.words.chunks_exact(height).enumerate().skip(column).find_map(|(column, words)| {
            let is_outer = 64 * column < self.columns || 64 * column + self.columns >= width;
            let rows = if is_outer { height } else { self.rows };
            let y = live(&words[..rows], 0).or_else(|| live(&words[height - rows..], height - rows))?;
            Some((64 * column + words[y].trailing_zeros() as usize, y))
        })
    }

    /// Returns the distance of a spaceship from the inner part, if it moves away from it. Otherwise the result is
    /// negative.
    fn depth(self, kind: &Kind, (left, top): (i64, i64)) -> i64 {
        let of = |moved: i32, (first, last): (i32, i32), at: i64, rim: usize, side: usize| {
            let (first, last) = (at + i64::from(first), at + i64::from(last));
            let before = if moved <= 0 { rim as i64 - 1 - last } else { -1 };
            let after = if moved >= 0 { first - (side - rim) as i64 } else { -1 };
            before.max(after)
        };
        let (width, height) = self.size;
        let across = of(kind.moved.0, kind.columns, left, self.columns, width);
        across.max(of(kind.moved.1, kind.rows, top, self.rows, height))
    }

    /// Returns the distance of a spaceship from the border of the board.
    fn margin(self, kind: &Kind, (left, top): (i64, i64)) -> i64 {
        let of = |(first, last): (i32, i32), at: i64, side: usize| {
            (at + i64::from(first)).min(side as i64 - 1 - at - i64::from(last))
        };
        of(kind.columns, left, self.size.0).min(of(kind.rows, top, self.size.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GLIDER: [(i32, i32); 5] = [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)];

    fn glider(at: (i64, i64), flip: (bool, bool), generation: u64) -> Path {
        let turn = |(x, y): (i32, i32)| (if flip.0 { 2 - x } else { x }, if flip.1 { 2 - y } else { y });
        let cells = CellSet::new(GLIDER.map(turn).to_vec()).0;
        Path::of(&Arc::new(Kind::of(Counts::LIFE, &cells).unwrap()), at, generation)
    }

    #[test]
    fn paths_that_cross_are_told_from_those_that_do_not() {
        let first = glider((0, 0), (false, false), 0);
        // The glider moves right and down by a cell every four generations.
        assert_eq!((first.velocity, first.columns), ((0.25, 0.25), (-1.0, 4.0)));
        assert!(!first.meets(&glider((20, 0), (false, false), 0), Counts::LIFE, 0));
        assert!(first.meets(&glider((4, 0), (false, false), 0), Counts::LIFE, 0));
        assert!(!first.meets(&glider((5, 0), (false, false), 0), Counts::LIFE, 0));
        // They move towards each other, or away from each other.
        assert!(first.meets(&glider((100, 100), (true, true), 0), Counts::LIFE, 0));
        assert!(!first.meets(&glider((-100, -100), (true, true), 0), Counts::LIFE, 0));
        assert!(!first.meets(&glider((100, 100), (true, true), 0), Counts::LIFE, 1000));
        // Their paths cross, at the same time or at different times.
        assert!(first.meets(&glider((100, 0), (true, false), 0), Counts::LIFE, 0));
        assert!(!first.meets(&glider((100, 50), (true, false), 0), Counts::LIFE, 0));
        assert!(first.meets(&glider((88, 12), (true, false), 48), Counts::LIFE, 48));
    }

    #[test]
    fn only_spaceships_are_let_go() {
        let rim = Rim { size: (512, 512), columns: 64, rows: 40 };
        let check = |cells: &[(usize, usize)]| {
            let write = |words: &mut Vec<u64>| {
                words.resize(8 * 512, 0);
                cells.iter().for_each(|&(x, y)| words[x / 64 * 512 + y] |= 1 << (x % 64));
            };
            let mut escaped = Escaped::default();
            let removed = escaped.check(Counts::LIFE, rim, 0, write)?;
            Ok((removed.len(), escaped.codes))
        };
        let at = |x: usize, y: usize| GLIDER.map(|cell| (x + cell.0 as usize, y + cell.1 as usize)).to_vec();
        assert_eq!(check(&at(200, 200)), Ok((0, vec![])));
        assert_eq!(check(&at(450, 200)), Ok((0, vec![])));
        assert_eq!(check(&at(470, 200)), Ok((5, vec!["xq4_153".to_owned()])));
        assert_eq!(check(&at(200, 490)), Ok((5, vec!["xq4_153".to_owned()])));
        // This glider moves towards the inner part.
        assert_eq!(check(&at(20, 20)), Ok((0, vec![])));
        assert_eq!(check(&at(5, 200)), Err(TooSmall::Grows));
        assert_eq!(check(&[(460, 200), (461, 200), (462, 200)]), Err(TooSmall::Grows));
        let upwards = GLIDER.map(|(x, y)| (470 + x as usize, 232 - y as usize)).to_vec();
        assert_eq!(check(&[at(470, 200), upwards].concat()), Err(TooSmall::MayMeet));
        assert_eq!(check(&[at(470, 200), at(477, 200)].concat()).unwrap().0, 10);
        assert_eq!(check(&[at(470, 200), at(490, 200)].concat()).unwrap().0, 10);
    }
}
