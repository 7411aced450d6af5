//! Advances tiles by several generations, each together with its halo.

use super::tiles::{Cells, DEAD, Tiles};
use crate::rule::{Counts, Life, Logic, Neighbourhood, Next, Table};
use crate::sweep::grow_older;
use crate::vector::{Block, Rows, Vector};

/// The bits of a word that are the cells of the tile, without the halo.
const OWN_BITS: u64 = 0x00ff_ffff_ffff_ff00;

/// A mask of the cells of the tile, without the halo.
const OWN: Block<8> = Block([0, OWN_BITS, OWN_BITS, OWN_BITS, OWN_BITS, OWN_BITS, OWN_BITS, 0]);

/// The first and the last columns of a tile, which are in the halos of its neighbours.
const WEST: u64 = 0xff << 8;
const EAST: u64 = 0xff << 48;

/// All flags of a tile.
const EVERYWHERE: u16 = 0x1ff;

/// The maximum number of bit planes, for 256 states.
const MAX_PLANES: usize = 9;

/// The result of a visit, except the cells.
#[derive(Clone, Copy, Default)]
pub struct Outcome {
    /// The flags of the tile.
    pub changed: [u16; 2],
    pub is_dead: bool,
}

/// Tiles that must be visited, and the places for their results.
pub struct Visits<'a> {
    pub tiles: &'a Tiles,
    pub logic: &'a [Logic; 2],
    pub states: u16,
    /// The present generation.
    pub generation: u64,
    /// The number of generations, from 1 to 8.
    pub generations: usize,
    /// The flags of the first set compare with the generation that is earlier by this number.
    pub short_period: usize,
    pub active: &'a [u32],
    pub next: &'a mut [Cells],
    pub outcomes: &'a mut [Outcome],
}

/// Logic that is selected for each vector.
struct AnyLogic<'a>(&'a Logic);

impl Next for AnyLogic<'_> {
    const SUMS: bool = true;

    #[inline(always)]
    fn next<V: Vector<N>, const N: usize>(&self, neighbourhood: Neighbourhood<V>) -> V {
        match self.0 {
            Logic::Life => Life.next(neighbourhood),
            Logic::Counts(counts) => Counts::next(counts, neighbourhood),
            Logic::Table(table) => Table::next(table, neighbourhood),
        }
    }
}

impl Visits<'_> {
    /// Computes the next cells of all tiles.
    ///
    /// # Safety
    /// The processor must have the instructions of `V`.
    #[inline(always)]
    pub unsafe fn run<V: Rows>(self) {
        // SAFETY: the caller guarantees the instructions of `V`.
        unsafe {
            match (self.logic, self.states) {
                ([Logic::Life, Logic::Life], 2) => self.two_states::<V, _>([&Life; 2]),
                ([Logic::Counts(even), Logic::Counts(odd)], 2) => self.two_states::<V, _>([even, odd]),
                ([even, odd], 2) => self.two_states::<V, _>([&AnyLogic(even), &AnyLogic(odd)]),
                ([even, odd], _) => self.more_states::<V, _>([&AnyLogic(even), &AnyLogic(odd)]),
            }
        }
    }

    /// # Safety
    /// The processor must have the instructions of `V`.
    #[inline(always)]
    unsafe fn two_states<V: Rows, R: Next>(self, rules: [&R; 2]) {
        let Self { tiles, generation, generations, short_period, .. } = self;
        for ((&tile, next), outcome) in self.active.iter().zip(self.next).zip(self.outcomes) {
            let around = tiles.get(tile).around;
            // SAFETY: the caller guarantees the instructions of `V`.
            unsafe {
                let mut frame = gather::<V>(tiles, around, 0);
                let mut before = frame;
                for later in 0..generations {
                    if later + short_period == generations {
                        before = frame;
                    }
                    advance(rules[(generation as usize).wrapping_add(later) % 2], &mut frame);
                }
                let mut changes = Changes::<V>::none();
                changes.add(&tiles.cells(tile)[0], &before, &frame, next);
                *outcome = changes.outcome(generations, short_period);
            }
        }
    }

    /// # Safety
    /// The processor must have the instructions of `V`.
    #[inline(always)]
    unsafe fn more_states<V: Rows, R: Next>(self, rules: [&R; 2]) {
        let Self { tiles, generation, generations, short_period, states, .. } = self;
        let planes = tiles.planes;
        let mut frames = [[DEAD; MAX_PLANES]; 3];
        let [now, next, before] = &mut frames;
        let (mut now, mut next) = (&mut now[..planes], &mut next[..planes]);
        for ((&tile, out), outcome) in self.active.iter().zip(self.next.chunks_exact_mut(planes)).zip(self.outcomes) {
            let around = tiles.get(tile).around;
            // SAFETY: the caller guarantees the instructions of `V`.
            unsafe {
                for (plane, cells) in now.iter_mut().enumerate() {
                    store(&gather::<V>(tiles, around, plane), cells);
                }
                for later in 0..generations {
                    if later + short_period == generations {
                        before[..planes].copy_from_slice(now);
                    }
                    let mut frame = load::<V>(&now[0]);
                    advance(rules[(generation as usize).wrapping_add(later) % 2], &mut frame);
                    let (alive, older) = next.split_at_mut(1);
                    store(&frame, &mut alive[0]);
                    let ages = now[1..].as_flattened();
                    grow_older::<V, 8>(states - 2, &now[0], ages, &mut alive[0], older.as_flattened_mut());
                    std::mem::swap(&mut now, &mut next);
                }
                let mut changes = Changes::<V>::none();
                for (plane, out) in out.iter_mut().enumerate() {
                    let (before, frame) = (load::<V>(&before[plane]), load::<V>(&now[plane]));
                    changes.add(&tiles.cells(tile)[plane], &before, &frame, out);
                }
                *outcome = changes.outcome(generations, short_period);
            }
        }
    }
}

