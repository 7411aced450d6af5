//! The tiles between two tiles of one block, and the aggregates that other blocks have published for them.

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
    /// The number of tiles of the gap from the lane's first tile on. Every 32nd of these tiles belongs to the lane.
    tiles: u32,
    /// The states of the next rows of the gap, as last loaded.
    ahead: [[u64; 4]; GAP_ROWS],
}

impl<'a, T: Element> Gap<'a, T> {
    /// The number of rows that are loaded at once: fewer if a state has two words, because it then takes twice as many
    /// registers.
    const ROWS: usize = if T::COUNT == 1 { GAP_ROWS } else { GAP_ROWS.div_ceil(2) };

    /// Creates the gap of the tiles `first..end` and loads the states of the first rows, without waiting.
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

    /// Loads the states of the next rows.
    ///
    /// # Safety
    /// The contract of [`look`](Self::look) applies: all tiles of the gap and the spare tiles must have words.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    unsafe fn look_again(&mut self) {
        // The loads have no branches between them, so that they overlap.
        unroll!(ROW in Self::ROWS => {
            // SAFETY: the rows end at most `SPARE` tiles after the last tile, and by this function's contract these
            // have words.
            self.ahead[ROW] = unsafe { self.states.peek_unchecked(self.tile as usize + ROW * LANES) };
        });
    }

    /// Reloads the states that had not been published. It does not reload published states, because other blocks read
    /// the same cache lines and write the words beside them.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn look_at_missing(&mut self) {
        unroll!(ROW in Self::ROWS => {
            if self.has(ROW) && self.states.published(self.ahead[ROW]).is_none() {
                // SAFETY: the lane's tile in this row belongs to the gap, so it has words.
                self.ahead[ROW] = unsafe { self.states.peek_unchecked(self.tile as usize + ROW * LANES) };
            }
        });
    }

    /// True if the lane has a tile in this row.
    #[inline(always)]
    fn has(&self, row: usize) -> bool {
        self.tiles > (row * LANES) as u32
    }

    /// True if all tiles of the loaded rows had published their aggregates.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn is_complete(&self) -> bool {
        let mut is_complete = true;
        unroll!(ROW in Self::ROWS => {
            is_complete &= !self.has(ROW) || self.states.published(self.ahead[ROW]).is_some();
        });
        is_complete
    }

    /// Waits for all aggregates of the gap and returns their combination, in order, in lane 0.
    #[inline(always)]
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
