//! Corners of a cross-surface and of a sphere, around which four quarters of the board do not meet.
//!
//! Beyond both edges of such a corner there is a single cell, the corner itself, and no part of the board. So a margin
//! of several cells is wrong there, and after n generations so are the cells up to n away from the board's corner.
//! These are computed on a small board of the same topology, which is made of the large board's corners and has its
//! margins filled in each generation.

use crate::OutOfMemory;
use crate::grid::{Grid, Tile};

/// Rows and columns of the small board: as far from a corner as its cells are right after [`crate::DEEP`] generations,
/// and as many that are not.
const SIDE: usize = 4 * crate::DEEP;

/// The corners of a board.
pub struct Corners<const N: usize>(Box<Grid<N>>);

impl<const N: usize> Corners<N> {
    /// Those of a board; none if it is too small to part them.
    pub fn of(grid: &Grid<N>) -> Result<Option<Self>, OutOfMemory> {
        if grid.layout.width.min(grid.height) < SIDE {
            return Ok(None);
        }
        let small = Grid::new(SIDE, SIDE, &[], &[], &grid.like)?;
        Ok(Some(Self(Box::new(small))))
    }

    /// Takes the corners of a board before it is advanced, and advances them.
    pub fn advance(&mut self, grid: &Grid<N>, generations: usize, tile: Tile<N>) {
        let small = &mut *self.0;
        small.generation = grid.generation;
        for (x, y) in within(SIDE / 2) {
            for plane in 0..grid.planes {
                let cell = grid.cell(far(x, grid.layout.width), far(y, grid.height), plane);
                small.put(far(x, SIDE), far(y, SIDE), plane, cell);
            }
        }
        for _ in 0..generations {
            small.pass(1, tile);
        }
    }

    /// Puts the corners into the board, which was advanced meanwhile.
    pub fn mend(&self, grid: &mut Grid<N>) {
        for (x, y) in within(SIDE / 4) {
            for plane in 0..grid.planes {
                let cell = self.0.cell(far(x, SIDE), far(y, SIDE), plane);
                grid.put(far(x, grid.layout.width), far(y, grid.height), plane, cell);
            }
        }
    }
}

/// The cells less than `reach` from two edges, by their distance from the left and upper one, or, negative, from the
/// others.
fn within(reach: usize) -> impl Iterator<Item = (isize, isize)> {
    let reach = reach as isize;
    (-reach..reach).flat_map(move |y| (-reach..reach).map(move |x| (x, y)))
}

/// The column or row of a distance.
fn far(distance: isize, side: usize) -> usize {
    distance.rem_euclid(side as isize) as usize
}
