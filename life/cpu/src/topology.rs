//! Topologies: how the edges of a board are joined.

use std::fmt;

use crate::GENERATIONS_PER_PASS;
use crate::rule::Rule;

/// How the edges of a board are joined. The letters, such as `T`, are from Golly's suffixes for bounded grids.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Topology {
    /// `P`: the edges are not joined. Cells beyond the edges are dead.
    Plane,
    /// `T`: each edge is joined to the opposite edge. A pattern that crosses the upper or lower edge moves by `across`
    /// columns. A pattern that crosses the left or right edge moves by `down` rows. At least one of `across` and `down`
    /// is 0.
    Torus {
        /// The number of columns by which the lower edge is shifted to the right.
        across: i64,
        /// The number of rows by which the right edge is shifted down.
        down: i64,
    },
    /// `T` with one unbounded side: two opposite edges are joined, and cells beyond the other two edges are dead.
    Tube(Edges),
    /// `K`: each edge is joined to the opposite edge, and one pair of edges is joined in reverse.
    Klein {
        /// The pair of edges that is joined in reverse.
        twisted: Edges,
        /// True if the reversed pair is also shifted by one cell.
        is_shifted: bool,
    },
    /// `C`: each edge is joined to the opposite edge, and both pairs are joined in reverse. Diagonally beyond a corner
    /// is the corner cell itself.
    CrossSurface,
    /// `S`, for a square board: the upper edge is joined to the left edge, and the right edge to the lower edge.
    /// Diagonally beyond a corner is the corner cell itself.
    Sphere,
}

/// A pair of opposite edges.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Edges {
    /// The upper and the lower edge.
    Horizontal,
    /// The left and the right edge.
    Vertical,
}

/// Prints the topology's name and Golly's suffix, with `W` and `H` for the width and the height: "a shifted torus
/// (:TW+5,H)".
impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, width, height) = match *self {
            Self::Plane => ("a bounded plane", "W", "H"),
            Self::TORUS => ("a torus", "W", "H"),
            Self::Torus { .. } => ("a shifted torus", "W", "H"),
            Self::Tube(Edges::Horizontal) => ("a tube", "0", "H"),
            Self::Tube(Edges::Vertical) => ("a tube", "W", "0"),
            Self::Klein { .. } => ("a Klein bottle", "W", "H"),
            Self::CrossSurface => ("a cross-surface", "W", "H"),
            Self::Sphere => ("a sphere", "W", "H"),
        };
        write!(f, "{name} ({})", self.suffix(width, height))
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

    /// Returns Golly's suffix for a board of this width and height, with its colon: ":T30+5,20". An unbounded side must
    /// be 0.
    pub fn suffix(&self, width: impl fmt::Display, height: impl fmt::Display) -> String {
        let shift = |shift: i64| if shift == 0 { String::new() } else { format!("{shift:+}") };
        let twist = |is_shifted: bool| if is_shifted { "*+1" } else { "*" };
        match *self {
            Self::Plane => format!(":P{width},{height}"),
            Self::Torus { across, down } => format!(":T{width}{},{height}{}", shift(across), shift(down)),
            Self::Tube(_) => format!(":T{width},{height}"),
            Self::Klein { twisted: Edges::Horizontal, is_shifted } => {
                format!(":K{width}{},{height}", twist(is_shifted))
            }
            Self::Klein { twisted: Edges::Vertical, is_shifted } => {
                format!(":K{width},{height}{}", twist(is_shifted))
            }
            Self::CrossSurface => format!(":C{width},{height}"),
            Self::Sphere => format!(":S{width}"),
        }
    }

    /// Returns the column and row of the cell that is seen at column `x` and row `y` of a `width` × `height` board. The
    /// position may be beyond the edges. Returns `None` beyond an edge that is not joined, where cells are dead.
    ///
    /// Fewer than four quarters of the board meet at the corners of a cross-surface and of a sphere. Positions
    /// diagonally beyond such a corner belong to no cell. For such a position, the result is the corner cell.
    ///
    /// # Panics
    /// If a side of the board is 0.
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
            Self::Klein { twisted, is_shifted } => {
                let reverse =
                    |i: i64, crossings: i64| if crossings % 2 == 0 { i } else { -1 - i64::from(is_shifted) - i };
                match twisted {
                    Edges::Horizontal => (reverse(x, y.div_euclid(h)).rem_euclid(w), y.rem_euclid(h)),
                    Edges::Vertical => (x.rem_euclid(w), reverse(y, x.div_euclid(w)).rem_euclid(h)),
                }
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

/// Returns true if the two ends of each row are neighbours.
pub fn is_ring(topology: Topology) -> bool {
    matches!(
        topology,
        Topology::Torus { down: 0, .. }
            | Topology::Tube(Edges::Vertical)
            | Topology::Klein { twisted: Edges::Horizontal, .. }
    )
}

/// Returns two flags. The first is true if cells beyond the left and right edges are dead. The second is true if cells
/// beyond the upper and lower edges are dead.
pub fn dead(topology: Topology) -> [bool; 2] {
    let is_plane = topology == Topology::Plane;
    let is_tube = |edges| topology == Topology::Tube(edges);
    [is_plane || is_tube(Edges::Horizontal), is_plane || is_tube(Edges::Vertical)]
}

/// Returns true if the topology has corners where fewer than four quarters of the board meet.
pub fn is_singular(topology: Topology) -> bool {
    matches!(topology, Topology::CrossSurface | Topology::Sphere)
}

/// Returns the number of generations after which margins must be filled again. The number is 1 if the topology rotates
/// or reflects cells at an edge and the rule distinguishes the directions.
pub fn depth(rule: &Rule, topology: Topology) -> usize {
    let is_mirrored = || rule.is_same(|row, column| (row, 2 - column));
    let is_upside_down = || rule.is_same(|row, column| (2 - row, column));
    let is_right = match topology {
        Topology::Plane | Topology::Torus { .. } | Topology::Tube(_) => true,
        Topology::Klein { twisted: Edges::Horizontal, .. } => is_mirrored(),
        Topology::Klein { twisted: Edges::Vertical, .. } => is_upside_down(),
        Topology::CrossSurface => is_mirrored() && is_upside_down(),
        Topology::Sphere => is_mirrored() && rule.is_same(|row, column| (column, row)),
    };
    if is_right { GENERATIONS_PER_PASS } else { 1 }
}
