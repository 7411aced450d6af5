//! Spaceships that leave the window.

use cuda_std::{Global, warp};

use super::patch::in_corner;

/// The number of words of a spaceship in the list of a launch: eight rows of eight cells, and the velocity.
pub const SHIP_WORDS: usize = 3;

/// The number of columns, and of rows, of the largest spaceship in the list.
const SHIP_SIDE: i32 = 8;

/// The number that [`velocity`] adds to each component, so that it is not negative.
const VELOCITY_BIAS: i32 = 8;

/// The number of columns, and of rows, of a spaceship that flies diagonally: the glider.
const GLIDER_SIDE: i32 = 3;

/// The largest distance, in columns or rows, at which two objects may affect each other in a generation.
const REACH: i32 = 2;

/// Returns the third word of a spaceship in the list. `x` and `y` are the velocity in cells per four generations, to
/// the right and down, from −2 to 2.
pub const fn velocity(x: i32, y: i32) -> u32 {
    ((x + VELOCITY_BIAS) | (y + VELOCITY_BIAS) << 4) as u32
}

/// Returns the velocity of the spaceship `cells`, or `None` if it is not in `ships`. `sides` are the sides of its
/// bounding box in the patch.
#[inline(always)]
pub(super) fn velocity_of(ships: Global<u32>, cells: u32, sides: [i32; 4]) -> Option<[i32; 2]> {
    let [left, top, right, bottom] = sides;
    if right - left >= SHIP_SIDE || bottom - top >= SHIP_SIDE {
        return None;
    }
    let (row, lane) = (in_corner(cells, sides), warp::lane_id());
    let byte = |first: u32| if lane.wrapping_sub(first) < 4 { row << (8 * (lane - first)) } else { 0 };
    let upper = warp::reduce_or(warp::FULL_MASK, byte(0));
    let lower = warp::reduce_or(warp::FULL_MASK, byte(4));
    let count = (ships.len() / SHIP_WORDS) as u32;
    let mut first = 0;
    while first < count {
        let at = (first + lane) as usize * SHIP_WORDS;
        let is_same = first + lane < count && ships.load(at) == upper && ships.load(at + 1) == lower;
        let found = warp::ballot(warp::FULL_MASK, is_same);
        if found != 0 {
            let packed = ships.load((first + found.trailing_zeros()) as usize * SHIP_WORDS + 2) as i32;
            return Some([(packed & 15) - VELOCITY_BIAS, (packed >> 4) - VELOCITY_BIAS]);
        }
        first += warp::SIZE;
    }
    None
}

/// Returns the number of columns, and of rows, of the largest spaceship in the list with this velocity.
#[inline(always)]
fn side_of(velocity: [i32; 2]) -> i32 {
    if velocity[0] != 0 && velocity[1] != 0 { GLIDER_SIDE } else { SHIP_SIDE }
}

/// A spaceship that has left the window. Each lane remembers one.
#[derive(Clone, Copy)]
pub(super) struct Departed {
    /// The number of spaceships that have left; lanes below this number have one.
    pub(super) count: u32,
    /// The column and the row of the upper left corner in quarters of a cell, in generation `generation`.
    at: [i32; 2],
    velocity: [i32; 2],
    generation: i32,
}

impl Departed {
    pub(super) const NONE: Self = Self { count: 0, at: [0; 2], velocity: [0; 2], generation: 0 };

    /// Returns true if a spaceship of the window, whose upper left corner is at `corner`, may meet one of these.
    #[inline(always)]
    pub(super) fn meets(&self, corner: [i32; 2], velocity: [i32; 2], generation: u32) -> bool {
        let passed = generation as i32 - self.generation;
        // The corners may be up to one cell from the line through the corners in other phases.
        let reach = 4 * (side_of(self.velocity).max(side_of(velocity)) + REACH + 1);
        // The times, in twelfths of a generation from now, during which the two are close to each other.
        let (mut first, mut last) = (0, i32::MAX);
        for axis in 0..2 {
            let apart = self.at[axis] + self.velocity[axis] * passed - 4 * corner[axis];
            let speed = self.velocity[axis] - velocity[axis];
            if speed == 0 {
                if apart.abs() > reach {
                    last = i32::MIN;
                }
            } else {
                // The digit of 12 / |speed|.
                let twelfths = 0x346c >> (4 * (speed.abs() - 1)) & 15;
                let apart = if speed < 0 { -apart } else { apart };
                first = first.max((-reach - apart) * twelfths);
                last = last.min((reach - apart) * twelfths);
            }
        }
        warp::any(warp::FULL_MASK, warp::lane_id() < self.count && first <= last)
    }

    /// Moves all spaceships by a number of columns and rows.
    #[inline(always)]
    pub(super) fn move_by(&mut self, [x, y]: [i32; 2]) {
        self.at = [self.at[0] + 4 * x, self.at[1] + 4 * y];
    }

    /// Adds a spaceship, which meets none of the others. Returns false if there are too many.
    #[inline(always)]
    pub(super) fn add(&mut self, corner: [i32; 2], velocity: [i32; 2], generation: u32) -> bool {
        if self.count == warp::SIZE {
            return false;
        }
        if warp::lane_id() == self.count {
            *self = Self { count: self.count, at: corner.map(|at| 4 * at), velocity, generation: generation as i32 };
        }
        self.count += 1;
        true
    }

    /// Returns true if an object in the window may come into the reach of one of these spaceships within the next `tick`
    /// generations. The sides of the object are left, top, right and bottom.
    #[inline(always)]
    pub(super) fn may_meet(&self, sides: [i32; 4], generation: u32, tick: i32) -> bool {
        let passed = generation as i32 - self.generation;
        let side = side_of(self.velocity);
        // The spaceship flies at most half a cell per generation.
        let (flown, mut apart) = (tick / 2, i32::MIN);
        for axis in 0..2 {
            let velocity = self.velocity[axis];
            let first = (self.at[axis] + velocity * passed) >> 2;
            let (approach_after, approach_before) =
                (if velocity > 0 { flown } else { 0 }, if velocity < 0 { flown } else { 0 });
            apart = apart.max(sides[axis] - (first + side - 1) - approach_after);
            apart = apart.max(first - sides[axis + 2] - approach_before);
        }
        // The object grows by at most one cell per generation. The spaceship may be one cell from the line.
        let is_near = warp::lane_id() < self.count && apart <= REACH + tick + 1;
        warp::any(warp::FULL_MASK, is_near)
    }
}