/// # Safety
/// The processor must have the instructions of `V`.
#[inline(always)]
unsafe fn load<V: Rows>(cells: &Cells) -> [V; 8] {
    // SAFETY: the caller guarantees the instructions of `V`.
    let mut frame = unsafe { [V::load(&cells[0]); 8] };
    for (vector, block) in frame.iter_mut().zip(cells).skip(1) {
        // SAFETY: the caller guarantees the instructions of `V`.
        *vector = unsafe { V::load(block) };
    }
    frame
}

#[inline(always)]
fn store<V: Rows>(frame: &[V; 8], cells: &mut Cells) {
    for (vector, block) in frame.iter().zip(cells) {
        vector.store(block);
    }
}

/// Returns one bit plane of the frame of a tile. `around` has the numbers of the tiles around and including this one.
///
/// # Safety
/// The processor must have the instructions of `V`.
#[inline(always)]
unsafe fn gather<V: Rows>(tiles: &Tiles, around: [u32; 9], plane: usize) -> [V; 8] {
    let [north_west, north, north_east, west, here, east, south_west, south, south_east] =
        around.map(|tile| &tiles.cells(tile)[plane]);
    // SAFETY: the caller guarantees the instructions of `V`.
    unsafe {
        let mut frame = load::<V>(here);
        for (k, vector) in frame.iter_mut().enumerate() {
            let left = column::<V>(&north_west[k], &west[k], &south_west[k]);
            let right = column::<V>(&north_east[k], &east[k], &south_east[k]);
            let middle = column::<V>(&north[k], &here[k], &south[k]);
            *vector = middle.or(left.shifted_to_west()).or(right.shifted_to_east());
        }
        frame
    }
}

/// Returns a vector of a tile with the halos above and below it.
///
/// # Safety
/// The processor must have the instructions of `V`.
#[inline(always)]
unsafe fn column<V: Rows>(above: &Block<8>, here: &Block<8>, below: &Block<8>) -> V {
    // SAFETY: the caller guarantees the instructions of `V`.
    unsafe { V::load(here).or(V::load(above).halo_above()).or(V::load(below).halo_below()) }
}

/// A vector with its neighbours to the left and to the right, and the sums of three cells each.
#[derive(Clone, Copy)]
struct Row<V> {
    cells: [V; 3],
    sums: [V; 2],
}

impl<V: Rows> Row<V> {
    #[inline(always)]
    fn of(cell: V) -> Self {
        let (left, right) = (cell.left(), cell.right());
        Self { cells: [left, cell, right], sums: V::sums(left, cell, right) }
    }

