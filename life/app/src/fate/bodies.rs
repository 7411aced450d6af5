//! Divides a pattern into groups of cells, and finds out how each group would develop without the others.

use std::collections::HashMap;
use std::rc::Rc;

use super::hull::{Hull, Vector};
use crate::objects::{CellSet, Counts};

/// The maximum number of cells, summed over all generations, that are computed to find the period of a group.
const MAX_WORK: usize = 8_000;

/// The maximum side length of a group, in cells. A larger group is not examined.
const MAX_SIDE: i64 = 1000;

/// The generations of one period of a group of cells that repeats itself, maybe in another place.
#[derive(Debug)]
pub struct Motion {
    /// The cells of each generation, and the position of their upper left corner relative to the first generation.
    phases: Vec<(CellSet, Vector)>,
    /// The displacement in a period.
    pub moved: Vector,
    /// The extent of the cells in all generations, relative to a point that moves with the group's mean velocity.
    hull: Hull,
}

impl Motion {
    fn of(rule: Counts, cells: &CellSet) -> Option<Self> {
        let mut phases = vec![(cells.clone(), (0, 0))];
        let mut work = 0;
        loop {
            let (now, at) = phases.last()?;
            work += now.cells().len();
            let (next, by) = now.next_under(rule);
            let at = (at.0 + i64::from(by.0), at.1 + i64::from(by.1));
            if next == *cells {
                let hull =
                    phases.iter().map(|(cells, at)| Hull::of(on_plane(cells, *at))).fold(Hull::EMPTY, Hull::with);
                // In the middle of a period, the moving point is ahead of its position at the beginning of the period.
                return Some(Self { phases, moved: at, hull: hull.with(hull.moved((-at.0, -at.1))) });
            }
            if next.cells().is_empty() || work > MAX_WORK {
                return None;
            }
            phases.push((next, at));
        }
    }
}

fn on_plane(cells: &CellSet, at: Vector) -> impl Iterator<Item = Vector> {
    cells.cells().iter().map(move |&(x, y)| (at.0 + i64::from(x), at.1 + i64::from(y)))
}

/// A group of cells that repeats itself: an object, or several that are near each other.
#[derive(Clone, Debug)]
pub struct Body {
    pub motion: Rc<Motion>,
    /// The position of the upper left corner.
    at: Vector,
}

impl Body {
    /// Returns the period in generations.
    pub fn period(&self) -> i64 {
        self.motion.phases.len() as i64
    }

    /// Returns true if the body moves.
    pub fn is_ship(&self) -> bool {
        self.motion.moved != (0, 0)
    }

    /// Returns the extent of the body's cells in all generations, relative to a point that moves with the mean velocity
    /// and is now at (0, 0).
    pub fn hull(&self) -> Hull {
        self.motion.hull.moved(self.at)
    }

    /// Returns the extent after `generations` generations of this body, whose extent is `hull` now.
    pub fn hull_after(&self, hull: Hull, generations: i64) -> Hull {
        let before = hull.moved(self.moved_after(generations));
        if generations % self.period() == 0 { before } else { before.with(before.moved(self.motion.moved)) }
    }

    /// Returns the displacement after `generations` generations, rounded down to a multiple of the
    /// period.
    pub fn moved_after(&self, generations: i64) -> Vector {
        let periods = generations / self.period();
        (self.motion.moved.0 * periods, self.motion.moved.1 * periods)
    }

    /// Returns the cells of the first generation, without their position.
    pub fn shape(&self) -> &CellSet {
        &self.motion.phases[0].0
    }

    /// Returns the cells `generations` generations later, or earlier if the number is negative.
    pub fn cells(&self, generations: i64) -> impl Iterator<Item = Vector> {
        let (periods, phase) = (generations.div_euclid(self.period()), generations.rem_euclid(self.period()));
        let (cells, (x, y)) = &self.motion.phases[phase as usize];
        let (dx, dy) = self.motion.moved;
        on_plane(cells, (self.at.0 + periods * dx + x, self.at.1 + periods * dy + y))
    }
}

/// The groups of a pattern.
#[derive(Default)]
pub struct Groups {
    /// The groups that repeat themselves in the same place.
    pub rest: Vec<Body>,
    /// The groups that move.
    pub ships: Vec<Body>,
    /// The cells of all other groups.
    pub others: Vec<Vector>,
}

/// Finds the motions of groups under a rule, and keeps them.
pub struct Motions {
    pub rule: Counts,
    known: HashMap<CellSet, Rc<Motion>>,
}

impl Motions {
    /// Returns no motions.
    pub fn new(rule: Counts) -> Self {
        Self { rule, known: HashMap::new() }
    }

    /// Divides `cells`, sorted by row and column, into groups. Cells of two groups have no common neighbour.
    pub fn groups(&mut self, cells: &[Vector]) -> Groups {
        let mut groups = Groups::default();
        for cells in components(cells) {
            match self.body(&cells) {
                Some(body) if body.is_ship() => groups.ships.push(body),
                Some(body) => groups.rest.push(body),
                None => groups.others.extend(cells),
            }
        }
        while self.join_oscillators(&mut groups) {}
        groups
    }

