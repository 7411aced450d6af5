//! The tiles between two tiles of one block: what the other blocks have published of them.

use cuda_std::warp::{self, Shuffle};
use cuda_std::{Element, unroll};

use crate::collective::LANES;
use crate::collective::warp::RowReduce;
use crate::operator::Operator;
use crate::scan::tile_states::TileStates;
use crate::scan::tuning::GAP_ROWS;

/// Tiles in rows of 32, in order: one per lane of a warp.
pub(super) struct Gap<'a, T> {
    states: TileStates<'a, T>,
    /// The lane's tile in the first row.
    tile: u32,
    /// How many tiles there are from that one on. The lane has every 32nd.
    tiles: u32,
    /// The states of the next rows, as they were when last read.
    ahead: [[u64; 4]; GAP_ROWS],
}

impl<'a, T: Element> Gap<'a, T> {
    /// Rows that are read together. A state of two words takes twice the registers.
    const ROWS: usize = if T::WORDS == 1 { GAP_ROWS } else { GAP_ROWS.div_ceil(2) };

    /// The tiles `first..end`. Reads the states of the first rows, and waits for nothing.
    ///
    /// # Safety
    /// There must be words for tiles up to `end` and those after, as [`TileStates::has`] tells.
    #[inline(always)]
    pub(super) unsafe fn look(states: TileStates<'a, T>, first: u32, end: u32) -> Self {
        let tile = first + warp::lane_id();
        let mut gap = Self { states, tile, tiles: end.saturating_sub(tile), ahead: [[0; 4]; GAP_ROWS] };
        // SAFETY: the caller's.
        unsafe { gap.look_again() };
        gap
    }

    /// Reads the states of the next rows.
    ///
    /// # Safety
    /// As for [`look`](Self::look).
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    unsafe fn look_again(&mut self) {
        // Without branches, so that all loads are under way at once.
        unroll!(ROW in Self::ROWS => {
            // SAFETY: at most so many tiles after the last.
            self.ahead[ROW] = unsafe { self.states.peek_unchecked(self.tile as usize + ROW * LANES) };
        });
    }

    /// Reads the states again that had not been published. Those that had are not read again, since other blocks read the same
    /// cache lines, and write the words beside them.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn look_at_missing(&mut self) {
        unroll!(ROW in Self::ROWS => {
            if self.has(ROW) && self.states.published(self.ahead[ROW]).is_none() {
                // SAFETY: one of the gap's tiles.
                self.ahead[ROW] = unsafe { self.states.peek_unchecked(self.tile as usize + ROW * LANES) };
            }
        });
    }

    /// Whether the lane has a tile in a row.
    #[inline(always)]
    fn has(&self, row: usize) -> bool {
        self.tiles > (row * LANES) as u32
    }

    /// Whether all tiles of the rows had published their aggregates.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn is_complete(&self) -> bool {
        let mut is_complete = true;
        unroll!(ROW in Self::ROWS => {
            is_complete &= !self.has(ROW) || self.states.published(self.ahead[ROW]).is_some();
        });
        is_complete
    }

    /// The aggregates combined in order, in lane 0, as soon as they all have been published.
    #[inline(always)]
    pub(super) fn combine<O: Operator<T>>(mut self) -> T {
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
            // SAFETY: some lane has a tile in these rows, so that they end at most `SPARE` tiles after the last.
            unsafe { self.look_again() };
        }
    }
}
