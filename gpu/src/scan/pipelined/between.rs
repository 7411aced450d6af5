//! The tiles between two of a block's: what other blocks have published of them.
#![allow(clippy::needless_range_loop, reason = "an iterator over an array puts it into local memory")]

use cuda_std::{Element, warp};

use crate::operator::Operator;
use crate::scan::items::{LANES, THREADS, reduce_lanes};
use crate::scan::tile_states::TileStates;

/// States that a lane reads ahead. About as many tiles lie between two of a block's as the grid has blocks: 264 on an H200,
/// and two states a thread of 256 are enough for all of them.
const AHEAD: usize = 2;

/// A warp's part of the tiles between two of a block's, in order: rows of 32 tiles, one a lane.
pub(super) struct Between<'a, T> {
    states: TileStates<'a, T>,
    /// The lane's tile in the first row.
    tile: usize,
    rows: usize,
    /// Where the tiles end, for all warps.
    end: usize,
    /// The states of the first rows as they were when the part was made.
    ahead: [[u64; 4]; AHEAD],
}

impl<'a, T: Element> Between<'a, T> {
    /// The part of `warp` of the tiles `first..end`. Looks at their states, and waits for nothing.
    #[inline(always)]
    pub(super) fn new(states: TileStates<'a, T>, first: usize, end: usize, warp: usize) -> Self {
        let rows = (end - first).div_ceil(THREADS as usize);
        let tile = first + warp * rows * LANES + warp::lane_id() as usize;
        let mut between = Self { states, tile, rows, end, ahead: [[0; 4]; AHEAD] };
        for row in 0..AHEAD {
            if between.has(row) {
                between.ahead[row] = states.glance(tile + row * LANES);
            }
        }
        between
    }

    /// The aggregates of the part combined in order, in lane 0, as soon as they all have been published.
    #[inline(always)]
    pub(super) fn combine<O: Operator<T>>(self) -> T {
        let mut all = O::IDENTITY;
        for row in 0..AHEAD {
            let mut value = O::IDENTITY;
            if self.has(row) {
                value = match TileStates::published(self.ahead[row]) {
                    Some((_, aggregate)) => aggregate,
                    None => self.wait_for(row),
                };
            }
            all = Self::append::<O>(all, value);
        }
        for row in AHEAD..self.rows {
            let value = if self.has(row) { self.wait_for(row) } else { O::IDENTITY };
            all = Self::append::<O>(all, value);
        }
        if O::COMMUTATIVE { reduce_lanes::<T, O>(all) } else { all }
    }

    /// Whether the lane has a tile in `row`.
    #[inline(always)]
    fn has(&self, row: usize) -> bool {
        row < self.rows && self.tile + row * LANES < self.end
    }

    #[inline(always)]
    fn wait_for(&self, row: usize) -> T {
        self.states.wait_for(self.tile + row * LANES).1
    }

    /// `all` and a row's values: each lane for itself where their order does not matter.
    #[inline(always)]
    fn append<O: Operator<T>>(all: T, value: T) -> T {
        O::combine(all, if O::COMMUTATIVE { value } else { reduce_lanes::<T, O>(value) })
    }
}
