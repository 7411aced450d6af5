//! Fronts: guns, puffers and rakes.
//!
//! # Design
//!
//! A front is a set of cells that is the same after a period, in the same place or displaced by a vector D. In addition
//! there are new bodies after a period: spaceships, and objects that stay. [`Front::find`] proves that this goes on for
//! ever. It advances the front without the other bodies for a span: a multiple of the period and of the periods of all
//! bodies. A new body is a part of the front until it is separate. By [`Hull::stays_apart`], the following pairs never
//! have a common neighbour, so that the front of each span and each body are alone:
//!
//! - the front, and a body that is there at the beginning of a span,
//! - two bodies that are there at the beginning of the first span,
//! - two new bodies of the same span, after the span,
//! - a new body of any span, from when it is separate, and a body that is there at the beginning of that span.

use std::collections::HashSet;

use life::plane::Plane;

use super::bodies::{Body, Groups, Motions};
use super::hull::{Hull, Vector};
use super::{lcm, plane_of};
use crate::divisors::divisors;
use crate::objects::Counts;

/// The maximum length of a span in generations.
const MAX_SPAN: u64 = 10_000;

/// The maximum number of cells, summed over all generations of a span.
const MAX_WORK: usize = 4_000_000;

/// The maximum number of times that bodies near the front are made a part of it.
const MAX_ROUNDS: usize = 12;

/// Cells that are the same after each period, and what they emit and leave.
#[derive(Debug)]
pub struct Front {
    /// The period in generations.
    pub period: u64,
    /// The displacement in a period.
    pub shift: Vector,
    /// A multiple of the period, in generations.
    pub span: u64,
    /// The cells of each generation of a period, sorted by row and column, without bodies that are separate.
    cores: Vec<Vec<Vector>>,
    /// The spaceships and the objects at rest that are new after a span.
    pub new: Vec<Body>,
    /// The minimum number of cells of a generation of a period, without bodies that are separate.
    pub population: usize,
}

fn plus(a: Vector, b: Vector) -> Vector {
    (a.0 + b.0, a.1 + b.1)
}

fn minus(a: Vector, b: Vector) -> Vector {
    (a.0 - b.0, a.1 - b.1)
}

fn sorted(cells: impl IntoIterator<Item = Vector>) -> Vec<Vector> {
    let mut cells: Vec<_> = cells.into_iter().collect();
    cells.sort_unstable_by_key(|&(x, y)| (y, x));
    cells
}

/// Returns true if a position is among `sorted`, positions sorted by row and column.
pub fn contains(sorted: &[Vector], (x, y): Vector) -> bool {
    sorted.binary_search_by_key(&(y, x), |&(x, y)| (y, x)).is_ok()
}

/// The cells of a front in each generation, advanced without other bodies.
struct History {
    plane: Plane,
    /// The cells of each generation so far, sorted by row and column.
    cells: Vec<Vec<Vector>>,
    work: usize,
}

impl History {
    /// Makes a history that begins with `cells`, sorted by row and column.
    fn new(rule: Counts, cells: Vec<Vector>) -> Option<Self> {
        let plane = plane_of(rule, cells.iter().copied()).ok()?;
        Some(Self { plane, cells: vec![cells], work: 0 })
    }

    /// Advances the front to generation `generation`. Returns the cells of that generation, or `None` if the cells of
    /// all generations are too many.
    fn at(&mut self, generation: u64) -> Option<&[Vector]> {
        while (self.cells.len() as u64) <= generation {
            self.plane.advance(1).ok()?;
            let now: Vec<Vector> = self.plane.cells().collect();
            self.work += now.len();
            if self.work > MAX_WORK {
                return None;
            }
            self.cells.push(now);
        }
        self.cells.get(generation as usize).map(Vec::as_slice)
    }
}

