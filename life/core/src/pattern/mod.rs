//! Patterns of live cells, and functions that place them on a board.

use thiserror::Error;

use super::board::{Board, Run, WORD_BITS};

/// A pattern: live cells in a rectangular box that are not yet on a board.
///
/// A pattern with a very large box needs memory only for its runs of live cells. In state 0 a cell is dead, and in
/// state 1 it is alive. Cells in other states are stored in a separate list.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    /// The name of the pattern in its file.
    pub name: Option<String>,
    /// The number of columns of the box.
    pub width: usize,
    /// The number of rows of the box.
    pub height: usize,
    /// The text of the rule in the pattern's file, with any suffix after a colon.
    pub rule: Option<String>,
    /// The generation number in the pattern's file.
    pub generation: u64,
    /// The column and row of the box's upper left corner on the plane, read from the pattern's file.
    pub origin: (i64, i64),
    /// The line and column of the first cell in a state above 1 in the pattern's text, counted from 1. Only RLE files
    /// have this position, for error messages.
    pub states_at: Option<(usize, usize)>,
    /// The live cells as runs that do not touch, row by row from the left. Empty if `packed` contains the cells.
    runs: Vec<Run>,
    /// The live cells with one bit for each cell of the box. `None` if `runs` contains the cells.
    packed: Option<Board>,
    others: Vec<(Run, u8)>,
}

/// The reason why a text cannot be parsed as a pattern, and the position of the mistake in the text.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {message}")]
pub struct ParseError {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// The message, which says what is wrong and what to write instead.
    pub message: String,
}

gridstride::debug_as_displayed!(ParseError);

/// The error that a pattern is larger than the board on which it should be placed.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "the pattern of {pattern_width}x{pattern_height} cells is larger than the grid of {width}x{height}: \
     it needs a grid of at least {pattern_width}x{pattern_height}"
)]
pub struct PlaceError {
    /// The number of columns of the pattern.
    pub pattern_width: usize,
    /// The number of rows of the pattern.
    pub pattern_height: usize,
    /// The number of columns of the board.
    pub width: usize,
    /// The number of rows of the board.
    pub height: usize,
}

gridstride::debug_as_displayed!(PlaceError);

impl Pattern {
    /// Makes a pattern of live cells, given as (column, row) in any order. The box is the smallest one that contains
    /// the cells and begins at (0, 0).
    pub fn from_cells(cells: impl IntoIterator<Item = (usize, usize)>) -> Self {
        Self::from_runs(cells.into_iter().map(|(x, y)| Run { x, y, length: 1 }).collect())
    }

    /// Makes an empty pattern with a box of this size. [`Pattern::push`] adds its cells.
    ///
    /// The pattern stores one bit per cell of the box if that needs at most `budget` bytes. Otherwise the pattern
    /// stores a list of runs. If `budget` is the length of the parsed text, the memory is proportional to that length,
    /// even for a very large box.
    pub fn with_budget(width: usize, height: usize, budget: usize) -> Self {
        let bytes = width.div_ceil(WORD_BITS).checked_mul(height).and_then(|words| words.checked_mul(size_of::<u32>()));
        let packed = bytes.filter(|&bytes| bytes <= budget).and_then(|_| Board::new(width, height).ok());
        Self { width, height, packed, ..Self::default() }
    }

    /// Makes a pattern with the live cells of `board`, in a box of the board's size.
    pub fn from_board(board: Board) -> Self {
        Self { width: board.width(), height: board.height(), packed: Some(board), ..Self::default() }
    }

    /// Makes a pattern from runs of live cells in any order. The box is the smallest one that contains the runs and
    /// begins at (0, 0).
    pub fn from_runs(mut runs: Vec<Run>) -> Self {
        runs.sort_unstable_by_key(|run| (run.y, run.x));
        runs.dedup_by(|next, last| {
            let (y, end) = (last.y, last.x.saturating_add(last.length));
            let joined = next.y == y && next.x <= end;
            if joined {
                last.length = end.max(next.x.saturating_add(next.length)) - last.x;
            }
            joined
        });
        let width = runs.iter().map(|run| run.x.saturating_add(run.length)).max().unwrap_or(0);
        let height = runs.last().map_or(0, |run| run.y.saturating_add(1));
        Self { width, height, runs, ..Self::default() }
    }

    /// Adds the live cells of `run`, which must come after all present cells in row order. If a cell is outside the
    /// box, the box grows.
    pub fn push(&mut self, run: Run) {
        self.contain(run);
        match (&mut self.packed, self.runs.last_mut()) {
            (Some(board), _) => board.fill_run(run),
            (None, Some(last)) if last.y == run.y && last.x + last.length == run.x => last.length += run.length,
            (None, _) => self.runs.push(run),
        }
    }

