//! A census of soups: each warp runs one small soup on the plane after another, until its ash is periodic, and counts
//! the objects of the ash.
//!
//! | module | contents |
//! |---|---|
//! | [`window`] | the part of the plane that a warp keeps in registers, and its generations |
//! | [`stored`] | the window in shared memory: what a soup needs only now and then |
//! | [`run`] | the run of a soup until it is periodic |
//! | [`objects`] | the objects of the ash, and those near an edge |
//! | [`ships`] | spaceships that leave the window |
//! | [`plain`] | the window in words of 32 columns, in which objects are found |
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
//! **The window moves.** If another object reaches an edge, and the opposite part of the window is empty, the warp
//! moves all cells away from that edge by [`SHIFT`] columns or rows. Each spaceship that has left must then be outside
//! of the moved window, or within [`STRIP`] cells of an edge that it flies to. In both cases it never comes nearer to
//! the window, and the objects near the edges are compared with its path for [`NEAR`] generations, as after its
//! removal.
//!
//! **The end is exact.** Every [`CHUNK`] generations the warp compares the window with a copy. Equal cells are
//! periodic. Other periods are found by a hash every [`LONG`] generations, and confirmed in the same way.
//!
//! **Objects.** The warp divides the cells that live in at least one generation of the period into groups that are more
//! than two columns or rows apart. Objects of different groups cannot affect each other, so the cells of a group in one
//! generation determine the object. These cells are its key. The host identifies each kind of key once.
//!
//! **Only generations are unrolled.** The kernel has one copy of the code of a generation. Everything else works on a
//! copy of the window in shared memory, in loops over its rows. Its registers are those of the cells, which it stores
//! before and loads afterwards: 64 of 168 in the window of 256 columns. The lists of a warp are in shared memory, too,
//! because values that live throughout the generations would be spilled.
//!
//! A soup that the warp gives up is in the list `unfinished`, and nothing of it has been counted.

use cuda_std::{Global, GlobalMut, Shared, kernel, shared_array, thread, warp};

use super::interleaved::logic::{Conway, Given, Logic, WORDS, Words};

mod objects;
mod patch;
mod plain;
mod run;
mod ships;
mod stored;
mod table;
mod window;

pub use patch::KEY_WORDS;
pub use ships::{SHIP_WORDS, velocity};
pub use table::READY;

use objects::Slots;
use ships::Departed;
use stored::Stored;
use table::Table;
use window::Place;

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

/// The number of objects of a soup that a warp can count in a window of 128 · `across` cells a side.
const fn max_objects(across: usize) -> usize {
    128 * across
}

/// The number of words of shared memory that a warp has beside two windows.
const fn other_words(across: usize) -> usize {
    max_objects(across) + Departed::LEN + 2 * warp::SIZE as usize
}

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
    /// There are more than 128 objects in the smaller window, or more than 256 in the larger one, or the table is full.
    Many,
}

impl Unfinished {
    /// The number of reasons.
    pub const COUNT: usize = 6;
    /// All reasons, each at its own number.
    pub const ALL: [Self; Self::COUNT] = [Self::Long, Self::Wide, Self::Near, Self::Meeting, Self::Large, Self::Many];
}

/// The soup of a warp.
struct Soup<'a, const ACROSS: usize, const ROWS: usize> {
    cells: [Words; ROWS],
    place: Place,
    generation: u32,
    /// The generation until which a spaceship that has left is near the window.
    near_until: u32,
    /// True if the soup has not developed freely since the copy was made, because spaceships were looked for.
    is_changed: bool,
    departed: Departed,
    slots: Slots,
    /// A copy of the window.
    copy: Stored<ACROSS, ROWS>,
    /// Another window.
    other: Stored<ACROSS, ROWS>,
    /// Each lane's last hash of its part of the window.
    hashes: Shared<u32>,
    ships: Global<'a, u32>,
    table: Table<'a>,
    /// The number of the soup, for each lane. It is needed only for large objects and at the end.
    number: Shared<u32>,
    large: GlobalMut<'a, u32>,
    work: GlobalMut<'a, u32>,
}

/// Runs `count` soups and adds their objects to the table. Soup *i* is element *i* of `numbers`, or *i* if `numbers` is
/// empty. Soup number *n* consists of the [`SOUP_SIDE`] words of `soups` from word [`SOUP_SIDE`] · *n* on. A soup that
/// is not periodic after `limit` generations, or does not fit into the window, is appended to
/// `unfinished`, and its reason is counted in `work` ([`WORK_WORDS`], zero before the launch). `generations` has two
/// elements, to which the numbers of generations of the finished and of the unfinished soups are added.
///
/// Objects larger than 16 × 16 cells are appended to `large` ([`LARGE_WORDS`]). Those of unfinished soups do not count.
///
/// `states`, `keys`, `counts` and `firsts` are the table. For each slot it has a state and [`KEY_WORDS`] words, which
/// are zero before the first launch, a counter, and the smallest number of a soup with the object. The number of slots
/// must be a power of two. `ships` lists the spaceships of the rule, each
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
    let window = Stored::<ACROSS, ROWS>::LEN;
    let memory = shared_array![u32; WARPS * (2 * ROWS * WORDS * warp::SIZE as usize + other_words(ACROSS))];
    let (objects, of_warp) = (max_objects(ACROSS), 2 * window + other_words(ACROSS));
    let memory = memory.part(warp::warp_id() as usize * of_warp, of_warp);
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
        let copy = Stored::new(memory.part(window, window));
        copy.begin(row, &place);
        let lists = memory.part(2 * window, other_words(ACROSS));
        let hashes = lists.part(objects + Departed::LEN, warp::SIZE as usize);
        let kept_number = lists.part(objects + Departed::LEN + warp::SIZE as usize, warp::SIZE as usize);
        kept_number.store(lane as usize, number);
        let mut soup = Soup::<ACROSS, ROWS> {
            cells: copy.load(),
            place,
            generation: 0,
            near_until: 0,
            is_changed: false,
            departed: Departed::new(lists.part(objects, Departed::LEN)),
            slots: Slots { list: lists.part(0, objects), count: 0 },
            copy,
            other: Stored::new(memory.part(0, window)),
            hashes,
            ships,
            table,
            number: kept_number,
            large,
            work,
        };
        let outcome = soup.run::<L>(limit);
        let number = kept_number.load(lane as usize);
        match outcome {
            Ok(()) => {
                let mut object = lane;
                while object < soup.slots.count {
                    let slot = soup.slots.list.load(object as usize) as usize;
                    table.counts.atomic_add(slot, 1);
                    table.firsts.atomic_min(slot, number);
                    object += warp::SIZE;
                }
            }
            Err(reason) => {
                if lane == 0 {
                    let at = work.atomic_add(1, 1);
                    unfinished.store(at as usize, number);
                    work.atomic_add(3 + reason as usize, 1);
                }
            }
        }
        if lane == 0 {
            generations.atomic_add(usize::from(outcome.is_err()), soup.generation.into());
        }
    }
}
