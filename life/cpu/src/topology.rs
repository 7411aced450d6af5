//! Topologies: how the edges of a board are joined.

use std::fmt;

/// How the edges of a board are joined. Letters are those of Golly's bounded grids.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Topology {
    /// `P`: not at all. What is beyond them is dead.
    Plane,
    /// `T`: each to the opposite one. Crossing the upper or lower edge moves a cell by `across` columns, and crossing
    /// the left or right one by `down` rows; one of them is 0.
    Torus {
        /// Columns to the right on the way from top to bottom.
        across: i64,
        /// Rows down on the way from left to right.
        down: i64,
    },
    /// `T` with one side unbounded: two opposite edges are joined, and beyond the others all is dead.
    Tube(Edges),
    /// `K`: each to the opposite one, two of them reversed.
    Klein {
        /// Those that are reversed.
        twisted: Edges,
        /// Whether they are shifted by a cell, too.
        is_shifted: bool,
    },
    /// `C`: each to the opposite one, all of them reversed. A corner's neighbour beyond the corner is itself.
    CrossSurface,
    /// `S`: the upper edge to the left one and the right one to the lower one, on a square. A corner's neighbour beyond
    /// the corner is itself.
    Sphere,
}

/// Two opposite edges.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Edges {
    /// The upper and the lower one.
    Horizontal,
    /// The left and the right one.
    Vertical,
}

/// Words, and Golly's suffix with `W` and `H` for the sides: "a shifted torus (:TW+5,H)".
impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shift = |shift: i64| if shift == 0 { String::new() } else { format!("{shift:+}") };
        let twist = |is_shifted: bool| if is_shifted { "*+1" } else { "*" };
        match *self {
            Self::Plane => f.write_str("a bounded plane (:PW,H)"),
            Self::TORUS => f.write_str("a torus (:TW,H)"),
            Self::Torus { across, down } => write!(f, "a shifted torus (:TW{},H{})", shift(across), shift(down)),
            Self::Tube(Edges::Horizontal) => f.write_str("a tube (:T0,H)"),
            Self::Tube(Edges::Vertical) => f.write_str("a tube (:TW,0)"),
            Self::Klein { twisted: Edges::Horizontal, is_shifted } => {
                write!(f, "a Klein bottle (:KW{},H)", twist(is_shifted))
            }
            Self::Klein { twisted: Edges::Vertical, is_shifted } => {
                write!(f, "a Klein bottle (:KW,H{})", twist(is_shifted))
            }
            Self::CrossSurface => f.write_str("a cross-surface (:CW,H)"),
            Self::Sphere => f.write_str("a sphere (:SW)"),
        }
    }
}

impl Default for Topology {
    fn default() -> Self {
        Self::TORUS
    }
}

impl Topology {
    /// The torus without a shift.
    pub const TORUS: Self = Self::Torus { across: 0, down: 0 };

    /// The cell, as column and row, of a board of `width` × `height` that is seen at column `x` and row `y`, which may
    /// be beyond its edges; none if it is dead there.
    ///
    /// Where edges meet in a point around which there are not four quarters (all corners of a cross-surface and a
    /// sphere), what is further than a cell beyond both edges is no cell of the surface: the corner is given.
    ///
    /// # Panics
    /// When a side of the board is 0.
    pub fn source(&self, width: usize, height: usize, x: i64, y: i64) -> Option<(usize, usize)> {
        let (w, h) = (width as i64, height as i64);
        let (columns, rows) = (0..w, 0..h);
        let (x, y) = match *self {
            Self::Plane => (x, y),
            Self::Tube(Edges::Horizontal) => (x, y.rem_euclid(h)),
            Self::Tube(Edges::Vertical) => (x.rem_euclid(w), y),
            Self::Torus { across, down } => {
                let (around_x, around_y) = (x.div_euclid(w), y.div_euclid(h));
                ((x + around_y.wrapping_mul(across)).rem_euclid(w), (y + around_x.wrapping_mul(down)).rem_euclid(h))
            }
            Self::Klein { twisted: Edges::Horizontal, is_shifted } => {
                let reversed = -1 - i64::from(is_shifted) - x;
                let is_reversed = y.div_euclid(h).rem_euclid(2) == 1;
                (if is_reversed { reversed } else { x }.rem_euclid(w), y.rem_euclid(h))
            }
            Self::Klein { twisted: Edges::Vertical, is_shifted } => {
                let reversed = -1 - i64::from(is_shifted) - y;
                let is_reversed = x.div_euclid(w).rem_euclid(2) == 1;
                (x.rem_euclid(w), if is_reversed { reversed } else { y }.rem_euclid(h))
            }
            Self::CrossSurface | Self::Sphere if !columns.contains(&x) && !rows.contains(&y) => {
                (x.clamp(0, w - 1), y.clamp(0, h - 1))
            }
            Self::CrossSurface => {
                let is_reversed = |i: i64, side: i64| i.div_euclid(side).rem_euclid(2) == 1;
                let column = if is_reversed(y, h) { w - 1 - x } else { x };
                let row = if is_reversed(x, w) { h - 1 - y } else { y };
                (column.rem_euclid(w), row.rem_euclid(h))
            }
            Self::Sphere => match (x, y) {
                _ if x < 0 => (y, -1 - x),
                _ if y < 0 => (-1 - y, x),
                _ if x >= w => (y, 2 * h - 1 - x),
                _ if y >= h => (2 * w - 1 - y, x),
                inside => inside,
            },
        };
        (columns.contains(&x) && rows.contains(&y)).then_some((x as usize, y as usize))
    }
}
