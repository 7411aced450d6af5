//! A census of soups: each warp runs one small soup on the plane after another, until its ash is periodic, and counts
//! the objects of the ash.
//!
//! | module | contents |
//! |---|---|
//! | [`window`] | the part of the plane that a warp keeps in registers, and its generations |
//! | [`ships`] | spaceships that leave the window |
//! | [`patch`] | one object: its cells and its key |
//! | [`table`] | the hash table that counts objects by their keys |
//!
//! # Design
//!
//! **The window is exact.** Cells outside of the window count as dead. Every [`TICK`] generations the warp looks at the
//! cells within [`TICK`] cells of an edge. If one is alive, either all objects there are spaceships on their way out,
//! which the warp removes and counts, or the warp gives the soup up. No effect travels faster than one cell per
//! generation, so no cell outside of the window can come to life in between.
//!
//! **A removed spaceship meets nothing.** It is removed only if it is whole within [`STRIP`] cells of the edge that it
//! flies to, and if all other objects except spaceships on their way out are at least [`ZONE`] cells from every edge.
//! This must remain so for [`NEAR`] generations. Then the spaceship is beyond the reach of the window. The other
//! objects come as close as `ZONE − TICK` cells to an edge between two looks, which is three cells from the strip. The
//! path of each spaceship is compared with the paths of all that have left before.
//!
//! **The window moves.** If another object reaches an edge, and the opposite part of the window is empty, the warp moves
//! all cells away from that edge by [`SHIFT`] columns or rows. All spaceships that have left must then be so far away
//! that they are outside of the moved window, too.
//!
//! **The end is exact.** Every [`CHUNK`] generations the warp compares the window with a copy. Equal cells are periodic.
//! Other periods are found by a hash every [`LONG`] generations, and confirmed in the same way.
//!
//! **Objects.** The warp divides the cells that live in at least one generation of the period into groups that are more
//! than two columns or rows apart. Objects of different groups cannot affect each other, so the cells of a group in one
//! generation determine the object. These cells are its key. The host identifies each kind of key once.
//!
//! A soup that the warp gives up is in the list `unfinished`, and nothing of it has been counted.

use cuda_std::{Global, GlobalMut, Shared, kernel, opaque, shared_array, thread, unroll, warp};

use super::interleaved::logic::{Conway, Given, Logic, WORDS, Words};

mod patch;
mod ships;
mod table;
mod window;

pub use patch::KEY_WORDS;
pub use ships::{SHIP_WORDS, velocity};
pub use table::READY;

use patch::{Bounds, Patch, Plain, key_of, object_at};
use ships::{Departed, velocity_of};
use table::Table;
use window::{Edge, Place, advance, begin, clear, move_cells, write_plain};

/// The number of columns and rows of the largest soup, and the number of words of a soup in the argument `soups` of
/// [`life_soup_census()`]. The lowest bit of a word is the first cell of a row.
pub const SOUP_SIDE: u32 = warp::SIZE;

/// The number of threads per block of [`life_soup_census()`].
pub const CENSUS_THREADS: u32 = 64;

/// The number of words of the argument `work` of [`life_soup_census()`]: the number of the next soup, the number of
/// unfinished soups, the number of large objects, and the number of unfinished soups for each [`Unfinished`] reason.
pub const WORK_WORDS: usize = 3 + Unfinished::COUNT;

/// The number of words of a large object in the argument `large` of [`life_soup_census()`]: the number of the soup, and
/// 32 rows of 32 cells.
pub const LARGE_WORDS: usize = 1 + warp::SIZE as usize;

const WARPS: usize = (CENSUS_THREADS / warp::SIZE) as usize;

/// The number of generations between two looks at the edges.
const TICK: u32 = 4;
/// The number of generations between two comparisons with a copy.
const CHUNK: u32 = 12;
/// The number of generations between two hashes.
const LONG: u32 = 120;
/// The distance from an edge within which a spaceship is removed.
const STRIP: i32 = 10;
/// The distance from an edge within which no other object may be while a spaceship leaves.
const ZONE: i32 = 16;
/// The number of generations that the slowest spaceship, at a quarter of a cell per generation, takes to be three cells
/// outside of the window.
const NEAR: u32 = 4 * (STRIP as u32 + 3);

/// The number of columns or rows by which a window is moved.
const SHIFT: u32 = 32;

const _: () = assert!(STRIP + TICK as i32 + 2 <= ZONE);

/// The number of objects of a soup that a warp can count.
const MAX_OBJECTS: usize = 128;

