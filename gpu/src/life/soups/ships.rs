//! Spaceships that leave the window.

use cuda_std::{Global, Shared, warp};

use super::patch::{Bounds, Patch, in_corner};
use super::plain::Plain;
use super::{NEAR, SHIFT, STRIP, Soup, TICK, Unfinished, ZONE};

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
#[inline(always)]
pub const fn velocity(x: i32, y: i32) -> u32 {
    ((x + VELOCITY_BIAS) | (y + VELOCITY_BIAS) << 4) as u32
}

/// Returns the components that [`velocity`] has packed.
#[inline(always)]
fn components(packed: i32) -> [i32; 2] {
    [(packed & 15) - VELOCITY_BIAS, (packed >> 4) - VELOCITY_BIAS]
}

/// Returns the velocity of the spaceship `cells`, or zeros if it is not in `ships`. `sides` are the sides of its
/// bounding box in the patch.
#[inline(always)]
pub(super) fn velocity_of(ships: Global<u32>, cells: u32, sides: [i32; 4]) -> [i32; 2] {
    let [left, top, right, bottom] = sides;
    if right - left >= SHIP_SIDE || bottom - top >= SHIP_SIDE {
        return [0; 2];
    }
    let (row, lane) = (in_corner(cells, sides), warp::lane_id());
    let byte = |first: u32| if lane.wrapping_sub(first) < 4 { row << (8 * (lane - first)) } else { 0 };
    let upper = warp::reduce_or(warp::FULL_MASK, byte(0));
    let lower = warp::reduce_or(warp::FULL_MASK, byte(4));
    let mut first = 0;
    while first * SHIP_WORDS < ships.len() {
        let at = (first + lane as usize) * SHIP_WORDS;
        let is_same = at < ships.len() && ships.load(at) == upper && ships.load(at + 1) == lower;
        let found = warp::ballot(warp::FULL_MASK, is_same);
        if found != 0 {
            let packed = ships.load((first + found.trailing_zeros() as usize) * SHIP_WORDS + 2) as i32;
            return components(packed);
        }
        first += warp::SIZE as usize;
    }
    [0; 2]
}

/// Returns the number of columns, and of rows, of the largest spaceship in the list with this velocity.
#[inline(always)]
fn side_of(velocity: [i32; 2]) -> i32 {
    if velocity[0] != 0 && velocity[1] != 0 { GLIDER_SIDE } else { SHIP_SIDE }
}

/// A spaceship that has left the window.
#[derive(Clone, Copy)]
struct Ship {
    /// The column and the row of the upper left corner in quarters of a cell, in generation `generation`.
    at: [i32; 2],
    velocity: [i32; 2],
    generation: i32,
}

impl Ship {
    /// Returns true if the spaceship may meet another one in `generation` or later.
    #[inline(always)]
    fn meets(&self, corner: [i32; 2], velocity: [i32; 2], generation: u32) -> bool {
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
        first <= last
    }

    /// Returns true if the spaceship, after a move by `offset` columns and rows, is on its way out of a window of
    /// `side` columns and rows: within [`STRIP`] cells of an edge that it flies to, or beyond that edge, or beside the
    /// window.
    #[inline(always)]
    fn is_out(&self, offset: [i32; 2], generation: u32, side: i32) -> bool {
        let passed = generation as i32 - self.generation;
        let mut is_out = false;
        #[allow(clippy::needless_range_loop, reason = "an axis of several arrays")]
        for axis in 0..2 {
            let velocity = self.velocity[axis];
            let first = ((self.at[axis] + velocity * passed) >> 2) + offset[axis];
            // The spaceship may be one cell from the line.
            let depth = if velocity == 0 { -REACH - 2 } else { STRIP - 1 };
            is_out |= velocity <= 0 && first + side_of(self.velocity) - 1 < depth;
            is_out |= velocity >= 0 && side - 1 - first < depth;
        }
        is_out
    }

