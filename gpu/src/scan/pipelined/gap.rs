//! The tiles between two of a block's: what the other blocks have published of them.

use cuda_std::Element;
use cuda_std::warp::{self, Shuffle};

use crate::each_row::each_row;
use crate::operator::Operator;
use crate::scan::items::{LANES, reduce_lanes};
use crate::scan::tile_states::{SPARE, TileStates};

/// The most states that a lane reads at a time. As many tiles lie between two of a block's as there are other blocks: 263 on
/// an H200, and nine states a lane are enough for all of them.
const MOST: usize = SPARE / LANES;

/// Tiles in order: rows of 32, one a lane of a warp.
pub(super) struct Gap<'a, T> {
    states: TileStates<'a, T>,
    /// The lane's tile in the first row.
    tile: u32,
    /// From there on; the lane has every 32nd.
    tiles: u32,
    /// The states of the next rows as they were when they were looked at.
    ahead: [[u64; 4]; MOST],
}

impl<'a, T: Element> Gap<'a, T> {
    /// Rows that are looked at together. A state of two words takes twice the registers.
    const ROWS: usize = if T::WORDS == 1 { MOST } else { MOST.div_ceil(2) };

    /// The tiles `first..end`. Looks at the states of the first rows, and waits for nothing.
    ///
    /// # Safety
    /// There must be words for tiles up to `end` and those after, as [`TileStates::has`] tells.
    #[inline(always)]
    pub(super) unsafe fn look(states: TileStates<'a, T>, first: u32, end: u32) -> Self {
        let tile = first + warp::lane_id();
        let mut gap = Self { states, tile, tiles: end.saturating_sub(tile), ahead: [[0; 4]; MOST] };
        // SAFETY: the caller's.
        unsafe { gap.look_again() };
        gap
    }

    /// Reads the states of the next rows.
    ///
    /// # Safety
    /// As for [`look`](Self::look).
    #[inline(always)]
    unsafe fn look_again(&mut self) {
        // Without branches, so that all looks are under way at once.
        each_row!(ROW in Self::ROWS => {
            // SAFETY: at most so many tiles after the last.
            self.ahead[ROW] = unsafe { self.states.glance_unchecked(self.tile as usize + ROW * LANES) };
        });
    }

    /// Reads the states that had not been published. Those that had are left alone, since others read them as well, and write
    /// next to them.
    #[inline(always)]
    fn look_at_missing(&mut self) {
        each_row!(ROW in Self::ROWS => {
            if self.has(ROW) && self.states.published(self.ahead[ROW]).is_none() {
                // SAFETY: one of the gap's tiles.
                self.ahead[ROW] = unsafe { self.states.glance_unchecked(self.tile as usize + ROW * LANES) };
            }
        });
    }

    /// Whether the lane has a tile in a row.
    #[inline(always)]
    fn has(&self, row: usize) -> bool {
        self.tiles > (row * LANES) as u32
    }

    /// Whether all tiles of the rows had published their aggregates.
    #[inline(always)]
    fn is_complete(&self) -> bool {
        let mut is_complete = true;
        each_row!(ROW in Self::ROWS => {
            is_complete &= !self.has(ROW) || self.states.published(self.ahead[ROW]).is_some();
        });
        is_complete
    }

    /// The aggregates combined in order, in lane 0, as soon as they all have been published.
    #[inline(always)]
    pub(super) fn combine<O: Operator<T>>(mut self) -> T {
        let mut all = O::IDENTITY;
        loop {
            while !self.is_complete() {
                self.look_at_missing();
            }
            each_row!(ROW in Self::ROWS => {
                let aggregate = match self.states.published(self.ahead[ROW]) {
                    Some((_, aggregate)) if self.has(ROW) => aggregate,
                    _ => O::IDENTITY,
                };
                all = Self::append::<O>(all, aggregate);
            });
            if !warp::any(warp::FULL_MASK, self.has(Self::ROWS)) {
                return if O::COMMUTATIVE { reduce_lanes::<T, O>(all) } else { all };
            }
            self.tile += (Self::ROWS * LANES) as u32;
            self.tiles = self.tiles.saturating_sub((Self::ROWS * LANES) as u32);
            // SAFETY: some lane has a tile in these rows, so that they end at most `SPARE` tiles after the last.
            unsafe { self.look_again() };
        }
    }

    /// `all` and a row's values: each lane for itself where their order does not matter.
    #[inline(always)]
    fn append<O: Operator<T>>(all: T, value: T) -> T {
        O::combine(all, if O::COMMUTATIVE { value } else { reduce_lanes::<T, O>(value) })
    }
}