/// The reasons for which a warp gives a soup up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Unfinished {
    /// The soup is not periodic within the limit.
    Long,
    /// Other cells than spaceships reach an edge of the window.
    Wide,
    /// Other cells are near an edge while a spaceship leaves.
    Near,
    /// Two spaceships may meet outside of the window, or more than 32 leave.
    Meeting,
    /// A group of objects is too large for a key.
    Large,
    /// There are more than 128 objects, or the table is full.
    Many,
}

impl Unfinished {
    /// The number of reasons.
    pub const COUNT: usize = 6;
    /// All reasons, each at its own number.
    pub const ALL: [Self; Self::COUNT] = [Self::Long, Self::Wide, Self::Near, Self::Meeting, Self::Large, Self::Many];
}

/// The slots of the objects of a soup, which are counted together at the end. Lane *i* has the slots of the objects
/// whose number is *i* modulo 32.
struct Slots {
    list: Shared<u32>,
    count: usize,
}

impl Slots {
    /// Adds the object with this key.
    #[inline(always)]
    fn add(&mut self, table: &Table, key: Option<u32>) -> Result<(), Unfinished> {
        let slot = table.slot_of(key.ok_or(Unfinished::Large)?).ok_or(Unfinished::Many)?;
        if self.count == MAX_OBJECTS {
            return Err(Unfinished::Many);
        }
        if warp::lane_id() as usize == self.count % warp::SIZE as usize {
            self.list.store(self.count, slot);
        }
        self.count += 1;
        Ok(())
    }
}

/// A search for live cells. Each lane searches its own words, row by row.
struct Search<const ACROSS: usize, const ROWS: usize> {
    plain: Plain<ACROSS, ROWS>,
    next: usize,
}

impl<const ACROSS: usize, const ROWS: usize> Search<ACROSS, ROWS> {
    #[inline(always)]
    fn new(plain: Plain<ACROSS, ROWS>) -> Self {
        Self { plain, next: 0 }
    }

    /// Returns the column and row of a live cell within `depth` cells of an edge, in the first row that has one. Removed
    /// cells must be dead.
    #[inline(always)]
    fn next(&mut self, depth: i32) -> Option<[u32; 2]> {
        let (lane, side) = (warp::lane_id() as usize, Plain::<ACROSS, ROWS>::SIDE);
        let (mut x, mut y) = (0, u32::MAX);
        while self.next < ROWS * WORDS {
            let (row, word) = (self.next / WORDS, self.next % WORDS);
            let (at, q) = ((lane / ACROSS * ROWS + row) as i32, word * ACROSS + lane % ACROSS);
            let mask = if at < depth || at >= side - depth {
                u32::MAX
            } else {
                let left = if q == 0 { (1_u32 << depth) - 1 } else { 0 };
                let right = if q + 1 == WORDS * ACROSS { !(u32::MAX >> depth) } else { 0 };
                left | right
            };
            let found = self.plain.0.load(Plain::<ACROSS, ROWS>::index(row, word)) & mask;
            if found != 0 {
                (x, y) = (q as u32 * 32 + found.trailing_zeros(), at as u32);
                break;
            }
            self.next += 1;
        }
        let first = warp::reduce_min(warp::FULL_MASK, y);
        if first == u32::MAX {
            return None;
        }
        let lanes = warp::ballot(warp::FULL_MASK, y == first);
        Some([warp::shuffle_idx(warp::FULL_MASK, x, lanes.trailing_zeros()), first])
    }
}

/// The soup of a warp.
struct Soup<'a, const ACROSS: usize, const ROWS: usize> {
    cells: [Words; ROWS],
    place: Place,
    generation: u32,
    /// The generation until which a spaceship that has left is near the window.
    near_until: u32,
    /// True if a spaceship was removed, or the window was moved, since the copy was made.
    is_changed: bool,
    departed: Departed,
    slots: Slots,
    plain: Plain<ACROSS, ROWS>,
    /// A copy of the window, interleaved; in the end another [`Plain`] window. No lane accesses another lane's cells.
    copy: Shared<u32>,
    ships: Global<'a, u32>,
    table: Table<'a>,
    number: u32,
    large: GlobalMut<'a, u32>,
    work: GlobalMut<'a, u32>,
}

