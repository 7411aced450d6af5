//! Patterns on the unbounded plane, advanced by the host's cores.

use life::Board;
use life::plane::{self, Bounds, Plane, Run};
use program::memory::available;

use crate::backend::memory::{board_bytes, check_host};
use crate::first_board::BoardSource;
use crate::universe::Universe;

/// The maximum number of cells that an animation copies from the plane.
pub const MAX_SHOWN_CELLS: u64 = 1 << 28;

/// A pattern on the unbounded plane. The first board of the run is at (0, 0). The pattern may extend beyond it in all
/// directions.
#[derive(Clone)]
pub struct PlaneBoard {
    pub(super) plane: Plane,
    /// The size of the first board as (columns, rows).
    first_size: (usize, usize),
    /// The generation of the plane when this board was made.
    pub(super) begun_at: u64,
}

impl PlaneBoard {
    /// Makes a dead plane that is `later` generations after the first board of the run. The first board has the size
    /// `first_size`.
    fn dead(universe: &Universe, first_size: (usize, usize), later: u64) -> Self {
        let begun_at = universe.generation.wrapping_add(later);
        let mut plane = plane::dead(&universe.rule, begun_at);
        // Some systems do not report their free memory. Then the memory is not limited.
        plane.limit_memory(available().unwrap_or(u64::MAX));
        Self { plane, first_size, begun_at }
    }

    /// Makes a plane with the cells of `board`, whose upper left cell is placed at `corner`. The other arguments are
    /// those of [`dead`](Self::dead).
    ///
    /// # Errors
    /// If memory is too small, or cells are outside the plane.
    pub fn of(
        universe: &Universe,
        first_size: (usize, usize),
        (board, corner): (&Board, (i64, i64)),
        later: u64,
    ) -> anyhow::Result<Self> {
        let mut new = Self::dead(universe, first_size, later);
        plane::put(&mut new.plane, corner, board)?;
        Ok(new)
    }

    /// Makes a plane with the cells of `source`.
    ///
    /// # Errors
    /// Fails in the same cases as [`of`](Self::of), and if `source` fails.
    pub fn read(universe: &Universe, source: &BoardSource) -> anyhow::Result<Self> {
        let size = source.size();
        match source {
            BoardSource::Pattern(placed) => {
                let mut new = Self::dead(universe, size, 0);
                placed.put_on(&mut new.plane)?;
                Ok(new)
            }
            BoardSource::Soup { size, density, seed } => {
                let soup = Board::random(size.0, size.1, *density, *seed)?;
                Self::of(universe, *size, (&soup, (0, 0)), 0)
            }
            BoardSource::Saved(saved) => Self::of(universe, size, (&saved.board()?, (0, 0)), 0),
            // A run of several ranks does not use the plane.
            BoardSource::OfFirstRank { .. } => Ok(Self::dead(universe, size, 0)),
        }
    }

    /// Makes a copy of this board whose generations are counted from the present one.
    pub fn begun_now(&self) -> Self {
        Self { begun_at: self.plane.generation(), ..self.clone() }
    }

    /// Returns the smallest rectangle that contains the first board and all cells that are not dead.
    pub fn area(&self) -> Bounds {
        let (width, height) = (self.first_size.0 as i64, self.first_size.1 as i64);
        let [mut left, mut top, mut right, mut bottom] = [0, 0, width, height];
        if let Some(bounds) = self.plane.bounds() {
            (left, top) = (left.min(bounds.x), top.min(bounds.y));
            (right, bottom) = (right.max(bounds.right()), bottom.max(bounds.bottom()));
        }
        Bounds { x: left, y: top, width: (right - left) as u64, height: (bottom - top) as u64 }
    }

    /// Returns the rectangle that an animation copies to show `view`: also the whole board, if both together are small
    /// enough.
    pub fn shown_area(&self, view: Option<Bounds>) -> Bounds {
        let area = self.area();
        let Some(view) = view else { return area };
        let (x, y) = (area.x.min(view.x), area.y.min(view.y));
        let (right, bottom) = (area.right().max(view.right()), area.bottom().max(view.bottom()));
        let both = Bounds { x, y, width: right.abs_diff(x), height: bottom.abs_diff(y) };
        if both.width.saturating_mul(both.height) <= MAX_SHOWN_CELLS { both } else { view }
    }

    /// Returns the column and the row in the middle of the cells that are not dead, or `None` if all cells are dead.
    pub fn middle(&self) -> Option<(i64, i64)> {
        let bounds = self.plane.bounds()?;
        Some((bounds.x + bounds.width as i64 / 2, bounds.y + bounds.height as i64 / 2))
    }

    /// Replaces the cells of a rectangle by those of `board`. The upper left cell of `board` is placed at `corner`.
    ///
    /// # Errors
    /// If memory is too small, or cells are outside the plane.
    pub fn put(&mut self, corner: (i64, i64), board: &Board) -> anyhow::Result<()> {
        Ok(plane::put(&mut self.plane, corner, board)?)
    }

    /// Returns the cells of a rectangle.
    ///
    /// # Errors
    /// If memory is too small.
    pub fn window(&self, area: Bounds) -> anyhow::Result<Board> {
        let size = (area.width as usize, area.height as usize);
        check_host(size, board_bytes(size).saturating_mul(Board::planes(self.plane.rule().states) as u64))?;
        Ok(plane::window(&self.plane, area)?)
    }

    /// Returns the part of the plane that the first board covered.
    ///
    /// # Errors
    /// If memory is too small.
    pub fn first_window(&self) -> anyhow::Result<Board> {
        let (width, height) = (self.first_size.0 as u64, self.first_size.1 as u64);
        self.window(Bounds { x: 0, y: 0, width, height })
    }

    /// Returns the positions of the cells that are not dead, as (column, row), row by row.
    pub fn cells(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        self.plane.cells()
    }

    /// Returns a hash that does not change if all cells move.
    pub fn shape_hash(&mut self) -> u64 {
        self.plane.shape_hash()
    }

    /// Returns the numbers of columns and rows by which all cells have moved since `then`, or `None` if the cells have
    /// changed in another way.
    pub fn moved_from(&self, then: &Self) -> Option<(i64, i64)> {
        let (from, to) = match (then.plane.runs().next(), self.plane.runs().next()) {
            (None, None) => return Some((0, 0)),
            (from, to) => from.zip(to)?,
        };
        let (right, down) = (to.x - from.x, to.y - from.y);
        let moved = |run: Run| Run { x: run.x + right, y: run.y + down, ..run };
        let is_same = then.plane.runs().map(moved).eq(self.plane.runs())
            && (self.plane.rule().states == 2
                || self.plane.cells().all(|(x, y)| then.plane.state(x - right, y - down) == self.plane.state(x, y)));
        is_same.then_some((right, down))
    }

    /// Continues with the rule of `universe`. A cell becomes dead if the rule does not have the cell's state.
    ///
    /// # Errors
    /// If memory is too small. The board is unchanged then.
    pub fn change_rule(&mut self, universe: &Universe) -> anyhow::Result<()> {
        Ok(plane::change_rule(&mut self.plane, &universe.rule)?)
    }

    /// Returns the engine.
    pub fn engine(&self) -> &Plane {
        &self.plane
    }

    /// Returns the size of the first board as (columns, rows).
    pub fn first_size(&self) -> (usize, usize) {
        self.first_size
    }
}
