//! How the edges of a board are joined, in the form that kernels use: a function from a position beyond an edge to a
//! cell of the board.

use cuda_std::DeviceCopy;

/// The way in which the edges of a board are joined. The host computes it from a topology for one board size.
#[derive(Clone, Copy, PartialEq, Eq, Debug, DeviceCopy)]
#[repr(C)]
pub struct Surface {
    flags: u32,
    /// The shift across the upper or lower edge, in columns to the right.
    across: i32,
    /// The shift across the left or right edge, in rows down.
    down: i32,
}

/// Flag: all cells beyond the left and right edges are dead.
const DEAD_COLUMNS: u32 = 1;
/// Flag: all cells beyond the upper and lower edges are dead.
const DEAD_ROWS: u32 = 2;

/// Flag: columns are reversed beyond the upper and lower edges.
const REVERSES_COLUMNS: u32 = 4;
/// Flag: rows are reversed beyond the left and right edges.
const REVERSES_ROWS: u32 = 8;

/// Flag: beyond both edges of a corner there is only one cell, the corner cell.
const HAS_CORNERS: u32 = 16;

/// Flag: each edge is joined to an adjacent edge instead of the opposite edge.
const TURNS: u32 = 32;

/// Returns `value` modulo `length`. The division is in a branch, because callers seldom pass a value outside
/// `0..length`.
#[inline(always)]
pub(super) fn on_circle(value: i32, length: u32) -> u32 {
    let length = length as i32;
    let value = if value < 0 || value >= length { value % length } else { value };
    (if value < 0 { value + length } else { value }) as u32
}

/// Returns `value` / `length`, rounded down: how many times a position wraps around the board. This is usually 0.
#[inline(always)]
fn times_around(value: i32, length: u32) -> i32 {
    if value < 0 || value >= length as i32 { value.div_euclid(length as i32) } else { 0 }
}

/// Returns the shift of least absolute value that equals `value` modulo `length`. Twice the result does not overflow.
const fn shorter(shift: i64, length: u32) -> i32 {
    let shift = shift.rem_euclid(length as i64);
    (if shift > length as i64 / 2 { shift - length as i64 } else { shift }) as i32
}

impl Surface {
    /// Returns a plane. Cells beyond the left and right edges are dead if `columns` is true, and cells beyond the upper
    /// and lower edges if `rows` is true. Other edges are joined.
    pub const fn plane(columns: bool, rows: bool) -> Self {
        let flags = if columns { DEAD_COLUMNS } else { 0 } | if rows { DEAD_ROWS } else { 0 };
        Self { flags, across: 0, down: 0 }
    }

    /// Returns a torus of `width` × `height` cells. A path from top to bottom is shifted by `across` columns to the
    /// right. A path from left to right is shifted by `down` rows down. At least one of the two must be 0.
    pub const fn torus((width, height): (u32, u32), across: i64, down: i64) -> Self {
        Self { flags: 0, across: shorter(across, width), down: shorter(down, height) }
    }

    /// Returns a Klein bottle. If `reverses_columns` is true, the upper and lower edges are joined with reversed
    /// columns; otherwise the left and right edges are joined with reversed rows. If `is_shifted` is true, the reversed
    /// edges are also shifted by one cell.
    pub const fn klein(reverses_columns: bool, is_shifted: bool) -> Self {
        let shift = is_shifted as i32;
        if reverses_columns {
            Self { flags: REVERSES_COLUMNS, across: shift, down: 0 }
        } else {
            Self { flags: REVERSES_ROWS, across: 0, down: shift }
        }
    }

    /// A cross-surface: all edges are joined to the opposite edges and reversed.
    pub const CROSS_SURFACE: Self = Self { flags: REVERSES_COLUMNS | REVERSES_ROWS | HAS_CORNERS, across: 0, down: 0 };

    /// A sphere: the upper edge is joined to the left edge, and the right edge to the lower edge.
    pub const SPHERE: Self = Self { flags: TURNS | HAS_CORNERS, across: 0, down: 0 };

    /// Returns true if the surface has corners where fewer than four quarters of the board meet. Margins at such
    /// corners are correct for only one generation.
    pub const fn has_corners(&self) -> bool {
        self.flags & HAS_CORNERS != 0
    }

    /// Returns two flags. The first is true if all cells beyond the left and right edges are dead, the second if all
    /// cells beyond the upper and lower edges are dead.
    pub const fn dead(&self) -> [bool; 2] {
        [self.flags & DEAD_COLUMNS != 0, self.flags & DEAD_ROWS != 0]
    }

    /// Returns the coordinate `value`, on a side of `length` cells, after the other coordinate has crossed an edge
    /// `around` times. Without the flag `reverses`, each crossing adds `shift`. With the flag, an odd number of
    /// crossings mirrors the coordinate and shifts it once, and an even number leaves it unchanged.
    #[inline(always)]
    fn moved(&self, value: i32, length: u32, (around, shift): (i32, i32), reverses: u32) -> u32 {
        let moved = if self.flags & reverses == 0 {
            value + around * shift
        } else if around & 1 != 0 {
            -1 - shift - value
        } else {
            value
        };
        on_circle(moved, length)
    }

    /// Returns the column and row on the board of the cell at position `x`, `y`, for a board of `width` × `height`
    /// cells. The position may be beyond the edges by up to the width of a margin. Returns `None` if the position is
    /// beyond a dead edge.
    #[inline(always)]
    pub fn source(&self, (width, height): (u32, u32), x: i32, y: i32) -> Option<(u32, u32)> {
        let (around_x, around_y) = (times_around(x, width), times_around(y, height));
        let [dead_columns, dead_rows] = self.dead();
        if around_x != 0 && dead_columns || around_y != 0 && dead_rows {
            return None;
        }
        let (right, bottom) = (width as i32 - 1, height as i32 - 1);
        if around_x != 0 && around_y != 0 && self.has_corners() {
            return Some((x.clamp(0, right) as u32, y.clamp(0, bottom) as u32));
        }
        if self.flags & TURNS != 0 {
            let (x, y) = match (x, y) {
                _ if x < 0 => (y, -1 - x),
                _ if y < 0 => (-1 - y, x),
                _ if x > right => (y, bottom - x + height as i32),
                _ if y > bottom => (right - y + width as i32, x),
                inside => inside,
            };
            let is_cell = (0..=right).contains(&x) && (0..=bottom).contains(&y);
            return is_cell.then_some((x as u32, y as u32));
        }
        let column = self.moved(x, width, (around_y, self.across), REVERSES_COLUMNS);
        Some((column, self.moved(y, height, (around_x, self.down), REVERSES_ROWS)))
    }
}