impl<const ACROSS: usize, const ROWS: usize> Soup<'_, ACROSS, ROWS> {
    /// Replaces the copy by the window. Returns true if they were equal, and the soup developed freely in between.
    #[inline(always)]
    fn renew_copy(&mut self) -> bool {
        let (copy, lane) = (self.copy.cast::<Words>(), warp::lane_id() as usize);
        let mut differences = 0;
        unroll!(I in ROWS => {
            let at = I * warp::SIZE as usize + lane;
            // SAFETY: the copy has a vector of each row for each lane.
            let old = unsafe { copy.load_unchecked(at) };
            unroll!(K in WORDS => {
                differences |= old[K] ^ self.cells[I][K];
            });
            // SAFETY: the copy has a vector of each row for each lane.
            unsafe { copy.store_unchecked(at, self.cells[I]) };
        });
        let is_changed = core::mem::replace(&mut self.is_changed, false);
        !warp::any(warp::FULL_MASK, is_changed || differences != 0)
    }

    /// Returns a hash of the window.
    #[inline(always)]
    fn hash(&self) -> u32 {
        let mut hash = warp::lane_id();
        unroll!(I in ROWS => {
            unroll!(K in WORDS => {
                hash = (hash ^ self.cells[I][K]).wrapping_mul(0x9e37_79b1);
            });
        });
        warp::reduce_xor(warp::FULL_MASK, hash ^ hash >> 15)
    }

    /// Removes and counts the spaceships that leave the window. Returns true if the function must be called again,
    /// because it has not compared an object near an edge with a spaceship that it then removed.
    #[inline(always)]
    fn take_ships(&mut self) -> Result<bool, Unfinished> {
        /// The row of a patch that its seed is in.
        const ABOVE: i32 = 15;
        write_plain(&self.cells, &self.place, self.plain);
        let (side, tick) = (Plain::<ACROSS, ROWS>::SIDE, TICK as i32);
        let (mut has_others, mut has_open, mut again) = (false, false, false);
        let mut search = Search::new(self.plain);
        while let Some([x, y]) = search.next(ZONE) {
            let patch = Patch::around(x, y, ABOVE);
            let cells = object_at(patch.load(self.plain), ABOVE);
            let bounds = Bounds::of(cells);
            patch.remove(self.plain, cells);
            let in_patch = bounds.sides();
            let sides = [0, 1, 2, 3].map(|i| in_patch[i] + if i % 2 == 0 { patch.left } else { patch.top });
            let [left, top, right, bottom] = sides;
            let is_near = self.generation < self.near_until;
            has_open |= bounds.is_open();
            // What remains of an object that is larger than the patch may look like a spaceship.
            if !has_open && let Some([x, y]) = velocity_of(self.ships, cells, in_patch) {
                // Returns true if the distance from the edge that the ship flies to, to its front or its back, is small.
                let flies_to = |is_near: fn(i32, i32) -> bool| {
                    x < 0 && is_near(left, right)
                        || x > 0 && is_near(side - 1 - right, side - 1 - left)
                        || y < 0 && is_near(top, bottom)
                        || y > 0 && is_near(side - 1 - bottom, side - 1 - top)
                };
                if flies_to(|_, back| back < STRIP) {
                    self.slots.add(&self.table, key_of(cells))?;
                    if self.departed.meets([left, top], [x, y], self.generation)
                        || !self.departed.add([left, top], [x, y], self.generation)
                    {
                        return Err(Unfinished::Meeting);
                    }
                    clear::<ACROSS, ROWS>(&mut self.cells, &self.place, sides);
                    self.near_until = self.generation + NEAR;
                    self.is_changed = true;
                    again |= has_others;
                    continue;
                }
                // A spaceship flies at most half a cell per generation.
                let is_whole = left.min(top) >= tick / 2 && right.max(bottom) < side - tick / 2;
                if is_whole && flies_to(|front, _| front < ZONE) {
                    has_others = true;
                    if is_near && self.departed.meets([left, top], [x, y], self.generation) {
                        return Err(Unfinished::Meeting);
                    }
                    continue;
                }
            }
            has_others = true;
            let away = [[left, right], [top, bottom]]
                .map(|[first, last]| i32::from(first < tick) - i32::from(last >= side - tick));
            if away != [0, 0] {
                return if self.move_cells(away) { Ok(true) } else { Err(Unfinished::Wide) };
            }
            // Of an object that is larger than the patch, the parts near an edge are compared one after the other.
            if is_near && self.departed.may_meet(sides, self.generation, tick) {
                return Err(Unfinished::Near);
            }
        }
        Ok(again)
    }

    /// Moves all cells of the soup by [`SHIFT`] columns and rows in the direction `x`, `y`, each −1, 0 or 1, so that the
    /// window covers another part of the plane. Returns false if a cell or a spaceship is in the way.
    #[inline(always)]
    fn move_cells(&mut self, [x, y]: [i32; 2]) -> bool {
        let near_until = self.near_until + 4 * SHIFT;
        if self.departed.count > 0 && self.generation < near_until {
            return false;
        }
        if !move_cells::<ACROSS, ROWS>(&mut self.cells, &self.place, [x, y]) {
            return false;
        }
        self.near_until = if self.departed.count > 0 { near_until } else { 0 };
        self.departed.move_by([x, y].map(|direction| direction * SHIFT as i32));
        self.is_changed = true;
        true
    }

    /// Runs the soup until it is periodic. Returns the period, or a multiple of it.
    #[inline(always)]
    fn settle<L: Logic>(&mut self, limit: u32) -> Result<u32, Unfinished> {
        let edge = Edge::new::<ACROSS, ROWS>(&self.place, TICK);
        let zone = Edge::new::<ACROSS, ROWS>(&self.place, ZONE as u32);
        let (mut hash, mut hashed, mut kept) = (0, 0, 0);
        self.renew_copy();
        while self.generation < limit {
            let mut ticks = opaque(CHUNK / TICK);
            while ticks > 0 {
                let mut left = opaque(TICK);
                while left > 0 {
                    advance::<L, ACROSS, ROWS>(&mut self.cells, &self.place);
                    left -= 1;
                }
                self.generation += TICK;
                let is_near = self.generation < self.near_until;
                if (if is_near { zone } else { edge }).any(&self.cells) {
                    while self.take_ships()? {}
                }
                ticks -= 1;
            }
            if kept != 0 && self.generation < kept + LONG {
                continue;
            }
            if self.renew_copy() {
                return Ok(if kept == 0 { CHUNK } else { LONG });
            }
            kept = 0;
            if self.generation >= hashed + LONG {
                hashed = self.generation;
                let before = hash;
                hash = self.hash();
                if hash == before {
                    kept = self.generation;
                }
            }
        }
        Err(Unfinished::Long)
    }

    /// Appends an object without a key to the list of large objects.
    #[inline(always)]
    fn list_large(&self, cells: u32) -> Result<(), Unfinished> {
        let mut index = 0;
        if warp::lane_id() == 0 {
            index = self.work.atomic_add(2, 1);
        }
        let at = warp::shuffle_idx(warp::FULL_MASK, index, 0) as usize * LARGE_WORDS;
        if at + LARGE_WORDS > self.large.len() {
            return Err(Unfinished::Many);
        }
        if warp::lane_id() == 0 {
            self.large.store(at, self.number);
        }
        self.large.store(at + 1 + warp::lane_id() as usize, cells);
        Ok(())
    }

    /// Finds the objects of the periodic window.
    #[inline(always)]
    fn take_objects<L: Logic>(&mut self, period: u32) -> Result<(), Unfinished> {
        /// The row of a patch that its seed is in. The seed is in the object's first row.
        const ABOVE: i32 = 2;
        let mut ever = self.cells;
        let mut left = period;
        while left > 0 {
            advance::<L, ACROSS, ROWS>(&mut self.cells, &self.place);
            unroll!(I in ROWS => {
                unroll!(K in WORDS => {
                    ever[I][K] |= self.cells[I][K];
                });
            });
            left -= 1;
        }
        let now = Plain::<ACROSS, ROWS>(self.copy);
        write_plain(&ever, &self.place, self.plain);
        write_plain(&self.cells, &self.place, now);
        let mut search = Search::new(self.plain);
        while let Some([x, y]) = search.next(Plain::<ACROSS, ROWS>::SIDE) {
            let patch = Patch::around(x, y, ABOVE);
            let cells = object_at(patch.load(self.plain), ABOVE);
            if Bounds::of(cells).is_open() {
                return Err(Unfinished::Large);
            }
            patch.remove(self.plain, cells);
            let cells = cells & patch.load(now);
            match key_of(cells) {
                None => self.list_large(cells)?,
                key => self.slots.add(&self.table, key)?,
            }
        }
        Ok(())
    }
}

