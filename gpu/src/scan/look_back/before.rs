//! The tiles before a block's own: the look back at what they have published.

use cuda_std::warp::{self, Shuffle};
use cuda_std::{Element, unroll};

use crate::collective::LANES;
use crate::collective::warp::RowReduce;
use crate::operator::Operator;
use crate::scan::tile_states::{PREFIX, TileStates};
use crate::scan::tuning::LOOK_BACK_ROWS;

/// Tiles in rows of 32, backwards from the block's own: lane 0 of the first row has the nearest one.
pub(super) struct Before<'a, T> {
    states: TileStates<'a, T>,
    /// The number of the lane's tile in the first row; negative ones are before the first tile.
    tile: i32,
    /// The states of the next rows, as they were when last read.
    rows: [[u64; 4]; LOOK_BACK_ROWS],
}

impl<'a, T: Element> Before<'a, T> {
    /// Rows that are read together. A state of two words takes twice the registers.
    const ROWS: usize = if T::WORDS == 1 { LOOK_BACK_ROWS } else { LOOK_BACK_ROWS / 2 };

    /// The prefix of `tile`: all elements before it combined. For a full warp; lane 0 has the result.
    ///
    /// The search ends at a tile whose prefix has been published; the tiles after that one are taken in by their aggregates.
    ///
    /// # Safety
    /// There must be words for the tiles before `tile`, as [`TileStates::has`] tells.
    #[inline(always)]
    pub(super) unsafe fn combine<O: Operator<T>>(states: TileStates<'a, T>, tile: u32) -> T {
        // A grid has fewer blocks than 2³¹.
        let tile = tile as i32 - 1 - warp::lane_id() as i32;
        let mut before = Self { states, tile, rows: [[0; 4]; LOOK_BACK_ROWS] };
        let mut all = RowReduce::<T, O>::new(warp::SIZE);
        loop {
            // SAFETY: the caller's.
            if unsafe { before.combine_rows(&mut all) } {
                return all.aggregate();
            }
            before.tile -= (Self::ROWS * LANES) as i32;
        }
    }

    /// Takes in the next rows, the nearest first; true if a prefix was among them.
    ///
    /// # Safety
    /// As for [`combine`](Self::combine).
    #[inline(always)]
    unsafe fn combine_rows<O: Operator<T>>(&mut self, all: &mut RowReduce<T, O>) -> bool {
        // All loads first, so that they are under way at once.
        unroll!(ROW in Self::ROWS => {
            // SAFETY: the caller's.
            self.rows[ROW] = unsafe { self.glance(ROW) };
        });
        let mut is_done = false;
        unroll!(ROW in Self::ROWS => {
            if !is_done {
                // SAFETY: the caller's.
                let (flag, value) = unsafe { self.wait_for(ROW, O::IDENTITY) };
                let prefixes = warp::ballot(warp::FULL_MASK, flag == PREFIX);
                all.prepend(if warp::lane_id() > prefixes.trailing_zeros() { O::IDENTITY } else { value });
                is_done = prefixes != 0;
            }
        });
        is_done
    }

    /// The lane's state in a row as it is now; zeros where the row has no tile for the lane.
    ///
    /// # Safety
    /// As for [`combine`](Self::combine).
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    unsafe fn glance(&self, row: usize) -> [u64; 4] {
        match usize::try_from(self.tile - (row * LANES) as i32) {
            // SAFETY: a tile before the block's.
            Ok(tile) => unsafe { self.states.peek_unchecked(tile) },
            Err(_) => [0; 4],
        }
    }

    /// The lane's state in a row as soon as it has been published. What stands before the first tile counts as a published prefix,
    /// the operator's `identity`.
    ///
    /// # Safety
    /// As for [`combine`](Self::combine).
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    unsafe fn wait_for(&mut self, row: usize, identity: T) -> (u32, T) {
        if self.tile < (row * LANES) as i32 {
            return (PREFIX, identity);
        }
        loop {
            if let Some(state) = self.states.published(self.rows[row]) {
                return state;
            }
            // SAFETY: the caller's.
            self.rows[row] = unsafe { self.glance(row) };
        }
    }
}