    /// Returns true if an object in the window may come into the reach of the spaceship within the next `tick`
    /// generations. The sides of the object are left, top, right and bottom.
    #[inline(always)]
    fn may_meet(&self, sides: [i32; 4], generation: u32, tick: i32) -> bool {
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
        apart <= REACH + tick + 1
    }
}

/// The spaceships that have left the window. Each lane below `count` has one.
#[derive(Clone, Copy)]
pub(super) struct Departed {
    /// The spaceships of the lanes: column, row, [`velocity`] and generation. They are in shared memory, because a lane
    /// needs its registers for the cells.
    list: Shared<[u32; 4]>,
    count: u32,
}

impl Departed {
    /// The number of words of the memory for the spaceships.
    pub(super) const LEN: usize = 4 * warp::SIZE as usize;

    /// Returns the list without a spaceship. `words` must have [`LEN`](Self::LEN) elements.
    #[inline(always)]
    pub(super) fn new(words: Shared<u32>) -> Self {
        Self { list: words.cast(), count: 0 }
    }

    /// Returns the lane's spaceship, and whether there is one.
    ///
    /// It is no `Option`: ptxas would keep registers for the fields of one without a value.
    #[inline(always)]
    fn of_lane(&self) -> (Ship, bool) {
        let lane = warp::lane_id();
        let words = if lane < self.count { self.list.load(lane as usize) } else { [0; 4] };
        let [x, y, velocity, generation] = words.map(|word| word as i32);
        (Ship { at: [x, y], velocity: components(velocity), generation }, lane < self.count)
    }

    /// Returns true if a spaceship of the window, whose upper left corner is at `corner`, may meet one of these.
    #[inline(always)]
    fn meets(&self, corner: [i32; 2], velocity: [i32; 2], generation: u32) -> bool {
        let (ship, exists) = self.of_lane();
        warp::any(warp::FULL_MASK, exists && ship.meets(corner, velocity, generation))
    }

    /// Returns true if an object in the window may come into the reach of one of these spaceships within the next
    /// `tick` generations. The sides of the object are left, top, right and bottom.
    #[inline(always)]
    fn may_meet(&self, sides: [i32; 4], generation: u32, tick: i32) -> bool {
        let (ship, exists) = self.of_lane();
        warp::any(warp::FULL_MASK, exists && ship.may_meet(sides, generation, tick))
    }

    /// Returns true if all spaceships, after a move by `offset` columns and rows, are on their way out of a window of
    /// `side` columns and rows.
    #[inline(always)]
    fn are_out(&self, offset: [i32; 2], generation: u32, side: i32) -> bool {
        let (ship, exists) = self.of_lane();
        !warp::any(warp::FULL_MASK, exists && !ship.is_out(offset, generation, side))
    }

    /// Moves all spaceships by a number of columns and rows.
    #[inline(always)]
    fn move_by(&self, offset: [i32; 2]) {
        let (ship, exists) = self.of_lane();
        if exists {
            self.set(Ship { at: [ship.at[0] + 4 * offset[0], ship.at[1] + 4 * offset[1]], ..ship });
        }
    }

    /// Adds a spaceship, which meets none of the others. Returns false if there are too many.
    #[inline(always)]
    fn add(&mut self, corner: [i32; 2], velocity: [i32; 2], generation: u32) -> bool {
        if self.count == warp::SIZE {
            return false;
        }
        if warp::lane_id() == self.count {
            self.set(Ship { at: corner.map(|at| 4 * at), velocity, generation: generation as i32 });
        }
        self.count += 1;
        true
    }

    /// Replaces the lane's spaceship.
    #[inline(always)]
    fn set(&self, Ship { at: [x, y], velocity: [right, down], generation }: Ship) {
        let words = [x as u32, y as u32, velocity(right, down), generation as u32];
        self.list.store(warp::lane_id() as usize, words);
    }
}

/// A look at the objects near the edges of a window.
#[derive(Default)]
pub(super) struct EdgeLook {
    /// True if the look has found an object that does not leave.
    has_others: bool,
    /// True if the look has found an object that may be larger than a patch.
    has_open: bool,
    /// True if another look is necessary: an object was not compared with a spaceship that left after it, or the window
    /// was moved.
    pub(super) is_repeated: bool,
}

