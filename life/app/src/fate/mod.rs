//! What a pattern on the unbounded plane becomes: objects at rest, spaceships that have escaped, and fronts
//! such as guns and puffers.
//!
//! # Design
//!
//! A look at a pattern divides it into groups of cells without common neighbours (`bodies`). The pattern is known for
//! all times if each group repeats itself, and no two groups ever have a common neighbour. The latter is proved by the
//! groups' extents and velocities (`hull`). A spaceship has escaped if this is proved for it and every other group. If
//! some cells belong to no body, and the same cells were there in an earlier look, they may be a front (`front`).
//!
//! A result is never a guess. There may be patterns that are stable in this sense but have no such proof, for example
//! because a spaceship flies through a gap between two objects. A later look usually proves it.
//!
//! The rule may be any that counts neighbours, if dead cells without live neighbours stay dead.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::RangeInclusive;

use bodies::{Body, Groups, Motions};
use front::Front;
use hull::Vector;
use life::Rule;
use life::plane::{Plane, PlaneError};
pub use report::Outcome;

use crate::objects::Counts;

mod bodies;
mod front;
mod hull;
mod report;
#[cfg(test)]
pub mod tests;

/// The minimum number of generations between two looks.
const INTERVAL: u64 = 120;

/// A pattern may have this many live cells per [`INTERVAL`] generations from one look to the next.
const CELLS: u64 = 4096;

/// Returns the least common multiple of two numbers above 0.
fn lcm(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}

/// The parts of a pattern, which develop independently of each other for ever.
#[derive(Debug)]
pub struct Fate {
    rule: Counts,
    /// The generation of the pattern in which the parts have the positions of the other fields.
    generation: u64,
    rest: Vec<Body>,
    ships: Vec<Body>,
    front: Option<Front>,
}

impl Fate {
    /// Returns the period of the front, or of the objects at rest if there is no front.
    pub fn period(&self) -> u64 {
        let of_rest = || self.rest.iter().map(|body| body.period() as u64).fold(1, lcm);
        self.front.as_ref().map_or_else(of_rest, |front| front.period)
    }

    /// Returns true if `cells`, the cells of generation `generation` sorted by row and column, are those of the parts.
    /// If there is a front, returns true if its cells are among `cells`.
    pub fn is_in(&self, cells: &[Vector], generation: u64) -> bool {
        let later = self.later(generation);
        if let Some(front) = &self.front {
            return front.is_in(cells, later);
        }
        let mut expected: Vec<Vector> =
            self.rest.iter().chain(&self.ships).flat_map(|body| body.cells(later)).collect();
        expected.sort_unstable_by_key(|&(x, y)| (y, x));
        expected == cells
    }
}

impl Fate {
    /// Returns true if a part makes more and more bodies.
    pub fn grows(&self) -> bool {
        self.front.as_ref().is_some_and(|front| !front.new.is_empty() || front.shift != (0, 0))
    }

    /// Returns the number of generations from the generation of the bodies' positions to `generation`.
    fn later(&self, generation: u64) -> i64 {
        generation as i64 - self.generation as i64
    }

    /// Describes the parts. `since` is the first generation from which on [`is_in`](Self::is_in) returns true, and
    /// `cells` are the cells of that generation, sorted by row and column.
    pub fn outcome(&self, since: u64, cells: &[Vector]) -> Outcome {
        Outcome::of(self, since, cells)
    }
}

/// Returns a plane with the live `cells` at generation 0.
///
/// # Errors
/// [`PlaneError`] if a cell is outside the plane, or the host has too little memory.
pub fn plane_of(rule: Counts, cells: impl IntoIterator<Item = Vector>) -> Result<Plane, PlaneError> {
    let mut plane = life::plane::dead(&Rule::outer_totalistic(rule.birth, rule.survival), 0);
    for (x, y) in cells {
        plane.set_state(x, y, 1)?;
    }
    Ok(plane)
}