/// Runs `count` soups and adds their objects to the table. Soup *i* is element *i* of `numbers`, or *i* if `numbers` is
/// empty. Soup number *n* consists of the [`SOUP_SIDE`] words of `soups` from word [`SOUP_SIDE`] · *n* on. A soup that is
/// not periodic after `limit` generations, or does not fit into the window, is appended to
/// `unfinished`, and its reason is counted in `work` ([`WORK_WORDS`], zero before the launch). `generations` has two
/// elements, to which the numbers of generations of the finished and of the unfinished soups are added.
///
/// Objects larger than 16 × 16 cells are appended to `large` ([`LARGE_WORDS`]). Those of unfinished soups do not count.
///
/// `states`, `keys`, `counts` and `firsts` are the table. For each slot it has a state and [`KEY_WORDS`] words, which are
/// zero before the first launch, a counter, and the smallest number of a soup with the object. The number of slots must
/// be a power of two. `ships` lists the spaceships of the rule, each
/// in all its phases and orientations: its rows in the upper left corner of a square of 8 × 8 cells, one byte per row,
/// and its [`velocity`].
///
/// The window has 128 · `ACROSS` cells a side, and `ROWS` must be 4 · `ACROSS`². Launch any number of blocks of
/// [`CENSUS_THREADS`] threads. Rules other than Conway's are given as [`COUNT_TABLES`](super::COUNT_TABLES) tables.
#[kernel(
    max_threads = 64,
    min_blocks = 6,
    instances(L = [Conway, Given], ACROSS = [1], ROWS = [4]),
    instances(L = [Conway, Given], ACROSS = [2], ROWS = [16])
)]
pub fn life_soup_census<L: Logic, const ACROSS: usize, const ROWS: usize>(
    soups: Global<u32>,
    numbers: Global<u32>,
    ships: Global<u32>,
    states: GlobalMut<u32>,
    keys: GlobalMut<u32>,
    counts: GlobalMut<u32>,
    firsts: GlobalMut<u32>,
    large: GlobalMut<u32>,
    unfinished: GlobalMut<u32>,
    work: GlobalMut<u32>,
    generations: GlobalMut<u64>,
    count: u32,
    limit: u32,
) {
    const { assert!(ROWS == 4 * ACROSS * ACROSS) };
    assert!(thread::block_dim_x() == CENSUS_THREADS && work.len() == WORK_WORDS);
    assert!(states.len().is_power_of_two() && counts.len() == states.len() && firsts.len() == states.len());
    assert!(keys.len() == states.len() * KEY_WORDS);
    let lane = warp::lane_id();
    let window = ROWS * WORDS * warp::SIZE as usize;
    let memory = shared_array![u32; WARPS * (2 * ROWS * WORDS * warp::SIZE as usize + MAX_OBJECTS)];
    let memory = memory.part(warp::warp_id() as usize * (2 * window + MAX_OBJECTS), 2 * window + MAX_OBJECTS);
    // The first soup's window is compared with a copy that no soup has written.
    unroll!(I in ROWS => {
        unroll!(K in WORDS => {
            memory.store(window + Plain::<ACROSS, ROWS>::index(I, K), 0);
        });
    });
    let table = Table { states, keys, counts, firsts };
    let place = Place::new::<ACROSS, ROWS>();
    loop {
        let mut index = 0;
        if lane == 0 {
            index = work.atomic_add(0, 1);
        }
        index = warp::shuffle_idx(warp::FULL_MASK, index, 0);
        if index >= count {
            break;
        }
        let number = if numbers.is_empty() { index } else { numbers.load(index as usize) };
        let row = soups.load(number as usize * SOUP_SIDE as usize + lane as usize);
        let mut soup = Soup::<ACROSS, ROWS> {
            cells: begin::<ACROSS, ROWS>(row, &place),
            place,
            generation: 0,
            near_until: 0,
            is_changed: false,
            departed: Departed::NONE,
            slots: Slots { list: memory.part(2 * window, MAX_OBJECTS), count: 0 },
            plain: Plain(memory.part(0, window)),
            copy: memory.part(window, window),
            ships,
            table,
            number,
            large,
            work,
        };
        let outcome = match soup.settle::<L>(limit) {
            Ok(period) => soup.take_objects::<L>(period),
            Err(reason) => Err(reason),
        };
        match outcome {
            Ok(()) => {
                let mut object = lane as usize;
                while object < soup.slots.count {
                    let slot = soup.slots.list.load(object) as usize;
                    table.counts.atomic_add(slot, 1);
                    table.firsts.atomic_min(slot, number);
                    object += warp::SIZE as usize;
                }
                if lane == 0 {
                    generations.atomic_add(0, soup.generation.into());
                }
            }
            Err(reason) => {
                if lane == 0 {
                    let at = work.atomic_add(1, 1);
                    unfinished.store(at as usize, number);
                    work.atomic_add(3 + reason as usize, 1);
                    generations.atomic_add(1, soup.generation.into());
                }
            }
        }
    }
}
