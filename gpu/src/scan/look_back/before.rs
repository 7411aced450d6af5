//! The look-back: a block reads the states that earlier tiles have published.

use cuda_std::{Element, unroll, warp};

use crate::collective::LANES;
use crate::collective::warp::RowReduce;
use crate::collective::words::Words;
use crate::operator::Operator;
use crate::scan::tile_states::{PREFIX, TileStates};
use crate::scan::tuning::LOOK_BACK_ROWS;

/// The earlier tiles in rows of 32, backwards from the block's own tile. Lane 0 of the first row has the nearest tile.
pub struct Before<'a, T> {
    states: TileStates<'a, T>,
    /// The number of the lane's tile in the first row. A negative number is before the first tile.
    tile: i32,
    /// The states of the next rows, as last loaded.
    rows: [[u64; 4]; LOOK_BACK_ROWS],
}

impl<'a, T: Element> Before<'a, T> {
    /// The number of rows that are loaded at once: fewer if a state has several words, because it then takes more
    /// registers.
    const ROWS: usize = match T::COUNT {
        1 => LOOK_BACK_ROWS,
        2..=4 => LOOK_BACK_ROWS / 2,
        _ => 1,
    };

    /// Returns the prefix of `tile` in lane 0: the combination of all elements before the tile. All lanes of a full
    /// warp must call this function.
    ///
    /// The search goes backwards and ends at the nearest tile that has published its prefix. The warp combines this
    /// prefix with the aggregates of the tiles after that tile.
    ///
    /// # Safety
    /// The states must have words for all tiles before `tile`, as [`TileStates::has`] checks.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub unsafe fn combine<O: Operator<T>>(states: TileStates<'a, T>, tile: u32) -> T {
        // A grid has fewer than 2³¹ blocks, so the number fits.
        let tile = tile as i32 - 1 - warp::lane_id() as i32;
        let mut before = Self { states, tile, rows: [[0; 4]; LOOK_BACK_ROWS] };
        let mut all = RowReduce::<T, O>::new(warp::SIZE);
        loop {
            // SAFETY: by this function's contract, all tiles before `tile` have words.
            if unsafe { before.combine_rows(&mut all) } {
                return all.aggregate();
            }
            before.tile -= (Self::ROWS * LANES) as i32;
        }
    }

    /// Calls `visit` with the kind and the value of each earlier tile's state, row by row from the nearest, until it
    /// returns true. In all lanes it must return the same. Each lane has the state of its own tile; a position before
    /// the first tile counts as a published prefix with the value of the first tile. All lanes of a full warp must call
    /// this function.
    ///
    /// # Safety
    /// `tile` must not be 0, and the states must have words for all tiles before it, as [`TileStates::has`] checks.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub unsafe fn walk(states: TileStates<'a, T>, tile: u32, mut visit: impl FnMut(u32, T) -> bool) {
        let tile = tile as i32 - 1 - warp::lane_id() as i32;
        let mut before = Self { states, tile, rows: [[0; 4]; LOOK_BACK_ROWS] };
        let mut is_done = false;
        while !is_done {
            unroll!(ROW in Self::ROWS => {
                // SAFETY: by this function's contract, all tiles before the block's tile have words.
                before.rows[ROW] = unsafe { before.glance(ROW) };
            });
            unroll!(ROW in Self::ROWS => {
                if !is_done {
                    // SAFETY: by this function's contract, all tiles before the block's tile have words.
                    let (flag, value) = unsafe { before.wait_for(ROW, T::zeroed()) };
                    is_done = visit(flag, value);
                }
            });
            before.tile -= (Self::ROWS * LANES) as i32;
        }
    }

    /// Combines the states of the next rows into `all`, the nearest row first. Returns true if one of these states was
    /// a prefix, which ends the search.
    ///
    /// # Safety
    /// The caller must satisfy the contract of [`combine`](Self::combine): all tiles before the block's tile must have
    /// words.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    unsafe fn combine_rows<O: Operator<T>>(&mut self, all: &mut RowReduce<T, O>) -> bool {
        // All loads come first, so that they overlap.
        unroll!(ROW in Self::ROWS => {
            // SAFETY: by this function's contract, all tiles before the block's tile have words.
            self.rows[ROW] = unsafe { self.glance(ROW) };
        });
        let mut is_done = false;
        unroll!(ROW in Self::ROWS => {
            if !is_done {
                // SAFETY: by this function's contract, all tiles before the block's tile have words.
                let (flag, value) = unsafe { self.wait_for(ROW, O::IDENTITY) };
                let prefixes = warp::ballot(warp::FULL_MASK, flag == PREFIX);
                all.prepend(if warp::lane_id() > prefixes.trailing_zeros() { O::IDENTITY } else { value });
                is_done = prefixes != 0;
            }
        });
        is_done
    }

    /// Loads the lane's state in a row. Returns zeros if the row has no tile for the lane.
    ///
    /// # Safety
    /// The caller must satisfy the contract of [`combine`](Self::combine): all tiles before the block's tile must have
    /// words.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    unsafe fn glance(&self, row: usize) -> [u64; 4] {
        match usize::try_from(self.tile - (row * LANES) as i32) {
            // SAFETY: `tile` is before the block's own, so by this function's contract it has words.
            Ok(tile) => unsafe { self.states.peek_unchecked(tile) },
            Err(_) => [0; 4],
        }
    }

    /// Waits until the lane's state in a row has been published and returns it. A position before the first tile counts
    /// as a published prefix with the operator's `identity`.
    ///
    /// # Safety
    /// The caller must satisfy the contract of [`combine`](Self::combine): all tiles before the block's tile must have
    /// words.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    unsafe fn wait_for(&mut self, row: usize, identity: T) -> (u32, T) {
        if self.tile < (row * LANES) as i32 {
            return (PREFIX, identity);
        }
        if T::IS_WIDE {
            loop {
                let tile = self.tile as usize - row * LANES;
                // SAFETY: `tile` is before the block's own, so by this function's contract it has words.
                if let Some(state) = unsafe { self.states.published_wide(tile) } {
                    return state;
                }
            }
        }
        loop {
            if let Some(state) = self.states.published(self.rows[row]) {
                return state;
            }
            // SAFETY: by this function's contract, all tiles before the block's tile have words.
            self.rows[row] = unsafe { self.glance(row) };
        }
    }
}
