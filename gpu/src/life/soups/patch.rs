//! A square of 32 × 32 cells around one object. Lane *i* of a warp has row *i*, one cell per bit.

use cuda_std::bits::{funnel_shift_left, funnel_shift_right};
use cuda_std::{unroll, warp};

use super::plain::Plain;

/// The bits of the outer two columns, and the outer two rows, of a patch. An object that reaches them may continue
/// outside of the patch.
const OUTER: u32 = 0xc000_0003;

/// The column of a patch at which its seed is.
const SEED_COLUMN: i32 = 15;

/// The number of words of an object's key.
pub const KEY_WORDS: usize = 8;

/// The number of columns, and of rows, of the largest object that has a key.
const KEY_SIDE: u32 = 16;

/// The position of a patch in the window.
#[derive(Clone, Copy)]
pub(super) struct Patch {
    /// The column of the window that is column 0 of the patch. It may be negative.
    pub(super) left: i32,
    /// The row of the window that is row 0 of the patch. It may be negative.
    pub(super) top: i32,
}

/// The smallest rectangle of a patch that contains an object.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    pub(super) columns: u32,
    pub(super) rows: u32,
}

impl Bounds {
    /// Returns the bounds of the live `cells` of a patch.
    #[inline(always)]
    pub(super) fn of(cells: u32) -> Self {
        Self { columns: warp::reduce_or(warp::FULL_MASK, cells), rows: warp::ballot(warp::FULL_MASK, cells != 0) }
    }

    /// Returns true if the object may continue outside of the patch.
    #[inline(always)]
    pub(super) fn is_open(&self) -> bool {
        (self.columns | self.rows) & OUTER != 0
    }

    /// Returns the first and the last column and row in the patch: left, top, right, bottom. There must be a live cell.
    #[inline(always)]
    pub(super) fn sides(&self) -> [i32; 4] {
        let (first, last) = (u32::trailing_zeros, |bits: u32| 31 - bits.leading_zeros());
        [first(self.columns), first(self.rows), last(self.columns), last(self.rows)].map(|side| side as i32)
    }
}

impl Patch {
    /// Returns the patch whose row `above` and column [`SEED_COLUMN`] is the cell in column `x` and row `y`.
    #[inline(always)]
    pub(super) fn around(x: u32, y: u32, above: i32) -> Self {
        Self { left: x as i32 - SEED_COLUMN, top: y as i32 - above }
    }

    /// Returns the cells of the lane's row. Cells outside of the window are dead.
    #[inline(always)]
    pub(super) fn load<const ACROSS: usize, const ROWS: usize>(&self, plain: Plain<ACROSS, ROWS>) -> u32 {
        let [first, second] = plain.load_pair(self.top + warp::lane_id() as i32, self.left >> 5);
        funnel_shift_right(first, second, self.left as u32)
    }

    /// Kills the `cells` of the lane's row in the window.
    #[inline(always)]
    pub(super) fn remove<const ACROSS: usize, const ROWS: usize>(&self, plain: Plain<ACROSS, ROWS>, cells: u32) {
        let pair = [cells << (self.left & 31), funnel_shift_left(cells, 0, self.left as u32)];
        plain.remove_pair(self.top, self.left >> 5, pair);
    }
}

/// Returns those of the live `cells` of a patch that belong to the object of the seed, in row `above` and column
/// [`SEED_COLUMN`]. Two cells belong together if they are at most two columns and two rows apart.
#[inline(always)]
pub(super) fn object_at(cells: u32, above: i32) -> u32 {
    let mut object = if warp::lane_id() as i32 == above { cells & 1 << SEED_COLUMN } else { 0 };
    loop {
        let wide = object | object << 1 | object << 2 | object >> 1 | object >> 2;
        let mut near = wide;
        unroll!(I in 2 => {
            near |= warp::shuffle_up(warp::FULL_MASK, wide, I as u32 + 1);
            near |= warp::shuffle_down(warp::FULL_MASK, wide, I as u32 + 1);
        });
        let grown = near & cells;
        if !warp::any(warp::FULL_MASK, grown != object) {
            return object;
        }
        object = grown;
    }
}

/// Returns the lane's row of `cells` after a move to the upper left corner of the patch.
#[inline(always)]
pub(super) fn in_corner(cells: u32, [left, top, ..]: [i32; 4]) -> u32 {
    let lane = warp::lane_id();
    let row = warp::shuffle_idx(warp::FULL_MASK, cells, (lane + top as u32) % warp::SIZE);
    if lane + (top as u32) < warp::SIZE { row >> left } else { 0 }
}

/// Returns the key of `cells`, one word for each of the first [`KEY_WORDS`] lanes, and 0 for the others. Word *i*
/// contains rows 2*i* and 2*i* + 1 of the object's bounding box, 16 cells each. Returns `None` if the box is larger.
#[inline(always)]
pub(super) fn key_of(cells: u32) -> Option<u32> {
    let sides = Bounds::of(cells).sides();
    let [left, top, right, bottom] = sides;
    if (right - left) as u32 >= KEY_SIDE || (bottom - top) as u32 >= KEY_SIDE {
        return None;
    }
    let (row, lane) = (in_corner(cells, sides), warp::lane_id());
    let even = warp::shuffle_idx(warp::FULL_MASK, row, 2 * lane % warp::SIZE);
    let odd = warp::shuffle_idx(warp::FULL_MASK, row, (2 * lane + 1) % warp::SIZE);
    Some(if lane < KEY_WORDS as u32 { even | odd << KEY_SIDE } else { 0 })
}
