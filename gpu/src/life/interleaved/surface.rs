//! How the edges of a board are joined, as kernels are told it: which cell is seen beyond an edge.

use cuda_std::DeviceCopy;

/// How the edges of a board are joined. The host makes it of a topology, of the same board.
#[derive(Clone, Copy, PartialEq, Eq, Debug, DeviceCopy)]
#[repr(C)]
pub struct Surface {
    flags: u32,
    /// Columns to the right on the way across the upper or lower edge, and rows down across the left or right one.
    across: i32,
    down: i32,
}

/// All beyond the left and right edges is dead; beyond the upper and lower ones.
const DEAD_COLUMNS: u32 = 1;
const DEAD_ROWS: u32 = 2;

/// Beyond the upper and lower edges columns are reversed; beyond the left and right ones rows are.
const REVERSES_COLUMNS: u32 = 4;
const REVERSES_ROWS: u32 = 8;

/// Beyond both edges of a corner there is the corner alone.
const HAS_CORNERS: u32 = 16;

/// Edges are joined to the next ones.
const TURNS: u32 = 32;

/// `value` modulo `length`. What it is called with is seldom negative, and seldom larger.
#[inline(always)]
pub(super) fn on_circle(value: i32, length: u32) -> u32 {
    let length = length as i32;
    let value = if value < 0 || value >= length { value % length } else { value };
    (if value < 0 { value + length } else { value }) as u32
}

/// How often `value` is beyond `length`, in which it seldom is.
#[inline(always)]
fn times_around(value: i32, length: u32) -> i32 {
    if value < 0 || value >= length as i32 { value.div_euclid(length as i32) } else { 0 }
}

/// The shorter of the two ways by `shift` cells around a circle of `length`: twice of it is no overflow.
const fn shorter(shift: i64, length: u32) -> i32 {
    let shift = shift.rem_euclid(length as i64);
    (if shift > length as i64 / 2 { shift - length as i64 } else { shift }) as i32
}

impl Surface {
    /// Dead beyond the left and right edges if `columns`, and beyond the upper and lower ones if `rows`; the others are joined.
    pub const fn plane(columns: bool, rows: bool) -> Self {
        let flags = if columns { DEAD_COLUMNS } else { 0 } | if rows { DEAD_ROWS } else { 0 };
        Self { flags, across: 0, down: 0 }
    }

    /// A torus of `width` × `height`: `across` columns to the right on the way from top to bottom, and `down` rows down on the way
    /// from left to right, one of which is 0.
    pub const fn torus((width, height): (u32, u32), across: i64, down: i64) -> Self {
        Self { flags: 0, across: shorter(across, width), down: shorter(down, height) }
    }

    /// A Klein bottle, of which the upper and lower edges are reversed, or the left and right ones, and shifted by a cell.
    pub const fn klein(reverses_columns: bool, is_shifted: bool) -> Self {
        let shift = is_shifted as i32;
        if reverses_columns {
            Self { flags: REVERSES_COLUMNS, across: shift, down: 0 }
        } else {
            Self { flags: REVERSES_ROWS, across: 0, down: shift }
        }
    }

    /// A cross-surface: all edges are joined to the opposite ones and reversed.
    pub const CROSS_SURFACE: Self = Self { flags: REVERSES_COLUMNS | REVERSES_ROWS | HAS_CORNERS, across: 0, down: 0 };

    /// A sphere: the upper edge is joined to the left one, and the right one to the lower one.
    pub const SPHERE: Self = Self { flags: TURNS | HAS_CORNERS, across: 0, down: 0 };

    /// Whether there are corners around which four quarters of the board do not meet: beyond them, margins are right for one
    /// generation.
    pub const fn has_corners(&self) -> bool {
        self.flags & HAS_CORNERS != 0
    }

    /// Whether all beyond the left and right edges is dead, and beyond the upper and lower ones.
    pub const fn dead(&self) -> [bool; 2] {
        [self.flags & DEAD_COLUMNS != 0, self.flags & DEAD_ROWS != 0]
    }

    /// A coordinate on a side of `length`, seen where the other one is so many times around.
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

    /// The cell, as column and row, of a board of `width` × `height` that is seen at column `x` and row `y`, up to a margin beyond
    /// its edges; none if it is dead there.
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
