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
use super::patch::Plain;
use super::{SHIFT, SOUP_SIDE, TICK};

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

/// Masks of the cells near the edges: for the first [`TICK`] rows of a lane, the rows between, and the last [`TICK`]
/// rows. All words of a row have the same mask.
#[derive(Clone, Copy)]
pub(super) struct Edge([u32; 3]);

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

impl Edge {
    /// Returns the masks of the cells whose distance to an edge is below `depth`, a multiple of four.
    #[inline(always)]
    pub(super) fn new<const ACROSS: usize, const ROWS: usize>(place: &Place, depth: u32) -> Self {
        let (side, words, rows) = ((SIDE_PER_LANE * ACROSS) as u32, WORDS as u32, ROWS as u32);
        // The number of bits of a word that are within `depth` columns.
        let bits = |half: u32| depth.saturating_sub(words * half).div_ceil(words * ACROSS as u32);
        let (left, right) = (bits(place.half), bits(ACROSS as u32 - 1 - place.half));
        let columns = ((1 << left) - 1) | !(u32::MAX >> right);
        let mask = |first: u32, end: u32| {
            let is_inside = place.first_row + end <= depth || place.first_row + first >= side - depth;
            if is_inside { u32::MAX } else { columns }
        };
        Self([mask(0, TICK), mask(TICK, rows - TICK.min(rows)), mask(rows - TICK, rows)])
    }

    /// Returns true if a cell near an edge is alive.
    #[inline(always)]
    pub(super) fn any<const ROWS: usize>(&self, cells: &[Words; ROWS]) -> bool {
        let mut any = 0;
        unroll!(I in ROWS => {
            unroll!(K in WORDS => {
                any |= cells[I][K] & self.0[mask_of_row(I, ROWS)];
            });
        });
        warp::any(warp::FULL_MASK, any != 0)
    }
}

/// Returns `bits` with `stride - 1` zeros after each bit. `stride` is 4 or 8, and `bits` has `32 / stride` bits.
#[inline(always)]
fn spread(bits: u32, stride: usize) -> u32 {
    if stride == 4 {
        let bits = (bits | bits << 12) & 0x000f_000f;
        let bits = (bits | bits << 6) & 0x0303_0303;
        (bits | bits << 3) & 0x1111_1111
    } else {
        bits.wrapping_mul(0x0020_4081) & 0x0101_0101
    }
}

/// Writes the window to `plain`.
#[inline(always)]
pub(super) fn write_plain<const ACROSS: usize, const ROWS: usize>(
    cells: &[Words; ROWS],
    place: &Place,
    plain: Plain<ACROSS, ROWS>,
) {
    let stride = WORDS * ACROSS;
    unroll!(I in ROWS => {
        for q in 0..WORDS * ACROSS {
            let mut word = 0;
            unroll!(K in WORDS => {
                let bits = cells[I][K] >> (q * 32 / stride) & ((1 << (32 / stride)) - 1);
                word |= spread(bits, stride) << K;
            });
            word <<= WORDS as u32 * place.half;
            if ACROSS > 1 {
                word |= warp::shuffle_xor(warp::FULL_MASK, word, 1);
            }
            if q % ACROSS == place.half as usize {
                plain.0.store(Plain::<ACROSS, ROWS>::index(I, q / ACROSS), word);
            }
        }
    });
}

/// Kills all cells in columns `left..=right` of rows `top..=bottom`.
#[inline(always)]
pub(super) fn clear<const ACROSS: usize, const ROWS: usize>(
    cells: &mut [Words; ROWS],
    place: &Place,
    [left, top, right, bottom]: [i32; 4],
) {
    let stride = (WORDS * ACROSS) as i32;
    unroll!(K in WORDS => {
        let column = WORDS as i32 * place.half as i32 + K as i32;
        // The bits `i` with left ≤ stride · i + column ≤ right.
        let first = (left - column + stride - 1).max(0) / stride;
        let end = (right - column + stride).max(0) / stride;
        let upto = |end: i32| if end >= 32 { u32::MAX } else { (1 << end) - 1 };
        let mask = upto(end) & !upto(first);
        unroll!(I in ROWS => {
            let row = place.first_row as i32 + I as i32;
            if row >= top && row <= bottom {
                cells[I][K] &= !mask;
            }
        });
    });
}

/// Moves all cells by [`SHIFT`] columns and rows in the direction `x`, `y`, each −1, 0 or 1. Returns false, and moves
/// nothing, if a cell would come within [`TICK`] cells of the edge ahead or beyond it.
#[inline(always)]
pub(super) fn move_cells<const ACROSS: usize, const ROWS: usize>(
    cells: &mut [Words; ROWS],
    place: &Place,
    [x, y]: [i32; 2],
) -> bool {
    let (stride, side, rows) = ((WORDS * ACROSS) as u32, (SIDE_PER_LANE * ACROSS) as u32, ROWS as u32);
    let ahead = SHIFT + TICK;
    let bits = ahead.div_ceil(stride);
    let columns = if x > 0 { !(u32::MAX >> bits) } else { 0 } | if x < 0 { (1 << bits) - 1 } else { 0 };
    let is_ahead = y > 0 && place.first_row + rows + ahead > side || y < 0 && place.first_row < ahead;
    let mask = if is_ahead { u32::MAX } else { columns };
    let mut any = 0;
    unroll!(I in ROWS => {
        unroll!(K in WORDS => {
            any |= cells[I][K] & mask;
        });
    });
    if warp::any(warp::FULL_MASK, any != 0) {
        return false;
    }
    let from = warp::lane_id().wrapping_add_signed(-y * (SHIFT / rows * ACROSS as u32) as i32) % warp::SIZE;
    let (right, left) = (if x > 0 { SHIFT / stride } else { 0 }, if x < 0 { SHIFT / stride } else { 0 });
    unroll!(I in ROWS => {
        cells[I] = warp::shuffle_idx(warp::FULL_MASK, cells[I], from).map(|word| word << right >> left);
    });
    true
}

/// Returns the window with a soup in its middle. Lane *i* has `row` *i* of the soup.
#[inline(always)]
pub(super) fn begin<const ACROSS: usize, const ROWS: usize>(row: u32, place: &Place) -> [Words; ROWS] {
    let stride = WORDS * ACROSS;
    let first = (SIDE_PER_LANE * ACROSS) as u32 / 2 - SOUP_SIDE / 2;
    let mut cells = [[0; WORDS]; ROWS];
    unroll!(I in ROWS => {
        let in_soup = (place.first_row + I as u32).wrapping_sub(first);
        let bits = warp::shuffle_idx(warp::FULL_MASK, row, in_soup % SOUP_SIDE);
        let bits = if in_soup < SOUP_SIDE { bits >> (WORDS as u32 * place.half) } else { 0 };
        unroll!(K in WORDS => {
            let mut word = 0;
            for m in 0..SOUP_SIDE as usize / stride {
                word |= (bits >> (stride * m + K) & 1) << m;
            }
            cells[I][K] = word << (first as usize / stride);
        });
    });
    cells
}