impl Front {
    /// Searches for a front that is the same after `multiple` generations but displaced by `shift`. `groups` are the
    /// groups of a pattern, whose other cells belong to the front. Bodies near the front become a part of it. Returns
    /// the front, and the groups without the front. Returns `None` if there is no proof.
    pub fn find(motions: &mut Motions, groups: Groups, multiple: u64, shift: Vector) -> Option<(Self, Groups)> {
        let Groups { mut rest, mut ships, others: mut front } = groups;
        // Most spaceships that a front emits have the period 4.
        let mut common = rest.iter().chain(&ships).map(|body| body.period() as u64).fold(4, lcm);
        for _ in 0..MAX_ROUNDS {
            let cells = sorted(front.iter().copied());
            let (period, span, history) = Self::period(motions.rule, &cells, (multiple, shift), common)?;
            let part = |side: i64, generations: u64| side * generations as i64 / multiple as i64;
            let moved = (part(shift.0, span), part(shift.1, span));
            let now = sorted(cells.iter().map(|&cell| plus(cell, moved)));
            let new: Vec<Vector> = history.last()?.iter().copied().filter(|&cell| !contains(&now, cell)).collect();
            let new = motions.groups(&new);
            let before = front.len();
            if !new.others.is_empty() {
                // The front may need an object at rest, such as the blocks that turn the queen bees of a gun.
                let hull = Hull::of(history[..period as usize].iter().flatten().copied());
                move_bodies(&mut rest, &mut front, |body| !body.hull().stays_apart(hull, &[]));
                if front.len() > before {
                    continue;
                }
                return None;
            }
            let new: Vec<Body> = new.ships.into_iter().chain(new.rest).collect();
            common = new.iter().map(|body| body.period() as u64).fold(common, lcm);
            if !span.is_multiple_of(common) {
                continue;
            }
            let since: Vec<u64> = new.iter().map(|body| separate_since(&history, body)).collect();
            if since.iter().any(|&since| since > span) {
                return None;
            }
            let mut cores = cores(&history, &new, &since);
            let hull = Hull::of(cores.iter().flatten().copied());
            let hull = hull.with(hull.moved(minus((0, 0), moved)));
            let of = |body: &Body| body.moved_after(span as i64);
            let meets_front = |body: &Body, at: Hull| !at.stays_apart(hull, &[minus(of(body), moved)]);
            for bodies in [&mut rest, &mut ships] {
                move_bodies(bodies, &mut front, |body| meets_front(body, body.hull()));
            }
            if front.len() > before {
                continue;
            }
            // The bodies at the beginning of a span, and their extents then, if the front is at its first position.
            let old = rest.iter().chain(&ships).map(|body| (body, body.hull()));
            let from_new = new.iter().map(|body| (body, body.hull().moved(minus((0, 0), moved))));
            let present: Vec<(&Body, Hull)> = old.chain(from_new).collect();
            let is_alone = |(i, body): (usize, &Body)| {
                let early = body.hull().moved(minus((0, 0), body.moved_after((span - since[i]) as i64)));
                let meets_present = present.iter().any(|&(other, at)| {
                    let drifts = [minus(of(body), of(other)), minus(moved, of(other))];
                    !early.stays_apart(other.hull_after(at, since[i] as i64), &drifts)
                });
                !meets_present
                    && new[..i].iter().all(|other| body.hull().stays_apart(other.hull(), &[minus(of(body), of(other))]))
            };
            let is_proved = super::all_stay_apart(&ships, &rest)
                && present.iter().all(|&(body, at)| !meets_front(body, at))
                && new.iter().enumerate().all(is_alone);
            if !is_proved {
                return None;
            }
            cores.truncate(period as usize);
            let population = cores.iter().map(Vec::len).min().unwrap_or(0);
            let shift = (part(shift.0, period), part(shift.1, period));
            let front = Self { period, shift, span, cores, new, population };
            return Some((front, Groups { rest, ships, others: Vec::new() }));
        }
        None
    }

