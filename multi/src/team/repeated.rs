//! Vectors that repeat a pattern: made on the devices, so that the host never holds the whole.

use launch::{Buffer, Element};

use super::Team;
use crate::error::MultiError;

/// A vector whose element i is element i modulo p of a pattern of p elements.
#[derive(Clone, Debug)]
pub struct Repeated<T> {
    pattern: Vec<T>,
}

impl<T: Element> Repeated<T> {
    /// Returns the vector that repeats `pattern`. An empty pattern gives a vector of zeros.
    pub fn new(pattern: Vec<T>) -> Self {
        Self { pattern: if pattern.is_empty() { vec![T::zeroed()] } else { pattern } }
    }

    /// The pattern.
    pub fn pattern(&self) -> &[T] {
        &self.pattern
    }

    /// Element `index`.
    pub fn element(&self, index: usize) -> T {
        self.pattern[index % self.pattern.len()]
    }

    /// This rank's parts of its first `n` elements. A pattern is uploaded to each device, which then doubles it until
    /// all is there.
    ///
    /// # Errors
    /// When a device has too little memory.
    pub fn on(&self, team: &Team<'_>, n: usize) -> Result<Vec<Buffer<T>>, MultiError> {
        let mut parts = team.alloc(n)?;
        parts.iter_mut().zip(team.segments(n)).try_for_each(|(part, range)| self.fill(part, range.start))?;
        Ok(parts)
    }

    /// Fills `part` with the elements from `first` on.
    ///
    /// # Errors
    /// When a launch made before failed.
    pub fn fill(&self, part: &mut Buffer<T>, first: usize) -> Result<(), MultiError> {
        let (period, len) = (self.pattern.len(), part.len());
        let mut start = self.pattern.clone();
        start.rotate_left(first % period);
        let mut filled = period.min(len);
        part.upload_range(0, &start[..filled])?;
        while filled < len {
            // A whole number of periods, all but the last time.
            let more = filled.min(len - filled);
            part.copy_within(0..more, filled)?;
            filled += more;
        }
        Ok(())
    }
}
