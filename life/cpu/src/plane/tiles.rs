//! The tiles of a plane, and the table that finds them by their positions.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::{LIMIT, PlaneError, TILE};
use crate::ages;
use crate::vector::Block;

/// One bit plane of a tile's frame. The cells of the halo are 0.
pub type Cells = [Block<8>; 8];

pub const DEAD: Cells = [Block::DEAD; 8];

/// The number of halo cells on each side of a tile.
pub const HALO: usize = 8;

/// The number of tiles whose cells are allocated together. More tiles never move, because moving them needs the memory
/// twice.
const TILES_PER_SEGMENT: usize = 1024;

/// The number of the middle cell among nine.
const MIDDLE: usize = 4;

/// A tile without its cells.
#[derive(Clone, Copy, Default)]
pub struct TileState {
    /// The column and the row of the tile, in tiles.
    pub position: (i32, i32),
    /// The numbers of the nine tiles around and including this one, row by row. An absent tile is number 0.
    pub around: [u32; 9],
    /// The flags of two sets. Bit i is set if cells have changed that are in the frame of the tile `around[i]`. If any
    /// cell has changed, the middle bit is set.
    pub changed: [u16; 2],
    pub is_used: bool,
    pub is_dead: bool,
    /// True during a step that visits the tile.
    pub is_active: bool,
    /// True if the tile is in the first list of changed tiles.
    pub is_listed: bool,
    /// True if the tile is in the list of edited tiles.
    pub is_edited: bool,
    /// True if `sum` is the hash of the present cells.
    pub is_summed: bool,
    pub sum: u64,
}

/// All tiles of a plane. Tile 0 is dead and stands for every absent tile.
#[derive(Clone)]
pub struct Tiles {
    /// The number of bits per cell. The first bit is set if the cell is alive. The other bits count the generations
    /// until a dying cell is dead.
    pub planes: usize,
    /// The bit planes of [`TILES_PER_SEGMENT`] tiles each.
    cells: Vec<Vec<Cells>>,
    states: Vec<TileState>,
    numbers: FxHashMap<(i32, i32), u32>,
    free: Vec<u32>,
    /// The maximum number of tiles, with tile 0.
    most: usize,
}

impl Tiles {
    /// Makes an empty table for cells of `states` states.
    pub fn new(states: u16) -> Self {
        let planes = 1 + ages::planes(states);
        let none = TileState { is_dead: true, ..TileState::default() };
        Self {
            planes,
            cells: vec![vec![DEAD; planes]],
            states: vec![none],
            numbers: FxHashMap::default(),
            free: Vec::new(),
            most: usize::MAX,
        }
    }

    /// Limits the memory to about `bytes` bytes.
    pub fn limit(&mut self, bytes: u64) {
        self.most = usize::try_from(bytes / self.bytes_per_tile() as u64).unwrap_or(usize::MAX);
    }

    /// Limits the number of tiles to that of `other`.
    pub fn limit_like(&mut self, other: &Self) {
        self.most = other.most;
    }

    /// Returns the number of bytes that a step needs for a tile: its present and its next cells, its state, and its
    /// entry in the table.
    fn bytes_per_tile(&self) -> usize {
        2 * self.planes * size_of::<Cells>() + size_of::<TileState>() + 2 * size_of::<((i32, i32), u32)>()
    }

    pub fn get(&self, tile: u32) -> &TileState {
        &self.states[tile as usize]
    }

    pub fn get_mut(&mut self, tile: u32) -> &mut TileState {
        &mut self.states[tile as usize]
    }

    /// Returns the bit planes of a tile.
    pub fn cells(&self, tile: u32) -> &[Cells] {
        let (segment, place) = place_of(tile as usize);
        &self.cells[segment][place * self.planes..][..self.planes]
    }

    pub fn cells_mut(&mut self, tile: u32) -> &mut [Cells] {
        let (segment, place) = place_of(tile as usize);
        &mut self.cells[segment][place * self.planes..][..self.planes]
    }

    /// Returns all numbers that a tile may have. Some of them may be free.
    pub fn numbers(&self) -> Range<u32> {
        1..self.states.len() as u32
    }

