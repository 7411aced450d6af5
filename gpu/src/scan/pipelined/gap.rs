//! The gap: the tiles between two consecutive tiles of one block. Other blocks publish the aggregates of these tiles.

use cuda_std::{Element, unroll, warp};

use crate::collective::LANES;
use crate::collective::warp::RowReduce;
use crate::collective::words::Words;
use crate::operator::Operator;
use crate::scan::tile_states::TileStates;
use crate::scan::tuning::GAP_ROWS;

/// The tiles of a gap in rows of 32, in order: one tile per lane of a warp.
pub struct Gap<'a, T> {
    states: TileStates<'a, T>,
    /// The number of the lane's tile in the first row.
    tile: u32,
    /// The number of tiles from the lane's tile in the first row to the end of the gap. Every 32nd of these tiles
    /// belongs to the lane.
    tiles: u32,
    /// The states of the lane's tiles in the next rows, as last loaded.
    ahead: [[u64; 4]; GAP_ROWS],
}

impl<'a, T: Element> Gap<'a, T> {
    /// The number of rows that are loaded at once: fewer if a state has two words, because it then takes twice as many
    /// registers.
    const ROWS: usize = if T::COUNT == 1 { GAP_ROWS } else { GAP_ROWS.div_ceil(2) };

    /// Returns the gap of the tiles `first..end`, and starts to load the states of the first rows.
    ///
    /// # Safety
    /// The states must have words for all tiles up to `end` and for the spare tiles after them, as [`TileStates::has`]
    /// checks.
    #[inline(always)]
    pub unsafe fn look(states: TileStates<'a, T>, first: u32, end: u32) -> Self {
        let tile = first + warp::lane_id();
        let mut gap = Self { states, tile, tiles: end.saturating_sub(tile), ahead: [[0; 4]; GAP_ROWS] };
        // SAFETY: by this function's contract, all tiles of the gap and the spare tiles have words.
        unsafe { gap.look_again() };
        gap
    }

    /// Loads the states of the lane's tiles in the next rows.
    ///
    /// # Safety
    /// The caller must satisfy the contract of [`look`](Self::look): all tiles of the gap and the spare tiles must have
    /// words.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    unsafe fn look_again(&mut self) {
        // The loads have no branches between them, so that they overlap.
        unroll!(ROW in Self::ROWS => {
            // SAFETY: the rows end at most `SPARE` tiles after the last tile, and by this function's contract these
            // have words.
            self.ahead[ROW] = unsafe { self.states.peek_unchecked(self.tile as usize + ROW * LANES) };
        });
    }

    /// Reloads the states that had not been published at the last load. It does not reload published states, because
    /// each load delays other blocks, which read and write the same cache lines.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn look_at_missing(&mut self) {
        unroll!(ROW in Self::ROWS => {
            if self.has(ROW) && self.states.published(self.ahead[ROW]).is_none() {
                // SAFETY: the lane's tile in this row belongs to the gap, so it has words.
                self.ahead[ROW] = unsafe { self.states.peek_unchecked(self.tile as usize + ROW * LANES) };
            }
        });
    }

    /// Returns true if the lane's tile in row `row` is in the gap.
    #[inline(always)]
    fn has(&self, row: usize) -> bool {
        self.tiles > (row * LANES) as u32
    }

    /// Returns true if the loaded states of all tiles of this lane were already published.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn is_complete(&self) -> bool {
        let mut is_complete = true;
        unroll!(ROW in Self::ROWS => {
            is_complete &= !self.has(ROW) || self.states.published(self.ahead[ROW]).is_some();
        });
        is_complete
    }

    /// Waits until other blocks have published all aggregates of the gap. Returns the combination of the aggregates, in
    /// order, in lane 0.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn combine<O: Operator<T>>(mut self) -> T {
        let mut all = RowReduce::<T, O>::new(warp::SIZE);
        loop {
            while !self.is_complete() {
                self.look_at_missing();
            }
            unroll!(ROW in Self::ROWS => {
                let aggregate = match self.states.published(self.ahead[ROW]) {
                    Some((_, aggregate)) if self.has(ROW) => aggregate,
                    _ => O::IDENTITY,
                };
                all.append(aggregate);
            });
            if !warp::any(warp::FULL_MASK, self.has(Self::ROWS)) {
                return all.aggregate();
            }
            self.tile += (Self::ROWS * LANES) as u32;
            self.tiles = self.tiles.saturating_sub((Self::ROWS * LANES) as u32);
            // SAFETY: some lane has a tile in these rows, so they end at most `SPARE` tiles after the last tile.
            unsafe { self.look_again() };
        }
    }
}
