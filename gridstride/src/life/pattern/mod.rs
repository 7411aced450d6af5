//! Patterns: live cells in a box, as a file or a person gives them, and how they get onto a board.

use thiserror::Error;

use super::board::{Board, Run, WORD_BITS};

/// Live cells in a box, not yet on a board.
///
/// A pattern whose box is said to be huge takes memory for its runs of live cells only.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    /// What its file calls it.
    pub name: Option<String>,
    /// Columns of the box.
    pub width: usize,
    /// Rows of the box.
    pub height: usize,
    /// Width and height of the torus it is meant for, where its rule says so.
    pub torus: Option<(usize, usize)>,
    cells: Store,
}

/// How a pattern keeps its cells.
#[derive(Clone, Debug)]
enum Store {
    /// Row by row from the left, no two of them touching.
    Runs(Vec<Run>),
    /// One bit for each cell of the box.
    Packed(Board),
}

impl Default for Store {
    fn default() -> Self {
        Self::Runs(Vec::new())
    }
}

/// A text that is no pattern: where, and why.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {message}")]
pub struct ParseError {
    /// Line, counted from 1.
    pub line: usize,
    /// Column, counted from 1, in characters.
    pub column: usize,
    /// What is wrong there, and what to do.
    pub message: String,
}

/// A pattern larger than the board it was to be placed on.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "the pattern of {pattern_width}x{pattern_height} cells is larger than the grid of {width}x{height}: \
     it needs a grid of at least {pattern_width}x{pattern_height}"
)]
pub struct PlaceError {
    /// Columns of the pattern.
    pub pattern_width: usize,
    /// Rows of the pattern.
    pub pattern_height: usize,
    /// Columns of the board.
    pub width: usize,
    /// Rows of the board.
    pub height: usize,
}

impl Pattern {
    /// The pattern of the given live cells, as (column, row) in any order, in the smallest box that starts at (0, 0).
    pub fn from_cells(cells: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut cells: Vec<_> = cells.into_iter().map(|(x, y)| (y, x)).collect();
        cells.sort_unstable();
        cells.dedup();
        let width = cells.iter().map(|&(_, x)| x + 1).max().unwrap_or(0);
        let height = cells.last().map_or(0, |&(y, _)| y + 1);
        let mut pattern = Self { width, height, ..Self::default() };
        for (y, x) in cells {
            pattern.push(Run { x, y, length: 1 });
        }
        pattern
    }

    /// An empty pattern in a box of this size, to be filled with [`Pattern::push`].
    ///
    /// It keeps one bit for each cell of the box where that takes at most `budget` bytes, and a list of runs otherwise.
    /// With the length of the text that it is read from for a budget, it stays in proportion to that text, however
    /// large a box the text speaks of.
    pub fn with_budget(width: usize, height: usize, budget: usize) -> Self {
        let bytes = width.div_ceil(WORD_BITS).checked_mul(height).and_then(|words| words.checked_mul(size_of::<u32>()));
        let packed = bytes.filter(|&bytes| bytes <= budget).and_then(|_| Board::new(width, height).ok());
        Self { width, height, cells: packed.map_or_else(Store::default, Store::Packed), ..Self::default() }
    }

    /// Adds live cells, which lie in the box and beyond those that the pattern has.
    pub fn push(&mut self, run: Run) {
        match &mut self.cells {
            Store::Packed(board) => board.fill_run(run),
            Store::Runs(runs) => match runs.last_mut() {
                Some(last) if last.y == run.y && last.x + last.length == run.x => last.length += run.length,
                _ => runs.push(run),
            },
        }
    }

    /// The live cells as runs, row by row from the left; each as long as it can be within its row.
    pub fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        let (packed, runs) = match &self.cells {
            Store::Packed(board) => (Some(board), &[][..]),
            Store::Runs(runs) => (None, &runs[..]),
        };
        packed.into_iter().flat_map(Board::runs).chain(runs.iter().copied())
    }

    /// The live cells as (column, row), row by row from the left.
    pub fn cells(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.runs().flat_map(Run::cells)
    }

    /// Number of live cells; `u64::MAX` where there are more.
    pub fn population(&self) -> u64 {
        match &self.cells {
            Store::Packed(board) => board.population(),
            Store::Runs(runs) => runs.iter().fold(0, |sum, run| sum.saturating_add(run.length as u64)),
        }
    }
}

/// Patterns are equal that have the same name, box, torus and live cells.
impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && (self.width, self.height) == (other.width, other.height)
            && self.torus == other.torus
            && self.runs().eq(other.runs())
    }
}

impl Eq for Pattern {}

/// How a pattern gets onto a board.
impl Board {
    /// Makes the live cells of `pattern` alive, its upper left corner at column `x` and row `y`, going around the torus
    /// where it crosses an edge. Other cells stay as they are.
    ///
    /// # Errors
    /// [`PlaceError`] when the pattern's box is wider or higher than the board.
    pub fn place(&mut self, pattern: &Pattern, x: usize, y: usize) -> Result<(), PlaceError> {
        let (width, height) = (self.width(), self.height());
        if pattern.width > width || pattern.height > height {
            let (pattern_width, pattern_height) = (pattern.width, pattern.height);
            return Err(PlaceError { pattern_width, pattern_height, width, height });
        }
        let (left, top) = (x % width, y % height);
        for Run { x, y, length } in pattern.runs() {
            let (x, y) = ((x + left) % width, (y + top) % height);
            let before_edge = length.min(width - x);
            self.fill_run(Run { x, y, length: before_edge });
            self.fill_run(Run { x: 0, y, length: length - before_edge });
        }
        Ok(())
    }

    /// Places `pattern` in the middle; what cannot be split evenly leaves the larger half to the right and below.
    ///
    /// # Errors
    /// [`PlaceError`] when the pattern's box is wider or higher than the board.
    pub fn place_centered(&mut self, pattern: &Pattern) -> Result<(), PlaceError> {
        let x = self.width().saturating_sub(pattern.width) / 2;
        let y = self.height().saturating_sub(pattern.height) / 2;
        self.place(pattern, x, y)
    }
}

#[cfg(test)]
mod tests;
