//! Advances a board in passes, and computes the corners of a cross-surface and of a sphere. At a corner of a torus, the
//! four quarters of the board meet; at some corners of these topologies, fewer quarters meet.
//!
//! Diagonally beyond such a corner, the only cell is the corner cell itself. A margin of several cells is therefore
//! wrong there. After n generations, the cells up to n away from the corner are wrong, too. These cells are computed on
//! a small board of the same topology, which consists of the four corners of the large board. The margins of the small
//! board are filled before each generation.

use crate::grid::Grid;
use crate::topology::is_singular;
use crate::{FirstBoard, GENERATIONS_PER_PASS, OutOfMemory};

/// The number of rows and of columns of the small board. Each corner needs 2 × [`GENERATIONS_PER_PASS`] rows and
/// columns. Within [`GENERATIONS_PER_PASS`] generations, the inner half of a corner becomes wrong, but the outer half
/// stays correct.
const SIDE: usize = 4 * GENERATIONS_PER_PASS;

impl<const N: usize> Grid<N> {
    /// Adds the small board that computes the corners, if the topology needs it.
    pub fn with_corners(mut self) -> Result<Self, OutOfMemory> {
        if is_singular(self.dynamics.topology) && self.depth > 1 {
            self.corners = corners_of(&self)?;
            self.depth = if self.corners.is_some() { GENERATIONS_PER_PASS } else { 1 };
        }
        Ok(self)
    }

    /// Advances the board by `generations` generations, in passes.
    pub fn advance(&mut self, generations: u64) {
        if self.now.is_empty() {
            self.generation = self.generation.wrapping_add(generations);
        } else if self.margins.len() * self.height.div_ceil(self.band_rows()) == 1 {
            self.advance_in_passes(generations);
        } else {
            // The threads of the pool share a pass. The loop over the passes runs in one of these threads, because a
            // thread outside the pool would have to be woken after each pass.
            rayon::scope(|_| self.advance_in_passes(generations));
        }
    }

    fn advance_in_passes(&mut self, generations: u64) {
        let mut left = generations;
        while left > 0 {
            let now = left.min(self.depth as u64);
            // The corners are removed from the grid, because both are borrowed in a pass.
            let mut corners = self.corners.take();
            if let Some(corners) = &mut corners {
                advance_corners(corners, self, now as usize);
            }
            self.pass(now as usize);
            if let Some(corners) = &corners {
                mend(self, corners);
            }
            self.corners = corners;
            left -= now;
        }
    }
}

/// Makes the small board for `grid`. Returns `None` if `grid` is too small for four separate corners.
fn corners_of<const N: usize>(grid: &Grid<N>) -> Result<Option<Box<Grid<N>>>, OutOfMemory> {
    if grid.layout.width.min(grid.height) < SIDE {
        return Ok(None);
    }
    let dead = FirstBoard { width: SIDE, height: SIDE, words: &[], ages: &[], generation: 0 };
    Ok(Some(Box::new(Grid::new(&dead, grid.dynamics)?)))
}

/// Copies the corners of `grid` before a pass to the small board `corners`, and advances these copies by `generations`
/// generations.
fn advance_corners<const N: usize>(corners: &mut Grid<N>, grid: &Grid<N>, generations: usize) {
    corners.generation = grid.generation;
    for (x, y) in within(SIDE / 2) {
        for plane in 0..grid.planes {
            let cell = grid.cell(far(x, grid.layout.width), far(y, grid.height), plane);
            corners.put(far(x, SIDE), far(y, SIDE), plane, cell);
        }
    }
    for _ in 0..generations {
        corners.pass(1);
    }
}

/// Writes the advanced `corners` back into `grid`. A pass must have advanced `grid` by the same number of generations.
fn mend<const N: usize>(grid: &mut Grid<N>, corners: &Grid<N>) {
    for (x, y) in within(SIDE / 4) {
        for plane in 0..grid.planes {
            let cell = corners.cell(far(x, SIDE), far(y, SIDE), plane);
            grid.put(far(x, grid.layout.width), far(y, grid.height), plane, cell);
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
