//! The window of the plane that a warp keeps in registers.
//!
//! The window is a square of `128 · ACROSS` columns and rows. `ACROSS` lanes share a row, and each lane has `ROWS`
//! consecutive rows of four words. The cells of a row are interleaved: bit *i* of word *k* of lane *h* of the row is
//! column `4 · ACROSS · i + 4 · h + k`. The left and right neighbours of a word are therefore other words, and only the
//! first and the last word of a row need a shift.
//!
//! The window wraps around at its upper and lower edge. The neighbours beyond an edge count as dead only because no
//! live cell reaches the edge: before each [`TICK`] generations, the cells within [`TICK`] cells of an edge are dead.

use cuda_std::{opaque, unroll, warp};

use super::super::interleaved::logic::{Logic, Rows, Sums, WORDS, Words};
use super::{TICK, ZONE};

/// The number of cells of a window's side, per lane across.
pub(super) const SIDE_PER_LANE: usize = 32 * WORDS;

/// The position of a lane's cells in the window, and the lanes with neighbouring cells.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The number of the lane among the lanes that share a row.
    pub(super) half: u32,
    /// The lane's first row.
    pub(super) first_row: u32,
    /// The lane with the rows above.
    above: u32,
    /// The lane with the rows below.
    below: u32,
    /// The factor for the word before the lane's first word: 2 if it is the last word of the row, and 1 otherwise.
    up: u32,
    /// The right shift of the word after the lane's last word: 1 if it is the first word of the row, and 0 otherwise.
    down: u32,
}

impl Place {
    #[inline(always)]
    pub(super) fn new<const ACROSS: usize, const ROWS: usize>() -> Self {
        let (lane, across) = (warp::lane_id(), ACROSS as u32);
        let half = lane % across;
        Self {
            half,
            first_row: lane / across * ROWS as u32,
            above: (lane + warp::SIZE - across) % warp::SIZE,
            below: (lane + across) % warp::SIZE,
            // `opaque` hides the value from the compiler, which would otherwise replace the product by a shift. A GPU
            // has separate units for products and for logic.
            up: opaque(1 + u32::from(half == 0)),
            down: u32::from(half + 1 == across),
        }
    }

    /// Returns the words before and after the lane's words of `row`.
    #[inline(always)]
    fn beside<const ACROSS: usize>(&self, row: Words) -> [u32; 2] {
        let (mut before, mut after) = (row[WORDS - 1], row[0]);
        if ACROSS > 1 {
            before = warp::shuffle_xor(warp::FULL_MASK, before, 1);
            after = warp::shuffle_xor(warp::FULL_MASK, after, 1);
        }
        [before.wrapping_mul(self.up), after >> self.down]
    }
}

/// Computes one generation of the window.
#[allow(unused_assignments, reason = "the rows after the last one are not used")]
#[inline(always)]
pub(super) fn advance<L: Logic, const ACROSS: usize, const ROWS: usize>(cells: &mut [Words; ROWS], place: &Place) {
    let (first, last) = (cells[0], cells[ROWS - 1]);
    let (beside_first, beside_last) = (place.beside::<ACROSS>(first), place.beside::<ACROSS>(last));
    let (sums_first, sums_last) = (Sums::new(first, beside_first), Sums::new(last, beside_last));
    let above = sums_last.of_lane(place.above);
    let below = sums_first.of_lane(place.below);
    let mut rows = Rows { above, row: first, beside: beside_first, sums: sums_first };
    unroll!(I in ROWS => {
        let (row, beside, sums) = if I + 2 < ROWS {
            let row = cells[(I + 1) % ROWS];
            let beside = place.beside::<ACROSS>(row);
            (row, beside, Sums::new(row, beside))
        } else if I + 1 < ROWS {
            (last, beside_last, sums_last)
        } else {
            ([0; WORDS], [0; 2], below)
        };
        cells[I] = L::next(&rows, &sums, false);
        rows = Rows { above: rows.sums, row, beside, sums };
    });
}

/// Returns the index of the mask for row `row` of a lane.
#[inline(always)]
const fn mask_of_row(row: usize, rows: usize) -> usize {
    if row < TICK as usize {
        0
    } else if row + TICK as usize >= rows {
        2
    } else {
        1
    }
}

/// Returns true if a cell is alive whose distance to an edge is below [`TICK`], or below [`ZONE`] if `is_zone`.
#[inline(always)]
pub(super) fn is_near_edge<const ACROSS: usize, const ROWS: usize>(
    cells: &[Words; ROWS],
    place: &Place,
    generation: u32,
    is_zone: bool,
) -> bool {
    let (side, rows, words) = ((SIDE_PER_LANE * ACROSS) as u32, ROWS as u32, WORDS as u32);
    // The bits of a word that are columns within `depth` of an edge.
    let columns = |depth: u32, half: u32| {
        let bits = |half: u32| depth.saturating_sub(words * half).div_ceil(words * ACROSS as u32);
        ((1 << bits(half)) - 1) | !(u32::MAX >> bits(ACROSS as u32 - 1 - half))
    };
    // The lane's number among those of a row, in a form that the compiler does not know to be always the same: the
    // masks would stay in registers.
    let half = opaque(u64::from(place.half) | u64::from(generation) << 32) as u32;
    let columns = |depth: u32| if half == 0 { columns(depth, 0) } else { columns(depth, ACROSS as u32 - 1) };
    let (depth, columns) = if is_zone { (ZONE as u32, columns(ZONE as u32)) } else { (TICK, columns(TICK)) };
    let mask = |first: u32, end: u32| {
        let is_inside = place.first_row + end <= depth || place.first_row + first >= side - depth;
        if is_inside { u32::MAX } else { columns }
    };
    let masks = [mask(0, TICK), mask(TICK, rows - TICK.min(rows)), mask(rows - TICK, rows)];
    let mut any = 0;
    unroll!(I in ROWS => {
        unroll!(K in WORDS => {
            any |= cells[I][K] & masks[mask_of_row(I, ROWS)];
        });
    });
    warp::any(warp::FULL_MASK, any != 0)
}