/// Returns the cells of the front, such as a gun or a puffer, that `cells` become. The looks are in the generations
/// `looks`. Returns `None` if it is not known in the last one of them that a front remains and that it grows or moves.
pub fn front_of(rule: Counts, cells: &[(i32, i32)], looks: RangeInclusive<u64>) -> Option<Vec<Vector>> {
    let mut plane = plane_of(rule, cells.iter().map(|&(x, y)| (x.into(), y.into()))).ok()?;
    let mut watch = Watch::new(rule);
    watch.next = *looks.start();
    while watch.next <= *looks.end() {
        plane.advance(watch.next - plane.generation()).ok()?;
        let cells: Vec<Vector> = plane.cells().collect();
        if let Some(fate) = watch.look(&cells, plane.generation()) {
            return fate.front.as_ref().filter(|_| fate.grows()).map(|front| front.cells().to_vec());
        }
    }
    None
}

/// Returns true if no spaceship ever meets another one or an object at rest.
fn all_stay_apart(ships: &[Body], rest: &[Body]) -> bool {
    ships.iter().enumerate().all(|(i, ship)| {
        let meets_no_rest = rest.iter().all(|body| ship.hull().stays_apart(body.hull(), &[ship.motion.moved]));
        meets_no_rest
            && ships[..i].iter().all(|other| {
                // The displacement of one relative to the other in the product of their periods.
                let ((dx, dy), (other_dx, other_dy)) = (ship.motion.moved, other.motion.moved);
                let (period, other_period) = (ship.period(), other.period());
                let drift = (dx * other_period - other_dx * period, dy * other_period - other_dy * period);
                ship.hull().stays_apart(other.hull(), &[drift])
            })
    })
}

/// Looks at a pattern from time to time.
pub struct Watch {
    motions: Motions,
    /// For each hash of the cells that belong to no body: the newest generation in which they were there, and the
    /// position of the first one.
    seen: HashMap<u64, (u64, Vector)>,
    /// The generation of the next look.
    pub next: u64,
}

/// The maximum number of hashes of a [`Watch`].
const MAX_SEEN: usize = 1 << 16;

impl Watch {
    /// Returns a watch that has not seen a pattern yet.
    pub fn new(rule: Counts) -> Self {
        Self { motions: Motions::new(rule), seen: HashMap::new(), next: 0 }
    }

    /// Looks at `cells`, the cells of generation `generation` sorted by row and column. Returns what they become if
    /// that is known, unless all cells together are periodic.
    pub fn look(&mut self, cells: &[Vector], generation: u64) -> Option<Fate> {
        self.next = generation + INTERVAL * (1 + cells.len() as u64 / CELLS);
        let (rule, groups) = (self.motions.rule, self.motions.groups(cells));
        if groups.others.is_empty() {
            let Groups { rest, ships, .. } = groups;
            let velocity = |ship: &Body| (ship.motion.moved, ship.period());
            let is_periodic =
                ships.is_empty() || rest.is_empty() && ships.iter().all(|ship| velocity(ship) == velocity(&ships[0]));
            let is_known = !is_periodic && all_stay_apart(&ships, &rest);
            return is_known.then_some(Fate { rule, generation, rest, ships, front: None });
        }
        let first = *groups.others.iter().min_by_key(|cell| (cell.1, cell.0))?;
        let mut hasher = DefaultHasher::new();
        let mut shape: Vec<Vector> = groups.others.iter().map(|cell| (cell.0 - first.0, cell.1 - first.1)).collect();
        shape.sort_unstable();
        shape.hash(&mut hasher);
        if self.seen.len() >= MAX_SEEN {
            self.seen.clear();
        }
        let (before, there) = self.seen.insert(hasher.finish(), (generation, first))?;
        let shift = (first.0 - there.0, first.1 - there.1);
        let (front, Groups { rest, ships, .. }) = Front::find(&mut self.motions, groups, generation - before, shift)?;
        Some(Fate { rule, generation, rest, ships, front: Some(front) })
    }
}
