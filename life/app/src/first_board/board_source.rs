//! The source of the cells of a run's first board.

use std::ops::Range;

use life::plane::{Plane, PlaneError, Run};
use life::{Board, Pattern};
use life_formats::macrocell::Tree;
use program::memory::available;

use crate::checkpoint::saved_board::SavedBoard;
use crate::universe::Universe;

/// The maximum number of cells of a small board.
const SMALL_BOX: u64 = 1 << 20;

/// A box is mostly dead if at most one of this number of cells is alive.
const DEAD_SHARE: u64 = 32;

/// The source of the cells of a run's first board.
#[derive(Debug)]
pub enum BoardSource {
    /// A pattern from a file.
    Pattern(Box<PlacedPattern>),
    /// The board of a rank that is not the first. Only the first rank has the board's cells.
    OfFirstRank {
        /// The size of the board as (columns, rows).
        size: (usize, usize),
    },
    /// A soup: random cells.
    Soup {
        /// The size of the board as (columns, rows).
        size: (usize, usize),
        /// The fraction of cells that are alive, from 0 to 1.
        density: f64,
        /// The seed of the random cells.
        seed: u64,
    },
    /// A checkpoint file.
    Saved(SavedBoard),
}

impl BoardSource {
    /// Returns the size of the board as (columns, rows).
    pub fn size(&self) -> (usize, usize) {
        match self {
            Self::Pattern(placed) => placed.size,
            Self::OfFirstRank { size } | Self::Soup { size, .. } => *size,
            Self::Saved(saved) => saved.header.size,
        }
    }
}

/// Returns true if the cores' engine for the plane is probably faster than a GPU: the box of `width` × `height` cells,
/// of which `population` are alive, is small or mostly dead.
pub fn suits_plane((width, height): (usize, usize), population: u64) -> bool {
    let cells = (width as u64).saturating_mul(height as u64);
    cells <= SMALL_BOX || population <= cells / DEAD_SHARE
}

/// A pattern and its position on a board. The methods make the whole board or a part of it.
#[derive(Debug)]
pub struct PlacedPattern {
    /// The pattern, without cells if `tree` has them.
    pub(super) pattern: Pattern,
    /// The cells of a macrocell file.
    pub(super) tree: Option<Tree>,
    /// The size of the board as (columns, rows).
    pub(super) size: (usize, usize),
    /// The universe of the board.
    pub(super) universe: Universe,
    /// The position of the board's upper left corner on the plane, as (column, row).
    pub(super) origin: (i64, i64),
    /// The position of the pattern's upper left corner on the board.
    pub(super) corner: (usize, usize),
    /// True for rules such as LifeHistory, in which cells in odd states are alive.
    pub(super) is_history: bool,
}

impl PlacedPattern {
    /// Makes a pattern whose upper left corner is that of a board of `size`.
    pub fn whole(pattern: Pattern, size: (usize, usize), universe: Universe) -> Box<Self> {
        Box::new(Self { pattern, tree: None, size, universe, origin: (0, 0), corner: (0, 0), is_history: false })
    }

    /// Makes a pattern from the cells of the two-state board `board`, placed on a board of the same size.
    #[cfg(test)]
    pub fn of(board: Board) -> Box<Self> {
        let size = (board.width(), board.height());
        Self::whole(Pattern::from_board(board), size, Universe::default())
    }

    /// Returns true if the cores' engine for the plane is probably faster than a GPU for a pattern without a tree.
    pub fn suits_plane(&self) -> bool {
        let others: usize = self.pattern.others().iter().map(|(run, _)| run.length).sum();
        suits_plane(self.size, self.pattern.population().saturating_add(others as u64))
    }

    /// Makes the whole board.
    ///
    /// # Errors
    /// If memory is too small, or no board can have this size.
    pub fn board(&self) -> anyhow::Result<Board> {
        self.rows(0..self.size.1)
    }

    /// Puts the cells on a plane, so that the upper left corner of the board is at (0, 0).
    ///
    /// # Errors
    /// If memory is too small, or cells are outside the plane.
    pub fn put_on(&self, plane: &mut Plane) -> Result<(), PlaneError> {
        let state_of = |state| if self.is_history { state % 2 } else { state };
        if let Some(tree) = &self.tree {
            let [x, y] = [self.corner.0, self.corner.1].map(|at| i64::try_from(at).unwrap_or(i64::MAX));
            return tree.put_on(plane, (x, y), state_of);
        }
        let at = |run: life::board::Run| {
            let (x, y) = (run.x.saturating_add(self.corner.0), run.y.saturating_add(self.corner.1));
            let [x, y] = [x, y].map(|at| i64::try_from(at).unwrap_or(i64::MAX));
            Run { x, y, length: run.length as u64 }
        };
        for run in self.pattern.runs() {
            plane.set_run(at(run))?;
        }
        for &(run, state) in self.pattern.others() {
            let Run { x, y, length } = at(run);
            for x in (x..).take(length as usize) {
                plane.set_state(x, y, state_of(state))?;
            }
        }
        Ok(())
    }

    /// Makes `rows` of the board.
    ///
    /// # Errors
    /// Fails in the same cases as [`board`](Self::board).
    pub fn rows(&self, rows: Range<usize>) -> anyhow::Result<Board> {
        let (width, height) = self.size;
        let of_tree;
        let pattern = match &self.tree {
            Some(tree) => {
                of_tree = tree.pattern(available().unwrap_or(u64::MAX))?;
                &of_tree
            }
            None => &self.pattern,
        };
        let mut board = Board::with_states(width, rows.len(), self.universe.rule.states())?;
        board.place_rows(pattern, self.corner, rows.start, height)?;
        if self.is_history {
            let odd = pattern.others().iter().filter(|(_, state)| state % 2 == 1);
            for (x, y) in odd.flat_map(|(run, _)| run.cells()) {
                let (x, y) = ((x + self.corner.0) % width, (y + self.corner.1) % height);
                if rows.contains(&y) {
                    board.set(x, y - rows.start, true);
                }
            }
        }
        Ok(board)
    }
}
