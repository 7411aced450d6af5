//! Patterns on the unbounded plane, stored and advanced where they are alive.
//!
//! ```
//! use life_cpu::plane::{Plane, Run};
//! use life_cpu::Rule;
//!
//! let mut life = Plane::new(&Rule::LIFE, 0);
//! for (x, y, length) in [(1, 0, 1), (2, 1, 1), (0, 2, 3)] {
//!     life.set_run(Run { x, y, length })?;
//! }
//! life.advance(40_000)?;
//! assert_eq!(life.population(), 5);
//! let bounds = life.bounds().map(|bounds| (bounds.x, bounds.y, bounds.width, bounds.height));
//! assert_eq!(bounds, Some((10_000, 10_000, 3, 3)));
//! # Ok::<(), life_cpu::plane::PlaneError>(())
//! ```
//!
//! # Design
//!
//! The plane consists of tiles of 48 × 48 cells, and a hash table finds a tile by its position. An absent tile is dead.
//! A tile is advanced by eight generations per visit: a frame of 64 × 64 cells, the tile and a halo of eight cells on
//! each side, fits eight vectors of 512 bits. Each generation makes one more ring of the halo wrong.
//!
//! The cells of row r of a frame are word r / 8 of vector r % 8. The rows above and below a vector's rows are therefore
//! the adjacent vectors. Only the first and the last vector need a shift by one word. The halo above a tile is word 0
//! of each vector, and the halo below is word 7. Columns are bits; the halos at the sides are the first and the last
//! byte.
//!
//! Each tile has flags that say where it has changed: at an edge or a corner that belongs to a neighbour's halo, or
//! anywhere. If the frame of a tile was the same eight generations ago, the tile will be the same after eight
//! generations, and is not visited. Still lifes and oscillators of periods 2, 4 and 8 therefore cost no time. For steps
//! of fewer than eight generations, a second set of flags compares with the previous generation. If the rules of even
//! and odd generations differ, it compares with the generation before that one.
//!
//! A step visits the tiles in parts of whole rows of tiles, and stores the results of a part after the visit of the
//! next one. So few tiles have their present and their next cells in memory at once.
//!
//! A tile is made when a cell beside it changes, and freed when it is dead and its frame is at rest.

use crate::Instructions;
use crate::rule::{Logic, Rule};
use step::Scratch;
use tiles::{Cells, Tiles};
use visit::bands;

mod compiled;
mod edit;
mod hash;
mod read;
mod step;
mod tiles;
mod visit;

pub use edit::check_position;
pub use read::{Bounds, Tile};

/// Cells must be at most this far from (0, 0) in each direction.
pub const LIMIT: i64 = 1 << 30;

/// The number of columns and of rows of a tile.
pub const TILE: i64 = 48;

/// The number of bytes of a tile for rules of two states.
pub const TILE_BYTES: u64 = size_of::<Cells>() as u64;

/// The number of generations by which a visit advances a tile. A call of [`Plane::advance`] for fewer generations takes
/// about as long.
pub const GENERATIONS_PER_VISIT: usize = 8;

/// The error for a plane that cannot have the cells that it would need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlaneError {
    /// A cell is outside the plane, or could be there in the next generations.
    #[error(
        "the pattern reaches ({x}, {y}), but coordinates on the plane must be from -2^30 to 2^30: use a smaller \
         pattern or fewer generations"
    )]
    TooFar {
        /// The column.
        x: i64,
        /// The row.
        y: i64,
    },
    /// The host has too little memory.
    #[error("the pattern needs {bytes} bytes, which cannot be allocated: use a smaller pattern or fewer generations")]
    OutOfMemory {
        /// The number of bytes that the tiles need.
        bytes: usize,
    },
}

/// A run of adjacent cells in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The column of the first cell.
    pub x: i64,
    /// The row.
    pub y: i64,
    /// The number of cells.
    pub length: u64,
}

/// The lists of tiles from which the next step begins. The first list is for short steps, the second for steps of eight
/// generations. A tile is in a list if its flags of the same index are not 0. Other tiles may be in a list, too.
type Changed = [Vec<u32>; 2];

/// Flags of the second set exist only after a step of eight generations.
const LONG: usize = 1;

/// A pattern on the unbounded plane. Time and memory depend on the tiles with living cells, and not on the size of the
/// pattern's bounding box.
///
/// Coordinates grow to the right and downwards. They must be within [`LIMIT`].
#[derive(Clone)]
pub struct Plane {
    rule: Rule,
    logic: [Logic; 2],
    instructions: Instructions,
    generation: u64,
    tiles: Tiles,
    changed: Changed,
    /// True if the last step had eight generations.
    was_long: bool,
    /// The tiles that will be freed if they are dead and at rest.
    candidates: Vec<u32>,
    /// The tiles that were edited since the last step.
    edited: Vec<u32>,
    /// The tiles that the present step visits.
    active: Vec<u32>,
    scratch: Scratch,
}