    /// Adds the cells of `run` in state `state`. The pattern must not contain these cells yet. If `state` is 1, the
    /// method does the same as [`Pattern::push`].
    pub fn push_state(&mut self, run: Run, state: u8) {
        match state {
            0 => {}
            1 => self.push(run),
            _ => {
                self.contain(run);
                match self.others.last_mut() {
                    Some((last, same)) if *same == state && last.y == run.y && last.x + last.length == run.x => {
                        last.length += run.length;
                    }
                    _ => self.others.push((run, state)),
                }
            }
        }
    }

    /// Grows the box so that it contains `run`.
    fn contain(&mut self, run: Run) {
        let (right, bottom) = (run.x.saturating_add(run.length), run.y.saturating_add(1));
        if right <= self.width && bottom <= self.height {
            return;
        }
        (self.width, self.height) = (self.width.max(right), self.height.max(bottom));
        if let Some(board) = self.packed.take() {
            self.runs = board.runs().collect();
        }
    }

    /// Returns the number of bytes of memory that the cells use.
    pub fn bytes(&self) -> usize {
        let packed = self.packed.as_ref().map_or(0, |board| size_of_val(board.words()));
        packed + self.runs.capacity() * size_of::<Run>() + self.others.capacity() * size_of::<(Run, u8)>()
    }

    /// Returns the cells in states above 1 as runs, each with its state, in the order in which they were added.
    pub fn others(&self) -> &[(Run, u8)] {
        &self.others
    }

    /// Returns the number of states that the rule must have: one more than the highest state of a cell, at least 2.
    pub fn states(&self) -> u16 {
        self.others.iter().map(|&(_, state)| u16::from(state) + 1).max().unwrap_or(2)
    }

    /// Returns the live cells as runs, row by row from the left. Each run is as long as possible within its row.
    pub fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        self.packed.iter().flat_map(Board::runs).chain(self.runs.iter().copied())
    }

    /// Returns the live cells as (column, row), row by row from the left.
    pub fn cells(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.runs().flat_map(Run::cells)
    }

    /// Returns the number of live cells, or `u64::MAX` if the number is larger.
    pub fn population(&self) -> u64 {
        let packed = self.packed.as_ref().map_or(0, Board::population);
        self.runs.iter().fold(packed, |sum, run| sum.saturating_add(run.length as u64))
    }
}

/// Two patterns are equal if their names, boxes, rules, generations, positions and cells are equal. The representation
/// of the cells does not matter, nor does their place in a text.
impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && (self.width, self.height) == (other.width, other.height)
            && self.rule == other.rule
            && (self.generation, self.origin) == (other.generation, other.origin)
            && self.runs().eq(other.runs())
            && self.others == other.others
    }
}

impl Eq for Pattern {}

/// These functions place patterns on a board.
impl Board {
    /// Makes the live cells of `pattern` alive. The pattern's upper left corner is at column `x` and row `y`, and cells
    /// that cross an edge wrap around. Other cells are unchanged. Cells in states above 1 are placed if the board can
    /// store their state.
    ///
    /// # Errors
    /// [`PlaceError`] if the pattern's box is wider or higher than the board.
    pub fn place(&mut self, pattern: &Pattern, x: usize, y: usize) -> Result<(), PlaceError> {
        self.place_rows(pattern, (x, y), 0, self.height())
    }

    /// Places `pattern` like [`place`](Self::place), but on a part of a larger board. The larger board has `height`
    /// rows, and `self` contains its rows from `first` on.
    ///
    /// # Errors
    /// Fails in the same cases as [`place`](Self::place).
    pub fn place_rows(
        &mut self,
        pattern: &Pattern,
        (x, y): (usize, usize),
        first: usize,
        height: usize,
    ) -> Result<(), PlaceError> {
        let width = self.width();
        if pattern.width > width || pattern.height > height {
            let (pattern_width, pattern_height) = (pattern.width, pattern.height);
            return Err(PlaceError { pattern_width, pattern_height, width, height });
        }
        let (left, top, rows) = (x % width, y % height, self.height());
        let own = |y: usize| ((y + top) % height).checked_sub(first).filter(|&y| y < rows);
        for Run { x, y, length } in pattern.runs() {
            let Some(y) = own(y) else { continue };
            let x = (x + left) % width;
            let before_edge = length.min(width - x);
            self.fill_run(Run { x, y, length: before_edge });
            self.fill_run(Run { x: 0, y, length: length - before_edge });
        }
        let states = self.states();
        for &(run, state) in pattern.others().iter().filter(|&&(_, state)| u16::from(state) < states) {
            let Some(y) = own(run.y) else { continue };
            for (x, _) in run.cells() {
                self.set_state((x + left) % width, y, state);
            }
        }
        Ok(())
    }

    /// Places `pattern` in the middle of the board. If the number of free columns or rows is odd, the larger part is to
    /// the right or below.
    ///
    /// # Errors
    /// [`PlaceError`] if the pattern's box is wider or higher than the board.
    pub fn place_centered(&mut self, pattern: &Pattern) -> Result<(), PlaceError> {
        let x = self.width().saturating_sub(pattern.width) / 2;
        let y = self.height().saturating_sub(pattern.height) / 2;
        self.place(pattern, x, y)
    }
}

#[cfg(test)]
mod tests;
