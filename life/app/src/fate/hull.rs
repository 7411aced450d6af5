//! The extents of patterns, and a proof that two moving patterns never come near each other.

/// A position, a displacement in cells, or a velocity in cells per some number of generations, as (columns to the
/// right, rows down).
pub type Vector = (i64, i64);

/// The axes along which extents are compared.
const AXES: [Vector; 4] = [(1, 0), (0, 1), (1, 1), (1, -1)];

/// The maximum distance along each axis of two cells that have a common neighbour, or of a cell and its neighbour.
const REACH: [i64; 4] = [2, 2, 4, 4];

/// A number above all coordinates and distances of cells on the plane.
const FAR: i64 = 1 << 40;

/// The extent of some cells: the first and the last position along each of the four axes. The cells are in an octagon.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hull([(i64, i64); 4]);

impl Hull {
    /// The extent of no cells.
    pub const EMPTY: Self = Self([(FAR, -FAR); 4]);

    /// Returns the extent of `cells`.
    pub fn of(cells: impl IntoIterator<Item = Vector>) -> Self {
        cells
            .into_iter()
            .fold(Self::EMPTY, |hull, cell| hull.with(Self(AXES.map(|axis| (dot(axis, cell), dot(axis, cell))))))
    }

    /// Returns the extent of the cells of both hulls.
    pub fn with(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| (self.0[i].0.min(other.0[i].0), self.0[i].1.max(other.0[i].1))))
    }

    /// Returns the first column of the cells.
    pub fn first_column(self) -> i64 {
        self.0[0].0
    }

    /// Returns the number of columns.
    pub fn columns(self) -> i64 {
        self.0[0].1 - self.0[0].0 + 1
    }

    /// Returns the extent after all cells have moved.
    pub fn moved(self, by: Vector) -> Self {
        Self(std::array::from_fn(|i| (self.0[i].0 + dot(AXES[i], by), self.0[i].1 + dot(AXES[i], by))))
    }

    /// Returns true if no cells of the two hulls have a common neighbour now, and if this remains so after any number
    /// of steps. In each step, this hull moves, relative to `other`, by a multiple of one of the `drifts`.
    ///
    /// The result is true if the hulls are apart along an axis, and no drift makes the distance along this axis
    /// smaller. It may be false for hulls that never meet.
    pub fn stays_apart(self, other: Self, drifts: &[Vector]) -> bool {
        (0..AXES.len()).any(|i| {
            let ((first, last), (other_first, other_last)) = (self.0[i], other.0[i]);
            let along = || drifts.iter().map(|&drift| dot(AXES[i], drift));
            first - other_last > REACH[i] && along().all(|drift| drift >= 0)
                || other_first - last > REACH[i] && along().all(|drift| drift <= 0)
        })
    }
}

fn dot(a: Vector, b: Vector) -> i64 {
    a.0 * b.0 + a.1 * b.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_drifts_away_stays_apart() {
        let block = Hull::of([(0, 0), (1, 0), (0, 1), (1, 1)]);
        let at = |x, y| Hull::of([(x, y), (x + 2, y + 2)]);
        assert!(at(4, 0).stays_apart(block, &[]) && !at(3, 0).stays_apart(block, &[]));
        assert!(at(4, 0).stays_apart(block, &[(1, 1)]) && at(4, -50).stays_apart(block, &[(1, 1)]));
        assert!(!at(4, 0).stays_apart(block, &[(-1, 1)]) && at(-5, 0).stays_apart(block, &[(-1, 1)]));
        assert!(!at(4, 0).stays_apart(block, &[(1, 1), (-1, 0)]));
        // It passes the block on a diagonal.
        assert!(at(-30, -38).stays_apart(block, &[(1, 1)]) && !at(-30, -33).stays_apart(block, &[(1, 1)]));
        assert!(Hull::EMPTY.stays_apart(block, &[(1, 0)]) && block.stays_apart(Hull::EMPTY, &[(-1, 0)]));
        assert_eq!(block.moved((5, -3)), Hull::of([(5, -3), (6, -2)]).with(Hull::of([(6, -3), (5, -2)])));
    }
}
