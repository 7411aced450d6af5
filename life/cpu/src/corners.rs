//! Computes the corners of a cross-surface and of a sphere. At a corner of a torus, the four quarters of the board
//! meet; at some corners of these topologies, fewer quarters meet.
//!
//! Diagonally beyond such a corner, the only cell is the corner cell itself. A margin of several cells is therefore
//! wrong there. After n generations, the cells up to n away from the corner are wrong, too. These cells are computed on
//! a small board of the same topology, which consists of the four corners of the large board. The margins of the small
//! board are filled before each generation.

use crate::grid::Grid;
use crate::{FirstBoard, OutOfMemory};

/// The number of rows and of columns of the small board. Each corner needs 2 × [`crate::GENERATIONS_PER_PASS`] rows and
/// columns. Within [`crate::GENERATIONS_PER_PASS`] generations, the inner half of a corner becomes wrong, but the outer
/// half stays correct.
const SIDE: usize = 4 * crate::GENERATIONS_PER_PASS;

/// The small board that consists of the four corners of a board.
pub struct Corners<const N: usize>(Box<Grid<N>>);

impl<const N: usize> Corners<N> {
    /// Makes the small board for `grid`. Returns `None` if `grid` is too small for four separate corners.
    pub fn of(grid: &Grid<N>) -> Result<Option<Self>, OutOfMemory> {
        if grid.layout.width.min(grid.height) < SIDE {
            return Ok(None);
        }
        let dead = FirstBoard { width: SIDE, height: SIDE, words: &[], ages: &[], generation: 0 };
        Ok(Some(Self(Box::new(Grid::new(&dead, grid.dynamics)?))))
    }

    /// Copies the corners of `grid` before a pass, and advances these copies by `generations` generations.
    pub fn advance(&mut self, grid: &Grid<N>, generations: usize) {
        let small = &mut *self.0;
        small.generation = grid.generation;
        for (x, y) in within(SIDE / 2) {
            for plane in 0..grid.planes {
                let cell = grid.cell(far(x, grid.layout.width), far(y, grid.height), plane);
                small.put(far(x, SIDE), far(y, SIDE), plane, cell);
            }
        }
        for _ in 0..generations {
            small.pass(1);
        }
    }

    /// Writes the advanced corners back into `grid`. A pass must have advanced `grid` by the same number of
    /// generations.
    pub fn mend(&self, grid: &mut Grid<N>) {
        for (x, y) in within(SIDE / 4) {
            for plane in 0..grid.planes {
                let cell = self.0.cell(far(x, SIDE), far(y, SIDE), plane);
                grid.put(far(x, grid.layout.width), far(y, grid.height), plane, cell);
            }
        }
    }
}

/// Returns all cells that are at most `reach` cells away from a corner. Each cell is given by its distances from the
/// left and the upper edge. A negative distance counts from the right or the lower edge.
fn within(reach: usize) -> impl Iterator<Item = (isize, isize)> {
    let reach = reach as isize;
    (-reach..reach).flat_map(move |y| (-reach..reach).map(move |x| (x, y)))
}

/// Converts a distance from an edge to the number of a column or row. `side` is the number of columns or rows.
fn far(distance: isize, side: usize) -> usize {
    distance.rem_euclid(side as isize) as usize
}