    /// Moves all words to the position of the next word.
    #[inline(always)]
    fn previous_words(self) -> Self {
        let ([left, cell, right], [low, high]) = (self.cells, self.sums);
        Self {
            cells: [left.previous_words(), cell.previous_words(), right.previous_words()],
            sums: [low.previous_words(), high.previous_words()],
        }
    }

    /// Moves all words to the position of the previous word.
    #[inline(always)]
    fn next_words(self) -> Self {
        let ([left, cell, right], [low, high]) = (self.cells, self.sums);
        Self {
            cells: [left.next_words(), cell.next_words(), right.next_words()],
            sums: [low.next_words(), high.next_words()],
        }
    }
}

/// Advances a frame by one generation. One more ring of cells at the edges of the frame becomes wrong.
#[inline(always)]
fn advance<V: Rows>(rule: &impl Next, frame: &mut [V; 8]) {
    let (first, last) = (Row::of(frame[0]), Row::of(frame[7]));
    let (mut above, mut here) = (last.previous_words(), first);
    for k in 0..8 {
        let below = match k {
            0..6 => Row::of(frame[k + 1]),
            6 => last,
            _ => first.next_words(),
        };
        frame[k] = rule.next(Neighbourhood {
            cells: [above.cells, here.cells, below.cells],
            sums: [above.sums, here.sums, below.sums],
        });
        (above, here) = (here, below);
    }
}

/// The cells that have changed, as the union of the vectors of all bit planes.
struct Changes<V> {
    short: V,
    long: V,
    alive: V,
}

impl<V: Rows> Changes<V> {
    /// # Safety
    /// The processor must have the instructions of `V`.
    #[inline(always)]
    unsafe fn none() -> Self {
        // SAFETY: the caller guarantees the instructions of `V`.
        let none = unsafe { V::load(&Block::DEAD) };
        Self { short: none, long: none, alive: none }
    }

    /// Stores the tile of `frame` into `out`, and compares it with the tile of `before` and with `first`, the tile
    /// before the visit.
    ///
    /// # Safety
    /// The processor must have the instructions of `V`.
    #[inline(always)]
    unsafe fn add(&mut self, first: &Cells, before: &[V; 8], frame: &[V; 8], out: &mut Cells) {
        // SAFETY: the caller guarantees the instructions of `V`.
        let own = unsafe { V::load(&OWN) };
        for k in 0..8 {
            let cells = frame[k].and(own);
            cells.store(&mut out[k]);
            self.alive = self.alive.or(cells);
            self.short = self.short.or(frame[k].xor(before[k]).and(own));
            // SAFETY: the caller guarantees the instructions of `V`.
            self.long = self.long.or(cells.xor(unsafe { V::load(&first[k]) }));
        }
    }

    #[inline(always)]
    fn outcome(self, generations: usize, short_period: usize) -> Outcome {
        let mut cells = [Block::DEAD; 3];
        self.short.store(&mut cells[0]);
        self.long.store(&mut cells[1]);
        self.alive.store(&mut cells[2]);
        let [short, long, alive] = cells;
        let short = if generations < short_period { EVERYWHERE } else { bands_of(&short.0) };
        Outcome { changed: [short, bands_of(&long.0)], is_dead: alive.0 == [0; 8] }
    }
}

/// Returns the flags of a tile in which the cells of `cells` have changed.
pub fn bands(cells: &Cells) -> u16 {
    let mut words = [0; 8];
    for block in cells {
        words.iter_mut().zip(block.0).for_each(|(all, word)| *all |= word);
    }
    bands_of(&words)
}

/// Returns the flags for cells of which `words` is the union of all vectors.
#[inline(always)]
fn bands_of(words: &[u64; 8]) -> u16 {
    let (first, last) = (words[1], words[6]);
    let all = first | words[2] | words[3] | words[4] | words[5] | last;
    let flags = [first & WEST, first, first & EAST, all & WEST, all, all & EAST, last & WEST, last, last & EAST];
    let mut bands = 0;
    for (i, cells) in flags.into_iter().enumerate() {
        bands |= u16::from(cells != 0) << i;
    }
    bands
}
