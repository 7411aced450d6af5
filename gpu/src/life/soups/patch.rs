//! A square of 32 × 32 cells around one object. Lane *i* of a warp has row *i*, one cell per bit.

use cuda_std::bits::{funnel_shift_left, funnel_shift_right};
use cuda_std::{Shared, unroll, warp};

use super::super::interleaved::logic::WORDS;
use super::window::SIDE_PER_LANE;

/// The bits of the outer two columns, and the outer two rows, of a patch. An object that reaches them may continue
/// outside of the patch.
const OUTER: u32 = 0xc000_0003;

/// The column of a patch at which its seed is.
const SEED_COLUMN: i32 = 15;

/// The number of words of an object's key.
pub const KEY_WORDS: usize = 8;

/// The number of columns, and of rows, of the largest object that has a key.
const KEY_SIDE: u32 = 16;

/// A window in shared memory, in words of 32 cells: bit *i* of word *q* of a row is column `32 · q + i`. A lane has the
/// same rows as in [`window`](super::window), and of these the words whose number is that of the lane among the lanes
/// that share a row, modulo `ACROSS`. No lane accesses another lane's words, so no memory access needs to be ordered.
#[derive(Clone, Copy)]
pub(super) struct Plain<const ACROSS: usize, const ROWS: usize>(pub(super) Shared<u32>);

impl<const ACROSS: usize, const ROWS: usize> Plain<ACROSS, ROWS> {
    /// The number of columns, and of rows.
    pub(super) const SIDE: i32 = (SIDE_PER_LANE * ACROSS) as i32;
    /// The number of words of a row.
    const ROW_WORDS: i32 = Self::SIDE / 32;

    /// Returns the index of the lane's word `word` of its row `row`.
    #[inline(always)]
    pub(super) fn index(row: usize, word: usize) -> usize {
        (row * warp::SIZE as usize + warp::lane_id() as usize) * WORDS + word
    }

    /// Returns word `q` of row `y`. Both may be outside of the window, where all cells are dead. All lanes must call this
    /// function with the same `q`.
    #[inline(always)]
    fn load(&self, y: i32, q: i32) -> u32 {
        if q < 0 || q >= Self::ROW_WORDS {
            return 0;
        }
        let (across, is_inside) = (ACROSS as u32, y >= 0 && y < Self::SIDE);
        let y = y as u32;
        let (owner, mut found, mut row) = (y / ROWS as u32 * across + q as u32 % across, 0, 0);
        while row < ROWS {
            let word = self.0.load(Self::index(row, q as usize / ACROSS));
            let word = warp::shuffle_idx(warp::FULL_MASK, word, owner % warp::SIZE);
            if is_inside && y % ROWS as u32 == row as u32 {
                found = word;
            }
            row += 1;
        }
        found
    }

    /// Kills the `cells` of word `q` of row `top` and the 31 rows below it. Lane *i* has the cells of row `top + i`, which
    /// are dead outside of the window. All lanes must call this function with the same `top` and `q`.
    #[inline(always)]
    fn remove(&self, top: i32, q: i32, cells: u32) {
        if q < 0 || q >= Self::ROW_WORDS {
            return;
        }
        let lane = warp::lane_id() as usize;
        let (is_owner, mut row) = (lane % ACROSS == q as usize % ACROSS, 0);
        while row < ROWS {
            let from = (lane / ACROSS * ROWS + row) as i32 - top;
            let cells = warp::shuffle_idx(warp::FULL_MASK, cells, from as u32 % warp::SIZE);
            if is_owner && from >= 0 && from < warp::SIZE as i32 {
                let at = Self::index(row, q as usize / ACROSS);
                self.0.store(at, self.0.load(at) & !cells);
            }
            row += 1;
        }
    }
}

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
        let (y, q) = (self.top + warp::lane_id() as i32, self.left >> 5);
        funnel_shift_right(plain.load(y, q), plain.load(y, q + 1), self.left as u32)
    }

    /// Kills the `cells` of the lane's row in the window.
    #[inline(always)]
    pub(super) fn remove<const ACROSS: usize, const ROWS: usize>(&self, plain: Plain<ACROSS, ROWS>, cells: u32) {
        let q = self.left >> 5;
        plain.remove(self.top, q, cells << (self.left & 31));
        plain.remove(self.top, q + 1, funnel_shift_left(cells, 0, self.left as u32));
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
