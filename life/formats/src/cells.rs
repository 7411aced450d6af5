//! Gathering cells, without taking more memory than there is.

use super::error::FormatError;
use life::board::Run;
use life::pattern::Pattern;

/// Collects the cells of a text, row by row from the left.
///
/// Once they would take more than the limit they are counted and kept no longer, so that what is needed can be told.
pub(super) struct Cells {
    pattern: Pattern,
    limit: u64,
    /// Bytes of the cells that are not kept any more.
    uncounted: u64,
}

/// A list has grown to its present size out of a smaller one, and both were there at once.
const GROWING: u64 = 3;

/// Bytes of a run in a list.
const RUN: u64 = size_of::<(Run, u8)>() as u64;

impl Cells {
    /// For a text of `length` bytes that says its box, and at most `limit` bytes of memory.
    pub(super) fn new((width, height): (usize, usize), length: usize, limit: u64) -> Self {
        let budget = usize::try_from(limit).unwrap_or(usize::MAX).min(length.max(4096));
        Self { pattern: Pattern::with_budget(width, height, budget), limit, uncounted: 0 }
    }

    /// Adds cells of a state, beyond those before. What they reach must fit a `usize`.
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

    /// The pattern.
    ///
    /// # Errors
    /// [`FormatError::TooLarge`].
    pub(super) fn finish(self) -> Result<Pattern, FormatError> {
        match self.uncounted {
            0 => Ok(self.pattern),
            needed => Err(FormatError::TooLarge { needed, free: self.limit }),
        }
    }
}

/// Collects cells that come in any order, anywhere on the plane.
pub(super) struct Plane {
    runs: Vec<Run>,
    limit: u64,
    needed: u64,
}

/// Coordinates of the plane begin at -2⁶³, those of a pattern at 0.
const MIDDLE: u64 = 1 << 63;

impl Plane {
    /// For at most `limit` bytes of memory.
    pub(super) fn new(limit: u64) -> Self {
        Self { runs: Vec::new(), limit, needed: 0 }
    }

    /// Adds live cells from column `x` of row `y` on.
    pub(super) fn push(&mut self, (x, y): (i64, i64), length: usize) {
        self.needed = self.needed.saturating_add(GROWING * size_of::<Run>() as u64);
        if self.needed > self.limit {
            self.runs = Vec::new();
        } else {
            let place = |number: i64| (number as u64 ^ MIDDLE) as usize;
            self.runs.push(Run { x: place(x), y: place(y), length });
        }
    }

    /// The pattern, with its place on the plane.
    ///
    /// # Errors
    /// [`FormatError::TooLarge`].
    pub(super) fn finish(mut self) -> Result<Pattern, FormatError> {
        if self.needed > self.limit {
            return Err(FormatError::TooLarge { needed: self.needed, free: self.limit });
        }
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