    /// Returns the smallest period of the front `cells` among the divisors of `multiple`, a span that is a multiple of
    /// `common`, and the generations of the span.
    fn period(
        rule: Counts,
        cells: &[Vector],
        (multiple, shift): (u64, Vector),
        common: u64,
    ) -> Option<(u64, u64, Vec<Vec<Vector>>)> {
        if multiple > MAX_SPAN || common > MAX_SPAN || lcm(multiple, common) > MAX_SPAN {
            return None;
        }
        let mut history = History::new(rule, cells.to_vec())?;
        for period in divisors(multiple) {
            let part = |side: i64| {
                let product = side * period as i64;
                (product % multiple as i64 == 0).then_some(product / multiple as i64)
            };
            let (Some(x), Some(y)) = (part(shift.0), part(shift.1)) else { continue };
            let later = history.at(period)?;
            if cells.iter().all(|&cell| contains(later, plus(cell, (x, y)))) {
                let span = lcm(period, common);
                history.at(span)?;
                history.cells.truncate(span as usize + 1);
                return Some((period, span, history.cells));
            }
        }
        None
    }

    /// Returns the cells at the beginning of a span, without bodies that are separate.
    pub fn cells(&self) -> &[Vector] {
        &self.cores[0]
    }

    /// Returns true if the cells of the front are alive in `cells`, sorted by row and column, `generations` generations
    /// after the beginning of a span, or before if the number is negative.
    pub fn is_in(&self, cells: &[Vector], generations: i64) -> bool {
        let period = self.period as i64;
        let (periods, phase) = (generations.div_euclid(period), generations.rem_euclid(period));
        let by = (self.shift.0 * periods, self.shift.1 * periods);
        self.cores[phase as usize].iter().all(|&cell| contains(cells, plus(cell, by)))
    }
}

/// Moves the cells of those `bodies` for which `is_moved` returns true to the front.
fn move_bodies(bodies: &mut Vec<Body>, front: &mut Vec<Vector>, is_moved: impl Fn(&Body) -> bool) {
    bodies.retain(|body| {
        let is_moved = is_moved(body);
        if is_moved {
            front.extend(body.cells(0));
        }
        !is_moved
    });
}

/// Returns the generation from which on `new`, a body of the last generation, is separate: alone in its bounding box
/// and two cells around it. The generation is a multiple of the body's period before the last one. Returns the
/// generation after the last one if the body is not separate then.
fn separate_since(history: &[Vec<Vector>], new: &Body) -> u64 {
    let last = history.len() as i64 - 1;
    let is_separate = |generation: i64| {
        let now = &history[generation as usize];
        let own: Vec<Vector> = new.cells(generation - last).collect();
        let side =
            |of: fn(&Vector) -> i64| own.iter().map(of).fold((i64::MAX, i64::MIN), |(a, b), x| (a.min(x), b.max(x)));
        let ((left, right), (top, bottom)) = (side(|cell| cell.0), side(|cell| cell.1));
        let before = |x: i64, y: i64| now.partition_point(|cell| (cell.1, cell.0) < (y, x));
        let near = (top - 2..=bottom + 2).map(|y| before(right + 3, y) - before(left - 2, y)).sum::<usize>();
        near == own.len() && own.iter().all(|&cell| contains(now, cell))
    };
    match (0..=last).rev().take_while(|&generation| is_separate(generation)).last() {
        Some(since) => (last - (last - since) / new.period() * new.period()) as u64,
        None => last as u64 + 1,
    }
}

/// Returns the cells of all generations, without those of the `new` bodies from the generations of `since` on.
fn cores(history: &[Vec<Vector>], new: &[Body], since: &[u64]) -> Vec<Vec<Vector>> {
    let last = history.len() as i64 - 1;
    let core = |(cells, generation): (&Vec<Vector>, u64)| {
        let separate = new.iter().zip(since).filter(|&(_, &since)| since <= generation);
        let separate: HashSet<Vector> = separate.flat_map(|(body, _)| body.cells(generation as i64 - last)).collect();
        cells.iter().copied().filter(|cell| !separate.contains(cell)).collect()
    };
    history.iter().zip(0..).map(core).collect()
}