    /// Returns the numbers of all tiles that exist.
    pub fn used(&self) -> impl Iterator<Item = u32> + '_ {
        self.numbers().filter(|&tile| self.get(tile).is_used)
    }

    /// Returns the number of tiles that exist.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Returns the number of the tile at `position`, or 0.
    pub fn find(&self, position: (i32, i32)) -> u32 {
        self.numbers.get(&position).copied().unwrap_or(0)
    }

    /// Returns the number of the tile in direction `direction` of `tile`, and makes that tile if it is absent.
    #[inline]
    pub fn neighbour(&mut self, tile: u32, direction: usize) -> Result<u32, PlaneError> {
        let state = self.get(tile);
        match state.around[direction] {
            0 => self.make(moved(state.position, direction)),
            there => Ok(there),
        }
    }

    /// Makes the tile at `position`, which must be absent.
    pub fn make(&mut self, position: (i32, i32)) -> Result<u32, PlaneError> {
        let (x, y) = (i64::from(position.0) * TILE, i64::from(position.1) * TILE);
        if x > LIMIT || y > LIMIT || x <= -LIMIT - TILE || y <= -LIMIT - TILE {
            return Err(PlaneError::TooFar { x, y });
        }
        let tile = match self.free.pop() {
            Some(tile) => tile,
            None => self.extend()?,
        };
        let is_listed = self.get(tile).is_listed;
        let mut state = TileState { position, is_used: true, is_dead: true, is_listed, ..TileState::default() };
        for direction in 0..9 {
            let there = if direction == MIDDLE { tile } else { self.find(moved(position, direction)) };
            state.around[direction] = there;
            if there != 0 {
                self.get_mut(there).around[8 - direction] = tile;
            }
        }
        *self.get_mut(tile) = state;
        self.numbers.insert(position, tile);
        Ok(tile)
    }

    /// Allocates memory for one more tile.
    fn extend(&mut self) -> Result<u32, PlaneError> {
        let number = self.states.len();
        let error = PlaneError::OutOfMemory { bytes: (1 + number) * self.bytes_per_tile() };
        if number >= self.most {
            return Err(error);
        }
        let tile = u32::try_from(number).map_err(|_| error)?;
        self.states.try_reserve(1).map_err(|_| error)?;
        self.numbers.try_reserve(1).map_err(|_| error)?;
        let (segment, place) = place_of(number);
        if segment == self.cells.len() {
            self.cells.try_reserve(1).map_err(|_| error)?;
            self.cells.push(Vec::new());
        }
        self.cells[segment].try_reserve(self.planes).map_err(|_| error)?;
        self.cells[segment].resize((place + 1) * self.planes, DEAD);
        self.states.push(TileState::default());
        Ok(tile)
    }

    /// Frees a tile, which must be dead.
    pub fn remove(&mut self, tile: u32) {
        let TileState { position, around, is_listed, .. } = *self.get(tile);
        for (direction, &there) in around.iter().enumerate().filter(|(_, there)| **there != 0) {
            self.get_mut(there).around[8 - direction] = 0;
        }
        *self.get_mut(tile) = TileState { is_dead: true, is_listed, ..TileState::default() };
        self.numbers.remove(&position);
        self.free.push(tile);
    }
}

/// Returns the segment in which the cells of a tile are, and the tile's number there.
#[inline]
fn place_of(tile: usize) -> (usize, usize) {
    (tile / TILES_PER_SEGMENT, tile % TILES_PER_SEGMENT)
}

/// Returns the position of the tile in direction `direction` of the tile at `position`.
fn moved((x, y): (i32, i32), direction: usize) -> (i32, i32) {
    (x + (direction % 3) as i32 - 1, y + (direction / 3) as i32 - 1)
}

/// Returns the 48 cells of row `row` of a tile. The lowest bit is the first cell.
#[inline]
pub fn row(cells: &Cells, row: usize) -> u64 {
    cells[row % 8].0[1 + row / 8] >> HALO
}

/// Returns the word that contains row `row` of a tile. The first cell is bit 8.
#[inline]
pub fn row_mut(cells: &mut Cells, row: usize) -> &mut u64 {
    &mut cells[row % 8].0[1 + row / 8]
}