    /// Returns the body with these cells, or `None` if they do not repeat themselves.
    fn body(&mut self, cells: &[Vector]) -> Option<Body> {
        let &(x, y) = cells.first()?;
        let is_small = |value: i64| value.abs() <= MAX_SIDE;
        if cells.iter().any(|cell| !is_small(cell.0 - x) || !is_small(cell.1 - y)) {
            return None;
        }
        let (set, corner) = CellSet::new(cells.iter().map(|cell| ((cell.0 - x) as i32, (cell.1 - y) as i32)).collect());
        let motion = match self.known.get(&set) {
            Some(motion) => Rc::clone(motion),
            None => {
                let motion = Rc::new(Motion::of(self.rule, &set)?);
                self.known.insert(set, Rc::clone(&motion));
                motion
            }
        };
        Some(Body { motion, at: (x + i64::from(corner.0), y + i64::from(corner.1)) })
    }

    /// Joins bodies at rest that are apart now but may not be in other generations of their periods. Returns true if
    /// there are such bodies. Joined ones have a larger extent, so that they may have to be joined with others.
    fn join_oscillators(&mut self, groups: &mut Groups) -> bool {
        let mut hulls: Vec<(Hull, usize)> = groups.rest.iter().map(Body::hull).zip(0..).collect();
        hulls.sort_unstable_by_key(|(hull, _)| hull.first_column());
        let mut sets: Vec<usize> = (0..groups.rest.len()).collect();
        let widest = hulls.iter().map(|(hull, _)| hull.columns()).max().unwrap_or(0);
        for (i, &(hull, a)) in hulls.iter().enumerate() {
            let is_near = |other: Hull| other.first_column() - hull.first_column() <= widest + 2;
            for &(other, b) in hulls[i + 1..].iter().take_while(|&&(other, _)| is_near(other)) {
                let are_still = groups.rest[a].period() == 1 && groups.rest[b].period() == 1;
                if !are_still && !hull.stays_apart(other, &[]) {
                    let (a, b) = (find(&mut sets, a), find(&mut sets, b));
                    sets[a.max(b)] = a.min(b);
                }
            }
        }
        if sets.iter().enumerate().all(|(number, &root)| number == root) {
            return false;
        }
        let mut joined: Vec<Vec<Body>> = Vec::new();
        joined.resize_with(groups.rest.len(), Vec::new);
        for (number, body) in std::mem::take(&mut groups.rest).into_iter().enumerate() {
            joined[find(&mut sets, number)].push(body);
        }
        for mut bodies in joined {
            if bodies.len() > 1 {
                let cells: Vec<Vector> = bodies.iter().flat_map(|body| body.cells(0)).collect();
                match self.body(&cells).filter(|body| !body.is_ship()) {
                    Some(body) => bodies = vec![body],
                    None => {
                        groups.others.extend(cells);
                        continue;
                    }
                }
            }
            groups.rest.append(&mut bodies);
        }
        true
    }
}

/// Divides `cells`, sorted by row and column, into the groups that [`Motions::groups`] describes.
pub fn components(cells: &[Vector]) -> Vec<Vec<Vector>> {
    let mut sets: Vec<usize> = (0..cells.len()).collect();
    let row = |y: i64| {
        let begin = cells.partition_point(|cell| cell.1 < y);
        begin..begin + cells[begin..].partition_point(|cell| cell.1 == y)
    };
    let mut y_before = None;
    let mut rows_above = [0..0, 0..0];
    for (i, &(x, y)) in cells.iter().enumerate() {
        if y_before != Some(y) {
            y_before = Some(y);
            rows_above = [row(y - 2), row(y - 1)];
        }
        let left = i.checked_sub(1).filter(|&left| cells[left].1 == y && x - cells[left].0 <= 2);
        let above = rows_above.iter().flat_map(|row| {
            let begin = row.start + cells[row.clone()].partition_point(|cell| cell.0 < x - 2);
            (begin..row.end).take_while(|&above| cells[above].0 <= x + 2)
        });
        for near in left.into_iter().chain(above) {
            let (a, b) = (find(&mut sets, i), find(&mut sets, near));
            sets[a.max(b)] = a.min(b);
        }
    }
    // The smallest cell of a group is its root.
    let mut groups: Vec<Vec<Vector>> = Vec::new();
    let mut group_of = vec![0; cells.len()];
    for (i, &cell) in cells.iter().enumerate() {
        let root = find(&mut sets, i);
        if root == i {
            group_of[i] = groups.len();
            groups.push(Vec::new());
        }
        groups[group_of[root]].push(cell);
    }
    groups
}

/// Returns the root of the set of `cell`, and makes the path to it shorter.
fn find(sets: &mut [usize], mut cell: usize) -> usize {
    while sets[cell] != cell {
        sets[cell] = sets[sets[cell]];
        cell = sets[cell];
    }
    cell
}