/// The outcome of the examination of an object near an edge.
pub(super) enum Fate {
    Stays,
    /// The object is a spaceship that was removed.
    Leaves,
    /// The window was moved, because the object is at an edge.
    Moves,
}

impl<const ACROSS: usize, const ROWS: usize> Soup<'_, ACROSS, ROWS> {
    /// Examines the object `cells` in `patch`, which is near an edge. If it is a spaceship that leaves, removes it from
    /// the copy of the window. If it is at an edge, moves the copy.
    #[inline(always)]
    pub(super) fn examine(
        &mut self,
        cells: u32,
        bounds: Bounds,
        patch: Patch,
        look: &mut EdgeLook,
    ) -> Result<Fate, Unfinished> {
        let (side, tick) = (Plain::<ACROSS, ROWS>::SIDE, TICK as i32);
        let in_patch = bounds.sides();
        let sides = [0, 1, 2, 3].map(|i| in_patch[i] + if i % 2 == 0 { patch.left } else { patch.top });
        let [left, top, right, bottom] = sides;
        let is_near = self.generation < self.near_until;
        look.has_open |= bounds.is_open();
        // What remains of an object that is larger than the patch may look like a spaceship.
        let [x, y] = if look.has_open { [0; 2] } else { velocity_of(self.ships, cells, in_patch) };
        if [x, y] != [0; 2] {
            // Returns true if the distance from the edge that the ship flies to, to its front or its back, is small.
            let flies_to = |is_near: fn(i32, i32) -> bool| {
                x < 0 && is_near(left, right)
                    || x > 0 && is_near(side - 1 - right, side - 1 - left)
                    || y < 0 && is_near(top, bottom)
                    || y > 0 && is_near(side - 1 - bottom, side - 1 - top)
            };
            let leaves = flies_to(|_, back| back < STRIP);
            // A spaceship flies at most half a cell per generation.
            let is_whole = left.min(top) >= tick / 2 && right.max(bottom) < side - tick / 2;
            if leaves || is_whole && flies_to(|front, _| front < ZONE) {
                let (corner, velocity) = ([left, top], [x, y]);
                if (leaves || is_near) && self.departed.meets(corner, velocity, self.generation) {
                    return Err(Unfinished::Meeting);
                }
                if !leaves {
                    look.has_others = true;
                    return Ok(Fate::Stays);
                }
                if !self.departed.add(corner, velocity, self.generation) {
                    return Err(Unfinished::Meeting);
                }
                self.copy.clear(&self.place, sides);
                self.near_until = self.generation + NEAR;
                look.is_repeated |= look.has_others;
                return Ok(Fate::Leaves);
            }
        }
        look.has_others = true;
        let away = [[left, right], [top, bottom]]
            .map(|[first, last]| i32::from(first < tick) - i32::from(last >= side - tick));
        if away != [0, 0] {
            look.is_repeated = true;
            return if self.move_cells(away) { Ok(Fate::Moves) } else { Err(Unfinished::Wide) };
        }
        // Of an object that is larger than the patch, the parts near an edge are compared one after the other.
        if is_near && self.departed.may_meet(sides, self.generation, tick) {
            return Err(Unfinished::Near);
        }
        Ok(Fate::Stays)
    }

    /// Moves all cells of the soup by [`SHIFT`] columns and rows in the direction `x`, `y`, each −1, 0 or 1, so that
    /// the window covers another part of the plane. Returns false if a cell or a spaceship is in the way.
    #[inline(always)]
    fn move_cells(&mut self, [x, y]: [i32; 2]) -> bool {
        let offset = [x, y].map(|direction| direction * SHIFT as i32);
        if !self.departed.are_out(offset, self.generation, Plain::<ACROSS, ROWS>::SIDE) {
            return false;
        }
        if !self.copy.move_cells(&self.place, [x, y]) {
            return false;
        }
        if self.departed.count > 0 {
            self.near_until = self.generation + NEAR;
        }
        self.departed.move_by(offset);
        true
    }
}