impl Plane {
    /// Makes a dead plane at generation `generation` that is advanced by the fastest instructions of this processor. A
    /// rule may differ in even and odd generations.
    pub fn new(rule: &Rule, generation: u64) -> Self {
        Self::with(Instructions::available()[0], rule, generation)
    }

    /// Makes a plane like [`new`](Self::new) that uses `instructions`. If the processor lacks them, the plane uses the
    /// portable instructions.
    pub fn with(instructions: Instructions, rule: &Rule, generation: u64) -> Self {
        let has = Instructions::available().contains(&instructions);
        Self {
            rule: *rule,
            logic: rule.phases.map(|table| Logic::of(&table)),
            instructions: if has { instructions } else { Instructions::Portable },
            generation,
            tiles: Tiles::new(rule.states),
            changed: Changed::default(),
            was_long: false,
            candidates: Vec::new(),
            edited: Vec::new(),
            active: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    /// Limits the memory of the plane to about `bytes` bytes. A method that would need more returns
    /// [`PlaneError::OutOfMemory`]. By default, only an allocation that fails is an error.
    pub fn limit_memory(&mut self, bytes: u64) {
        self.tiles.limit(bytes);
    }

    /// Returns the number of the present generation.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the rule.
    pub fn rule(&self) -> &Rule {
        &self.rule
    }

    /// Returns the instruction set that advances the plane.
    pub fn instructions(&self) -> Instructions {
        self.instructions
    }

    /// Advances the pattern by `generations` generations. Patterns of many tiles are advanced on all cores.
    ///
    /// # Errors
    /// [`PlaneError`] if the pattern reaches the limit of the coordinates, or the host has too little memory. The plane
    /// then is at a generation between the first and the last one.
    pub fn advance(&mut self, generations: u64) -> Result<(), PlaneError> {
        self.finish_edits()?;
        let mut left = generations;
        while left > 0 {
            let step = left.min(GENERATIONS_PER_VISIT as u64);
            self.plan(step as usize)?;
            if self.active.is_empty() && step == GENERATIONS_PER_VISIT as u64 {
                // Nothing will ever change, except by oscillators of periods 2, 4 and 8.
                let rest = left - left % step;
                self.generation = self.generation.wrapping_add(rest);
                left -= rest;
                continue;
            }
            self.step(step as usize, |_, _| ())?;
            left -= step;
        }
        Ok(())
    }

    /// Runs one generation and returns its numbers of births and deaths.
    ///
    /// # Errors
    /// Fails in the same cases as [`advance`](Self::advance).
    pub fn advance_counting(&mut self) -> Result<(u64, u64), PlaneError> {
        self.finish_edits()?;
        self.plan(1)?;
        let mut changes = (0, 0);
        self.step(1, |now, next| {
            let (now, next) = (read::not_dead(now), read::not_dead(next));
            let count = |of: &Cells, but: &Cells| -> u32 {
                let pairs = of.iter().zip(but).flat_map(|(of, but)| of.0.into_iter().zip(but.0));
                pairs.map(|(of, but)| (of & !but).count_ones()).sum()
            };
            changes = (changes.0 + u64::from(count(&next, &now)), changes.1 + u64::from(count(&now, &next)));
        })?;
        Ok(changes)
    }

    /// Marks a tile as changed where `bands` says it.
    fn mark_changed(&mut self, tile: u32, bands: u16) {
        let content = self.tiles.get_mut(tile);
        content.changed = content.changed.map(|changed| changed | bands);
        self.changed[LONG].push(tile);
        if !content.is_listed {
            content.is_listed = true;
            self.changed[0].push(tile);
        }
    }

    /// Marks all live cells as changed, because nothing is known of the next step.
    fn wake_all(&mut self) {
        for tile in self.tiles.numbers() {
            // A free tile is dead.
            let bands = bands(&read::not_dead(self.tiles.cells(tile)));
            if bands != 0 {
                self.mark_changed(tile, bands);
            }
        }
        self.was_long = false;
    }

    /// Stores where the tiles were edited since the last step.
    fn finish_edits(&mut self) -> Result<(), PlaneError> {
        for tile in std::mem::take(&mut self.edited) {
            let bands = bands(&read::not_dead(self.tiles.cells(tile)));
            let content = self.tiles.get_mut(tile);
            (content.is_edited, content.is_dead, content.is_summed) = (false, bands == 0, false);
            if bands == 0 && content.changed == [0; 2] {
                self.tiles.remove(tile);
            } else {
                self.mark_changed(tile, bands);
            }
        }
        Ok(())
    }
}
