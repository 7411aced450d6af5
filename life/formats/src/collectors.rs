//! Collects the cells of patterns within a memory limit.

use super::error::{FormatError, check_memory};
use life::board::Run;
use life::pattern::Pattern;

/// Collects the cells of a pattern, row by row from the left.
///
/// When the limit is exceeded, the collector drops the cells. From then on it only counts cells, so that the error can
/// report the required memory.
pub(super) struct RowCollector {
    pattern: Pattern,
    /// The column and row at which the next run of [`extend`](Self::extend) begins.
    next: (usize, usize),
    limit: u64,
    /// The number of bytes that all cells would need, or 0 while the limit is not exceeded.
    uncounted: u64,
}

/// The memory that a growing vector may need, as a multiple of its length. While it grows, the old and the new
/// allocation exist at the same time.
const GROWING: u64 = 3;

/// The number of bytes of one run in a list.
const RUN: u64 = size_of::<(Run, u8)>() as u64;

impl RowCollector {
    /// Returns a collector for the cells of a text of `length` bytes with this bounding box. The collector may use
    /// `limit` bytes of memory.
    pub(super) fn new((width, height): (usize, usize), length: usize, limit: u64) -> Self {
        let budget = usize::try_from(limit).unwrap_or(usize::MAX).min(length.max(4096));
        Self { pattern: Pattern::with_budget(width, height, budget), next: (0, 0), limit, uncounted: 0 }
    }

    /// Adds a run of cells that are all in one state. The run must come after all cells added before, and its end must
    /// fit a `usize`.
    pub(super) fn push(&mut self, run: Run, state: u8) {
        if self.uncounted > 0 {
            self.uncounted = self.uncounted.saturating_add(RUN);
            return;
        }
        self.pattern.push_state(run, state);
        let bytes = (self.pattern.bytes() as u64).saturating_mul(GROWING);
        if bytes > self.limit {
            (self.pattern, self.uncounted) = (Pattern::default(), bytes);
        }
    }

    /// Appends `length` cells in state `state` to the current row. Returns `None` if the column number overflows.
    #[inline]
    pub(super) fn extend(&mut self, length: usize, state: u8) -> Option<()> {
        let (x, y) = self.next;
        self.next.0 = x.checked_add(length)?;
        if state > 0 {
            self.push(Run { x, y, length }, state);
        }
        Some(())
    }

    /// Ends the current row and moves down by `rows` rows. Returns `None` if the row number overflows.
    pub(super) fn end_rows(&mut self, rows: usize) -> Option<()> {
        self.next = (0, self.next.1.checked_add(rows).filter(|&y| y < usize::MAX)?);
        Some(())
    }

    /// Returns the number of rows that have ended so far.
    pub(super) fn rows(&self) -> usize {
        self.next.1
    }

    /// Returns the pattern of all collected cells.
    ///
    /// # Errors
    /// [`FormatError::TooLarge`] if the cells exceeded the limit.
    pub(super) fn finish(self) -> Result<Pattern, FormatError> {
        check_memory(self.uncounted, self.limit)?;
        Ok(self.pattern)
    }
}

/// Collects live cells anywhere on the plane, in any order.
pub(super) struct PlaneCollector {
    runs: Vec<Run>,
    limit: u64,
    needed: u64,
}

/// The offset that converts coordinates to unsigned numbers. Coordinates begin at -2⁶³, and unsigned numbers at 0.
const MIDDLE: u64 = 1 << 63;

impl PlaneCollector {
    /// Returns a collector that may use `limit` bytes of memory.
    pub(super) fn new(limit: u64) -> Self {
        Self { runs: Vec::new(), limit, needed: 0 }
    }

    /// Adds `length` live cells of row `y`, from column `x` on.
    pub(super) fn push(&mut self, (x, y): (i64, i64), length: usize) {
        self.needed = self.needed.saturating_add(GROWING * size_of::<Run>() as u64);
        if self.needed > self.limit {
            self.runs = Vec::new();
        } else {
            let place = |number: i64| (number as u64 ^ MIDDLE) as usize;
            self.runs.push(Run { x: place(x), y: place(y), length });
        }
    }

    /// Returns the pattern of all collected cells, with its position on the plane.
    ///
    /// # Errors
    /// [`FormatError::TooLarge`] if the cells exceeded the limit.
    pub(super) fn finish(mut self) -> Result<Pattern, FormatError> {
        check_memory(self.needed, self.limit)?;
        let left = self.runs.iter().map(|run| run.x).min().unwrap_or(0);
        let top = self.runs.iter().map(|run| run.y).min().unwrap_or(0);
        for run in &mut self.runs {
            (run.x, run.y) = (run.x - left, run.y - top);
        }
        let place = |number: usize| if self.runs.is_empty() { 0 } else { (number as u64 ^ MIDDLE) as i64 };
        let origin = (place(left), place(top));
        let mut pattern = Pattern::from_runs(self.runs);
        pattern.origin = origin;
        Ok(pattern)
    }
}
