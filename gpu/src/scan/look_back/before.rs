//! The tiles before a block's own: the look back at what they have published.

use cuda_std::Element;
use cuda_std::warp::{self, Shuffle};

use crate::each_row::each_row;
use crate::operator::Operator;
use crate::scan::items::{LANES, reduce_lanes};
use crate::scan::tile_states::{PREFIX, TileStates};

/// The most states that a lane looks at together: while a scan is so small that all its tiles begin at once, none has a
/// prefix yet, and the way to one is as many looks long as there are rows, unless several are under way at a time.
const MOST: usize = 4;

/// Tiles in rows of 32 backwards: the nearest tile is lane 0's in the first row.
pub(super) struct Before<'a, T> {
    states: TileStates<'a, T>,
    /// The number of the lane's tile in the first row; negative ones are before the first tile.
    tile: i32,
    /// The states of the next rows as they were when they were looked at.
    rows: [[u64; 4]; MOST],
}

impl<'a, T: Element> Before<'a, T> {
    /// Rows that are looked at together. A state of two words takes twice the registers.
    const ROWS: usize = if T::WORDS == 1 { MOST } else { MOST / 2 };

    /// All elements before `tile` combined. For a full warp; lane 0 has the result.
    ///
    /// A tile whose prefix is known ends the search; aggregates are taken in on the way there.
    ///
    /// # Safety
    /// There must be words for the tiles before `tile`, as [`TileStates::has`] tells.
    #[inline(always)]
    pub(super) unsafe fn combine<O: Operator<T>>(states: TileStates<'a, T>, tile: u32) -> T {
        // A grid has fewer blocks than 2³¹.
        let tile = tile as i32 - 1 - warp::lane_id() as i32;
        let mut before = Self { states, tile, rows: [[0; 4]; MOST] };
        let mut all = O::IDENTITY;
        loop {
            // SAFETY: the caller's.
            if unsafe { before.combine_rows::<O>(&mut all) } {
                return if O::COMMUTATIVE { reduce_lanes::<T, O>(all) } else { all };
            }
            before.tile -= (Self::ROWS * LANES) as i32;
        }
    }

    /// Takes in the next rows, the later ones first: whether a prefix was among them. Where the operands' order does not
    /// matter, each lane for itself, else in lane 0.
    ///
    /// # Safety
    /// As for [`combine`](Self::combine).
    #[inline(always)]
    unsafe fn combine_rows<O: Operator<T>>(&mut self, all: &mut T) -> bool {
        // Without waiting, so that all looks are under way at once.
        each_row!(ROW in Self::ROWS => {
            // SAFETY: the caller's.
            self.rows[ROW] = unsafe { self.glance(ROW) };
        });
        let mut is_done = false;
        each_row!(ROW in Self::ROWS => {
            if !is_done {
                // SAFETY: the caller's.
                let (flag, value) = unsafe { self.wait_for::<O>(ROW) };
                let prefixes = warp::ballot(warp::FULL_MASK, flag == PREFIX);
                let value = if warp::lane_id() > prefixes.trailing_zeros() { O::IDENTITY } else { value };
                *all = if O::COMMUTATIVE { O::combine(*all, value) } else { O::combine(earliest_first::<T, O>(value), *all) };
                is_done = prefixes != 0;
            }
        });
        is_done
    }

    /// The lane's state in a row as it is now: of no tile, zeros.
    ///
    /// # Safety
    /// As for [`combine`](Self::combine).
    #[inline(always)]
    unsafe fn glance(&self, row: usize) -> [u64; 4] {
        match usize::try_from(self.tile - (row * LANES) as i32) {
            // SAFETY: a tile before the block's.
            Ok(tile) => unsafe { self.states.glance_unchecked(tile) },
            Err(_) => [0; 4],
        }
    }

    /// The lane's state in a row as soon as it has been published. Before the first tile stands a prefix of nothing.
    ///
    /// # Safety
    /// As for [`combine`](Self::combine).
    #[inline(always)]
    unsafe fn wait_for<O: Operator<T>>(&mut self, row: usize) -> (u32, T) {
        if self.tile < (row * LANES) as i32 {
            return (PREFIX, O::IDENTITY);
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

/// A row's values combined, the highest lane's first: in lane 0.
#[inline(always)]
fn earliest_first<T: Element, O: Operator<T>>(mut value: T) -> T {
    let mut distance = 1;
    while distance < warp::SIZE {
        let earlier = warp::shuffle_down(warp::FULL_MASK, value, distance);
        if warp::lane_id() + distance < warp::SIZE {
            value = O::combine(earlier, value);
        }
        distance *= 2;
    }
    value
}
